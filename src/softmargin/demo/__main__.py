"""Learn who beats whom in college football, show the proof, then stream; pictures go to ``build/``."""

import argparse
from importlib.util import find_spec
from pathlib import Path
from textwrap import wrap
from time import perf_counter

import numpy as np

from softmargin.demo import figures, football, planted
from softmargin.demo.league import ELO, FEATURES, WON, League, read_league

LAST_SEASON = 2021
WIDTH = 96


def head(title: str) -> None:
    """The title of a part."""
    print(f"\n{title}\n{'-' * WIDTH}")


def say(*lines: str) -> None:
    """Lines under a margin."""
    for line in lines:
        print(f"  {line}".rstrip())


def tell(name: str, fact: object) -> None:
    """A named fact, on as many lines as it takes."""
    for number, line in enumerate(wrap(str(fact), WIDTH - 17)):
        say(f"{'' if number else name:<15}{line}")


def tell_batch(league: League) -> None:
    """Ranking, weights, certificate and how good it is."""
    lesson = football.learn(league, LAST_SEASON)
    ranker, years = lesson.ranker, f"{league.season.min()} to {LAST_SEASON - 1}"
    head("1. Who beats whom: US college football, learned with a certificate")
    tell("learned from", f"{len(lesson.pairs):,} games of {years}: a winner's utility is to be 1 above the loser's")
    tell("kept apart", f"{len(lesson.kept):,} games of {LAST_SEASON}")
    tell("certificate", ranker.certificate_)
    tell("proved", f"no weights whatever have an objective below {ranker.certificate_.dual:,.6g} on these games")
    tell("points", ranker.points(lesson.X, lesson.pairs))
    tell_weights(lesson)
    say("", f"The ranking of {LAST_SEASON} by what was known before the season, and the season it did not see", "")
    for place, (team, utility, won, lost) in enumerate(football.ranking(league, lesson)[:10], 1):
        say(f"{place:>6}  {team:<20} {utility:+6.2f}   {won:>2} won, {lost} lost")
    tell_guesses(lesson)


def tell_weights(lesson: football.Lesson) -> None:
    """Feature, weight, and what the weight means."""
    weights = lesson.ranker.coef_
    home, elo_point = weights[-1], weights[ELO] / lesson.deviation[ELO]
    told = [
        (weight, feature.name, f"{deviation:.3g} {feature.unit} more are worth {weight:+.2f}")
        for weight, feature, deviation in zip(weights[:-1], FEATURES, lesson.deviation, strict=True)
    ]
    told.append((home, "playing at home", f"is worth {home:+.2f}, as much as {home / elo_point:.0f} points of Elo"))
    say("", "The weights, largest first", "")
    for weight, name, words in sorted(told, key=lambda line: -abs(line[0])):
        say(f"{weight:+6.2f}  {name:<43} {words}")
    shared = np.corrcoef(lesson.X[lesson.pairs.ravel()][:, [WON, ELO]].T)[0, 1]
    say("", "A weight says what its feature adds to the others: what last season's wins tell is in the Elo")
    say(f"already (their correlation is {shared:.2f}).")


def tell_guesses(lesson: football.Lesson) -> None:
    """The share of winners called, beside naive guesses."""
    say("", f"Winners of {LAST_SEASON} called, with standard errors     this ranking is ahead by", "")
    ours = lesson.guesses[0]
    for guess in lesson.guesses:
        ahead = 100.0 * (ours.right - guess.right)
        more = "" if guess is ours else f"{ahead.mean():+.1f} points ± {football.standard_error(ahead):.1f}"
        say(f"  {guess.name:<32} {guess.share:6.1%} ± {guess.error:.1%}    {more}")


def tell_stream(league: League, folder: Path | None) -> None:
    """The same games one after the other."""
    regret, met = football.stream(league)
    head(f"2. The same games one by one, in the order of time (lam = {football.STREAM_LAM}, steps 1/(lam t))")
    say("season   games   called wrongly when first met")
    for season in met:
        say(f"{season.season:>6}  {season.games:>6}   {season.wrong:.1%}")
    say("")
    tell("regret", regret)
    if folder:
        tell("picture", figures.draw_football(regret, met, folder / "football_regret.png"))


def tell_planted(folder: Path | None) -> None:
    """How regret grows along a long stream."""
    course = planted.run()
    regret, growth, (low, high) = course.regret, course.growth, course.true_regret
    each, gap = regret.steps[-1] / course.seconds, course.certificate.relative_gap
    head(f"3. A generated stream of {regret.steps[-1]:,.0f} comparisons: how regret grows")
    tell("one pass", f"{course.seconds:.3f} s, {each:,.0f} comparisons a second")
    tell("regret", regret)
    tell("true regret", f"{low:,.1f} to {high:,.1f}, against a comparator solved afterwards to {gap:.1e} of optimal")
    tell("growth", f"{growth.start:,.0f} + {growth.slope:,.0f} log T explains {growth.explained:.2%} of how it grows")
    tell("", f"so each doubling of the stream adds {growth.doubling:,.0f}, however long it is already")
    if folder:
        tell("picture", figures.draw_stream(course, folder / "stream_regret.png"))


def main() -> None:
    """All parts, one after the other."""
    parser = argparse.ArgumentParser(prog="python -m softmargin.demo", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build"), help="folder of the pictures (default: build)")
    folder: Path | None = parser.parse_args().output
    started, league = perf_counter(), read_league()
    if not find_spec("matplotlib"):
        folder = None
        print("There will be no pictures: matplotlib is not installed (pip install 'softmargin[plots]').")
    tell_batch(league)
    tell_stream(league, folder)
    tell_planted(folder)
    print(f"\nAll of this took {perf_counter() - started:.1f} s.")


if __name__ == "__main__":
    main()
