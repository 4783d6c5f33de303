"""The shipped sample of US college football: teams as they stood before a season, and their games."""

import csv
from importlib.resources import files
from typing import NamedTuple

import numpy as np


class Feature(NamedTuple):
    """One thing known about a team before its season."""

    name: str
    unit: str


FEATURES = (
    Feature("share of games won last season", "percentage points"),
    Feature("points scored a game last season", "points"),
    Feature("points allowed a game last season", "points"),
    Feature("share of last season's players who are back", "percentage points"),
    Feature("Elo before the first game", "points"),
)
WON, ELO = 0, 4  # columns of the features that naive guesses use


class League(NamedTuple):
    """Team-seasons and the games between them, in the order of time."""

    season: np.ndarray  # of each team-season
    team: list[str]
    features: np.ndarray  # one row a team-season, NaN where unknown
    game_season: np.ndarray  # of each game
    game_date: np.ndarray
    home: np.ndarray  # row number of a team-season
    away: np.ndarray
    neutral: np.ndarray
    home_won: np.ndarray


def read_league() -> League:
    """The sample that is installed with softmargin."""
    teams, games = _table("teams.csv"), _table("games.csv")
    row = {(line["season"], line["team"]): number for number, line in enumerate(teams)}
    return League(
        season=np.array([int(line["season"]) for line in teams]),
        team=[line["team"] for line in teams],
        features=np.array([_features(line) for line in teams]),
        game_season=np.array([int(line["season"]) for line in games]),
        game_date=np.array([line["date"] for line in games]),
        home=np.array([row[line["season"], line["home"]] for line in games]),
        away=np.array([row[line["season"], line["away"]] for line in games]),
        neutral=np.array([line["neutral"] == "1" for line in games]),
        home_won=np.array([int(line["home_points"]) > int(line["away_points"]) for line in games]),
    )


def items(league: League, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What is compared, and the standard deviation of each feature.

    A team at home is another item than the same team elsewhere: the first half of the rows are the teams away or on
    neutral ground, the second half the same teams at home, and the last column says which.  Features are scaled by
    the team-seasons ``known``; an unknown value becomes their mean, 0.
    """
    mean, deviation = np.nanmean(league.features[known], axis=0), np.nanstd(league.features[known], axis=0)
    scaled = np.nan_to_num((league.features - mean) / deviation)
    place = np.zeros((len(scaled), 1))
    return np.vstack([np.hstack([scaled, place]), np.hstack([scaled, place + 1.0])]), deviation


def comparisons(league: League) -> np.ndarray:
    """One pair (winner, loser) a game: rows of ``items``."""
    home = league.home + np.where(league.neutral, 0, len(league.team))
    winner, loser = np.where(league.home_won, home, league.away), np.where(league.home_won, league.away, home)
    return np.column_stack([winner, loser])


def _features(line: dict[str, str]) -> list[float]:
    games, wins, scored, allowed, returning, elo = (
        float(line[column] or "nan")
        for column in ("prev_games", "prev_wins", "prev_ppg", "prev_opp_ppg", "returning_share", "elo_start")
    )
    return [100.0 * wins / games, scored, allowed, 100.0 * returning, elo]


def _table(name: str) -> list[dict[str, str]]:
    text = (files("softmargin.demo") / "data" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
