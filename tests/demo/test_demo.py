"""The demo tells the truth: about data it may show, games it did not see, and what its streams cost."""

import sys

import numpy as np
import pytest

from softmargin.demo import __main__, football, planted
from softmargin.demo.league import ELO, FEATURES, comparisons, items, read_league

SEASON = 2021


@pytest.fixture(scope="module")
def league():
    """The shipped sample."""
    return read_league()


@pytest.fixture(scope="module")
def lesson(league):
    """What the demo learns."""
    return football.learn(league, SEASON)


def test_the_ranking_beats_the_naive_guess(lesson):
    """On games it did not see it is ahead of last season's wins by more than a standard error, and not behind Elo."""
    ours, elo, wins, home = (guess.right for guess in lesson.guesses)
    assert len(ours) == len(lesson.kept) > 700
    for naive, errors in ((wins, 1.0), (home, 1.0), (elo, -1.0)):
        assert (ours - naive).mean() > errors * football.standard_error(ours - naive)
    assert lesson.guesses[0].share == pytest.approx(np.mean(lesson.ranker.margins(lesson.X, lesson.kept) > 0))


def test_the_certificate_is_about_these_weights(lesson):
    """The objective it states is the objective of the weights shown, and the gap has closed."""
    w, certificate = lesson.ranker.coef_, lesson.ranker.certificate_
    slack = lesson.ranker.slack(lesson.X, lesson.pairs)
    assert certificate.primal == pytest.approx(0.5 * w @ w + slack.sum(), rel=1e-9)
    assert certificate.primal - certificate.dual == pytest.approx(certificate.gap, rel=1e-6, abs=1e-6)
    assert certificate.converged


def test_nothing_is_known_beforehand(league, lesson):
    """Neither the weights nor the scaling changes when the season kept apart is rewritten."""
    later = league.season >= SEASON
    features = np.where(later[:, None], 5.0 * league.features - 3.0, league.features)
    other = league._replace(features=features, home_won=league.home_won ^ (league.game_season >= SEASON))
    again = football.learn(other, SEASON)
    assert np.array_equal(again.ranker.coef_, lesson.ranker.coef_)
    assert np.array_equal(again.deviation, lesson.deviation)
    assert league.game_season[: len(lesson.pairs)].max() == SEASON - 1


def test_home_is_an_item_of_its_own(league):
    """A game on neutral ground compares two teams that are not at home; any other has one team at home."""
    X, _ = items(league, league.season < SEASON)
    winner, loser = X[comparisons(league)[:, 0], -1], X[comparisons(league)[:, 1], -1]
    assert np.array_equal(winner + loser, np.where(league.neutral, 0.0, 1.0))
    assert np.array_equal(winner == 1.0, league.home_won & ~league.neutral)
    assert np.array_equal(np.hsplit(X, [len(FEATURES)])[0][: len(league.team)], X[len(league.team) :, :-1])


def test_the_table_is_the_ranking_and_the_season(league, lesson):
    """Every team of the season once, best first, and every game once in the records."""
    table = football.ranking(league, lesson)
    teams, utilities, won, lost = zip(*table, strict=True)
    assert sorted(teams) == sorted(np.array(league.team)[league.season == SEASON])
    assert list(utilities) == sorted(utilities, reverse=True)
    assert sum(won) == sum(lost) == len(lesson.kept)


def test_the_weights_make_sense(lesson):
    """A higher Elo, players who stay and home ground all help."""
    assert lesson.ranker.coef_[ELO] == max(lesson.ranker.coef_)
    assert min(lesson.ranker.coef_[[3, ELO, -1]]) > 0.05


def test_the_stream_meets_every_game_once(league):
    """Seasons add up to the regret, which is far below what was paid, and to mistakes, far below a coin's."""
    regret, met = football.stream(league)
    assert regret.steps[-1] == sum(season.games for season in met) == np.sum(league.game_season > 2014)
    assert regret.mistakes[-1] == pytest.approx(sum(season.games * season.wrong for season in met))
    assert regret.progressive_error[-1] < 0.36
    assert 0.0 < regret.certified[-1] < min(regret.bound[-1], 0.2 * regret.paid[-1])


def test_a_planted_stream_grows_like_a_logarithm():
    """The certified regret is above the true one, and a line in log T explains it."""
    course = planted.run(20_000, seed=1)
    low, high = course.true_regret
    assert low <= high <= course.regret.certified[-1]
    assert course.growth.explained > 0.98
    assert course.growth.doubling == pytest.approx(course.growth(400.0) - course.growth(200.0))


@pytest.mark.parametrize("matplotlib", [True, False], ids=["with pictures", "without matplotlib"])
def test_the_whole_demo(matplotlib, monkeypatch, capsys, tmp_path):
    """It runs to its end, shows every part, and draws what it can or says why not."""
    monkeypatch.setattr(sys, "argv", ["demo", "--output", str(tmp_path / "pictures")])
    monkeypatch.setattr(planted, "run", lambda run=planted.run: run(5000))
    if not matplotlib:
        monkeypatch.setattr(__main__, "find_spec", lambda _name: None)
    __main__.main()
    told = capsys.readouterr().out
    for word in ("certificate", "Alabama", "playing at home", "more games won last season", "regret", "growth"):
        assert word in told
    pictures = {path.name: path.stat().st_size for path in tmp_path.rglob("*.png")}
    assert set(pictures) == ({"football_regret.png", "stream_regret.png"} if matplotlib else set())
    assert all(size > 20_000 for size in pictures.values())
    assert ("matplotlib is not installed" in told) is not matplotlib
