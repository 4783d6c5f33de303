"""Remake the demo's sample of US college football from the two tables that its README describes.

    python scripts/make_football_sample.py games.csv.gz team_seasons.csv.gz [folder]

Only columns that come from cfbfastR-data (CC BY 4.0) are read; polls and recruiting ratings never are.
"""

import csv
import gzip
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import Any

FIRST, LAST = 2014, 2021
FOLDER = Path(__file__).resolve().parents[1] / "src/softmargin/demo/data"
# The source spells these schools differently on rosters, in bowl games and in the regular season.
ONE_SPELLING = {"Connecticut": "UConn", "Southern Mississippi": "Southern Miss", "UT San Antonio": "UTSA"}

Row = dict[str, Any]


def read(path: str, columns: Iterable[str]) -> list[Row]:
    """These columns of a gzipped CSV file, one spelling a school; nothing else of the file is kept."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = [{column: row[column] for column in columns} for row in csv.DictReader(file)]
    return [{column: ONE_SPELLING.get(value, value) for column, value in row.items()} for row in rows]


def write(path: Path, columns: list[str], rows: Iterable[Iterable[Any]]) -> None:
    """One CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def sides(games: list[Row]) -> dict[tuple[int, str], list[Row]]:
    """Every team's games of a season in the order of time, seen from its side; top division only."""
    found: dict[tuple[int, str], list[Row]] = defaultdict(list)
    for game in games:
        for mine, other in (("home", "away"), ("away", "home")):
            if game[f"{mine}_division"] == "fbs":
                found[int(game["season"]), game[f"{mine}_team"]].append(
                    {
                        "scored": int(game[f"{mine}_points"]),
                        "allowed": int(game[f"{other}_points"]),
                        "elo": game[f"{mine}_pregame_elo"],
                    }
                )
    return found


def team_rows(games: list[Row], returning: dict[tuple[int, str], str]) -> Iterable[list[Any]]:
    """What was known of each team before the first game of its season."""
    played = sides(games)
    for season, team in sorted(key for key in played if FIRST <= key[0] <= LAST):
        before = played.get((season - 1, team), [])
        last: list[Any] = ["", "", "", ""]
        if before:
            scored, allowed = [game["scored"] for game in before], [game["allowed"] for game in before]
            wins = sum(ours > theirs for ours, theirs in zip(scored, allowed, strict=True))
            last = [len(before), wins, round(fmean(scored), 2), round(fmean(allowed), 2)]
        elo = next(game["elo"] for game in played[season, team] if game["elo"])  # games outside the division have none
        yield [season, team, *last, returning.get((season, team), ""), elo]


def game_rows(games: list[Row]) -> Iterable[list[Any]]:
    """Games between two teams of the top division."""
    for game in games:
        if FIRST <= int(game["season"]) <= LAST and game["home_division"] == game["away_division"] == "fbs":
            points = [int(game["home_points"]), int(game["away_points"])]
            yield [
                game["season"], game["start_date"], game["home_team"], game["away_team"], *points,
                game["neutral_site"],
            ]  # fmt: skip


def main(games_path: str, teams_path: str, folder: str = str(FOLDER)) -> None:
    """Both files of the sample."""
    per_side = [f"{side}_{what}" for side in ("home", "away") for what in ("team", "division", "points", "pregame_elo")]
    games = read(games_path, ["game_id", "season", "start_date", "neutral_site", *per_side])
    games.sort(key=lambda game: (game["start_date"], int(game["game_id"])))
    shares = read(teams_path, ["season", "team", "returning_share"])
    returning = {(int(row["season"]), row["team"]): row["returning_share"] for row in shares if row["returning_share"]}
    write(
        Path(folder) / "teams.csv",
        ["season", "team", "prev_games", "prev_wins", "prev_ppg", "prev_opp_ppg", "returning_share", "elo_start"],
        team_rows(games, returning),
    )
    write(
        Path(folder) / "games.csv",
        ["season", "date", "home", "away", "home_points", "away_points", "neutral"],
        game_rows(games),
    )


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
