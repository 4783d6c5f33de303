"""College football, learned twice: as a batch with a certificate, and game by game with its regret."""

from dataclasses import dataclass

import numpy as np

from softmargin.demo.league import ELO, WON, League, comparisons, items
from softmargin.estimators.ranker import SoftMarginRanker
from softmargin.solvers.regret import Regret

STREAM_LAM = 0.1


@dataclass(frozen=True)
class Guess:
    """One way to name the winner beforehand: 1 right, 0 wrong, 1/2 undecided, for every game kept apart."""

    name: str
    right: np.ndarray

    @property
    def share(self) -> float:
        """Share of games called rightly."""
        return float(self.right.mean())

    @property
    def error(self) -> float:
        """The standard error of that share."""
        return standard_error(self.right)


@dataclass(frozen=True)
class Lesson:
    """A ranking learned from the seasons before ``season`` and tried on that season."""

    season: int
    ranker: SoftMarginRanker
    X: np.ndarray
    deviation: np.ndarray
    pairs: np.ndarray  # learned from
    kept: np.ndarray  # kept apart
    guesses: list[Guess]  # the ranking, then the naive ones


@dataclass(frozen=True)
class SeasonMet:
    """One season of a stream."""

    season: int
    games: int
    wrong: float  # share called wrongly when first met


def standard_error(values: np.ndarray) -> float:
    """Of the mean of independent values."""
    return float(values.std(ddof=1) / np.sqrt(values.size))


def learn(league: League, season: int) -> Lesson:
    """Learn from every season before this one; only they say how features are scaled."""
    X, deviation = items(league, league.season < season)
    pairs, later = comparisons(league), league.game_season >= season
    ranker = SoftMarginRanker(C=1.0, tol=1e-8, random_state=0).fit_pairs(X, pairs[~later])
    kept = pairs[later & (league.game_season == season)]
    guesses = [
        Guess("this ranking", calls(ranker.margins(X, kept))),
        Guess("higher Elo before the season", calls(_ahead(league, kept, ELO))),
        Guess("more games won last season", calls(_ahead(league, kept, WON))),
        Guess("the home side", calls(X[kept[:, 0], -1] - X[kept[:, 1], -1])),
    ]
    return Lesson(season, ranker, X, deviation, pairs[~later], kept, guesses)


def calls(ahead: np.ndarray) -> np.ndarray:
    """Whether each winner was ahead; half for a tie or where nothing is known."""
    return np.where(np.isnan(ahead) | (ahead == 0.0), 0.5, ahead > 0.0)


def _ahead(league: League, pairs: np.ndarray, feature: int) -> np.ndarray:
    winner, loser = (pairs % len(league.team)).T
    return np.asarray(league.features[winner, feature] - league.features[loser, feature])


def ranking(league: League, lesson: Lesson) -> list[tuple[str, float, int, int]]:
    """Team, utility, games won and lost in the season ranked; best first."""
    rows = np.flatnonzero(league.season == lesson.season)
    utility = lesson.ranker.predict(lesson.X[rows])
    won, lost = (np.bincount(side % len(league.team), minlength=len(league.team)) for side in lesson.kept.T)
    best_first = np.argsort(-utility, kind="stable")
    return [(league.team[rows[k]], float(utility[k]), int(won[rows[k]]), int(lost[rows[k]])) for k in best_first]


def stream(league: League) -> tuple[Regret, list[SeasonMet]]:
    """Meet the games in the order of time, one step each; the first season is spent on learning how to scale."""
    first = int(league.game_season[0])
    X, _ = items(league, league.season == first)
    pairs = comparisons(league)
    ranker, met, mistakes = SoftMarginRanker(lam=STREAM_LAM, schedule="strong"), [], 0.0
    for season in range(first + 1, int(league.game_season[-1]) + 1):
        games = league.game_season == season
        for date in np.unique(league.game_date[games]):
            ranker.partial_fit_pairs(X, pairs[games & (league.game_date == date)])
        so_far = float(ranker.regret_.mistakes[-1])
        met.append(SeasonMet(season, int(games.sum()), (so_far - mistakes) / int(games.sum())))
        mistakes = so_far
    return ranker.regret_, met
