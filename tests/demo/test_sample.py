"""The shipped sample holds what its licence lets us ship, and the script makes it from tables that hold more."""

import csv
import gzip
from importlib.resources import files

import numpy as np

import make_football_sample
from softmargin.demo.league import read_league

FOLDER = files("softmargin.demo") / "data"
COLUMNS = {
    "games.csv": "season,date,home,away,home_points,away_points,neutral",
    "teams.csv": "season,team,prev_games,prev_wins,prev_ppg,prev_opp_ppg,returning_share,elo_start",
}


def test_the_sample_has_these_columns_and_no_others():
    """No poll, no recruiting rating, no betting line: their sources grant no licence, or are not needed."""
    for name, columns in COLUMNS.items():
        assert (FOLDER / name).read_text(encoding="utf-8").splitlines()[0] == columns
    shipped = sorted(path.name for path in FOLDER.iterdir())
    assert shipped == ["README.md", *COLUMNS]
    assert sum(len((FOLDER / name).read_bytes()) for name in COLUMNS) < 400_000


def test_the_licence_and_the_source_are_named():
    """What CC BY 4.0 asks for: who made it, under which licence, and that it was changed."""
    told = (FOLDER / "README.md").read_text(encoding="utf-8")
    for words in (
        "sportsdataverse",
        "collegefootballdata.com",
        "creativecommons.org/licenses/by/4.0",
        "What was changed",
    ):
        assert words in told


def test_the_sample_is_sound():
    """Games in the order of time between teams of that season, no ties, and few unknown features."""
    league = read_league()
    assert np.all(np.diff(league.game_date.astype("datetime64[D]").astype(int)) >= 0)
    assert np.all(league.home != league.away)
    assert np.array_equal(league.season[league.home], league.game_season)
    assert np.array_equal(league.season[league.away], league.game_season)
    assert len(set(zip(league.season, league.team, strict=True))) == len(league.team)
    assert np.isnan(league.features).any(axis=1).mean() < 0.05
    assert np.nanmin(league.features[:, :4]) >= 0.0
    assert np.nanmax(league.features[:, 0]) <= 100.0


def write(path, rows):
    """A gzipped table."""
    with gzip.open(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def game(number, season, home, away, points, **more):
    """One line of the schedules, betting line included."""
    sides = {
        f"{side}_{what}": value
        for side, team, score in (("home", home, points[0]), ("away", away, points[1]))
        for what, value in (("team", team), ("division", "fbs"), ("points", score), ("pregame_elo", 1500))
    }
    start = {"game_id": number, "season": season, "start_date": f"{season}-09-{number:02}", "neutral_site": 0}
    return {**start, **sides, "home_spread": -3.5} | more


def test_the_script_reads_only_what_may_be_shipped(tmp_path):
    """Features come from the season before, games from the top division, and one school has one spelling."""
    games = [
        game(1, 2013, "Alabama", "UConn", (30, 10)),
        game(2, 2013, "Connecticut", "Army", (20, 24), neutral_site=1),  # a bowl game, spelt the other way
        game(3, 2014, "Lafayette", "UConn", (7, 9), home_division="fcs", home_pregame_elo="", away_pregame_elo=""),
        game(5, 2014, "Alabama", "UConn", (14, 21), away_pregame_elo=1234),
        game(4, 2014, "Alabama", "Army", (35, 3), home_pregame_elo=1900, neutral_site=1),
    ]
    teams = [
        {"season": 2014, "team": "Connecticut", "returning_share": 0.7, "ap_preseason": 9, "talent_247": 640.1},
        {"season": 2014, "team": "Alabama", "returning_share": "", "ap_preseason": 1, "talent_247": 980.2},
    ]
    write(tmp_path / "games.csv.gz", games)
    write(tmp_path / "teams.csv.gz", teams)
    make_football_sample.main(str(tmp_path / "games.csv.gz"), str(tmp_path / "teams.csv.gz"), str(tmp_path))
    assert (tmp_path / "games.csv").read_text(encoding="utf-8").splitlines() == [
        COLUMNS["games.csv"],
        "2014,2014-09-04,Alabama,Army,35,3,1",
        "2014,2014-09-05,Alabama,UConn,14,21,0",
    ]
    assert (tmp_path / "teams.csv").read_text(encoding="utf-8").splitlines() == [
        COLUMNS["teams.csv"],
        "2014,Alabama,1,1,30.0,10.0,,1900",
        "2014,Army,1,1,24.0,20.0,,1500",
        "2014,UConn,2,0,15.0,27.0,0.7,1234",
    ]
