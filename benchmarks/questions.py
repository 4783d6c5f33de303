"""How many answers it takes until the ranking, or the best item, is right: simulated judges, one rule against another.

Every run of a setting, a rule and a seed is a line of the file that ``--out`` names; runs that are there are not made
again, so the program can be stopped at any time and goes on where it was.
"""

import argparse
import gzip
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from report import write
from scipy.optimize import brentq
from scipy.special import expit

from softmargin.elicitation.correct import corrected
from softmargin.elicitation.fit import Belief, fit
from softmargin.elicitation.log import Log, summary_of
from softmargin.elicitation.questions import Asked, Kinds, View, kinds_of, next_questions, view_of
from softmargin.elicitation.summaries import expected_tau_of, ranking_of

RULES = ("random", "sort", "uncertainty", "bald", "bald-repeats", "eubo")
LOOKS = (20, 40, 80)  # answers after which expected tau and intervals are looked at
HOLD = 5  # answers for which a figure has to be held
FINE, COARSE = 40, 5  # every answer is looked at up to the first, then every fifth
LOGISTIC = 1.702  # a logistic judge is a probit one whose utilities are divided by this
JUDGE_ERROR = 0.05  # what the learner believes: the default


class Setting(NamedTuple):
    """Items, a judge, and what the learner believes wrongly of them."""

    items: str
    d: int
    accuracy: float  # of the judge on random pairs, lapses aside
    most: int  # answers
    lapse: float = 0.0  # share of answers at random
    prior: float = 1.0  # the learner takes utilities for so many times as large
    bias: float = 0.0  # share of answers that are "left" whatever is seen
    n: int = 60

    @property
    def name(self) -> str:
        """As it stands in the table."""
        wrong = [f"{self.lapse:.0%} at random"] * (self.lapse > 0) + [f"{self.bias:.0%} left"] * (self.bias > 0)
        wrong += [f"prior x {self.prior:g}"] * (self.prior != 1.0)
        return ", ".join([f"{self.items} {self.n} x {self.d}", f"judge {self.accuracy:.0%}", *wrong])

    @property
    def well_specified(self) -> bool:
        """Whether the learner is right about the judge."""
        return self.lapse == 0.0 and self.prior == 1.0 and self.bias == 0.0


SETTINGS = (
    Setting("Gaussian", 6, 0.9, 240),
    Setting("Gaussian", 6, 0.8, 480),
    Setting("Gaussian", 6, 0.7, 900),
    Setting("Gaussian", 6, 0.7, 900, n=300),
    Setting("Gaussian", 3, 0.9, 240),
    Setting("Gaussian", 15, 0.9, 480),
    Setting("heavy-tailed", 6, 0.9, 240),
    Setting("heavy-tailed", 6, 0.8, 480),
    Setting("recipes", 12, 0.9, 480, n=101),
    Setting("Gaussian", 6, 0.9, 360, lapse=0.1),
    Setting("Gaussian", 6, 0.9, 240, prior=0.25),
    Setting("Gaussian", 6, 0.9, 240, prior=4.0),
    Setting("heavy-tailed", 6, 0.9, 360, lapse=0.1),
    Setting("Gaussian", 6, 0.9, 360, bias=0.05),
)


class World(NamedTuple):
    """What is true, and what the learner sees of it."""

    features: np.ndarray  # in the learner's units: w ~ N(0, I)
    utility: np.ndarray  # of a logistic judge
    chance: np.ndarray  # for each answer three uniform numbers, the same for every rule


# ------------------------------------------------------------------------------- judges and items


def recipes(path: Path) -> np.ndarray:
    """Cost, difficulty, minutes, category and ways of preparation of real recipes, each of spread 1."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        heading, *lines = (line.rstrip("\n").split(",") for line in file)
    keep = [k for k, name in enumerate(heading) if name in ("cost", "difficulty", "minutes", "category")]
    keep += [k for k, name in enumerate(heading) if name.startswith("prep_")]
    table = np.array([[float(line[k - len(heading)]) for k in keep] for line in lines])  # names may hold commas
    return (table - table.mean(axis=0)) / table.std(axis=0)


def draw_items(setting: Setting, rng: np.random.Generator, real: np.ndarray | None) -> np.ndarray:
    """Features, before they are scaled to the judge."""
    n, d = setting.n, setting.d
    if setting.items == "recipes":
        if real is None:
            raise ValueError("pass --recipes items.csv.gz for this setting")
        return real
    if setting.items == "Gaussian":
        return rng.normal(size=(n, d))
    return rng.standard_t(3, size=(n, d)) @ rng.normal(size=(d, d)) / np.sqrt(3 * d)


def gain_of(setting: Setting, real: np.ndarray | None) -> float:
    """What utilities are multiplied by, so that the judge is right so often on random pairs."""
    rng, apart = np.random.default_rng(12345), []
    for _ in range(200):
        utility = draw_items(setting, rng, real) @ rng.normal(size=setting.d)
        apart.append(np.abs(utility - rng.permutation(utility)))
    gaps = np.concatenate(apart)
    gaps = gaps[gaps > 0]
    return float(brentq(lambda gain: expit(gain * gaps).mean() - setting.accuracy, 1e-3, 1e3))


def world_of(setting: Setting, seed: int, gain: float, real: np.ndarray | None) -> World:
    """Everything that does not depend on the rule."""
    rng = np.random.default_rng(seed)
    items = draw_items(setting, rng, real)
    utility = gain * (items @ rng.normal(size=setting.d))
    features = setting.prior * gain / LOGISTIC * (items - items.mean(axis=0))
    return World(features, utility, rng.random((setting.most, 3)))


def says_left(setting: Setting, world: World, t: int, left: int, right: int) -> bool:
    """The judge's answer number t."""
    noise, lapse, side = world.chance[t]
    if lapse < setting.bias:
        return True
    if lapse < setting.bias + setting.lapse:
        return bool(side < 0.5)
    return bool(noise < expit(world.utility[left] - world.utility[right]))


# ------------------------------------------------------------------------------- rules


class Learner:
    """The log, and what is believed after it."""

    def __init__(self, features: np.ndarray) -> None:
        self.features, self.kinds, self.log = features, kinds_of(features), Log()

    def refit(self) -> tuple[Belief, View]:
        """The belief after all answers."""
        self.summary = summary_of(self.log)
        self.answers = self.summary.answers(self.features)
        self.belief = fit(self.summary, self.answers, JUDGE_ERROR)
        self.view = view_of(self.features[self.kinds.first], self.belief.mean, self.belief.covariance)
        return self.belief, self.view

    def asked(self) -> np.ndarray:
        """Pairs of kinds."""
        return self.kinds.of[np.column_stack((self.summary.better, self.summary.worse))]


Rule = Callable[[Learner, np.random.Generator], Iterator[tuple[int, int]]]


def at_random(learner: Learner, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Every pair once, then again."""
    left, right = np.triu_indices(len(learner.features), 1)
    while True:
        for k in rng.permutation(left.size):
            yield int(left[k]), int(right[k])


def by_sorting(learner: Learner, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Quicksort by the answers, again and again (Maystre and Grossglauser 2017)."""

    def last_said_left() -> bool:
        return learner.log.standing[learner.log.next_number - 1].verdict == "left"

    while True:
        parts = [rng.permutation(len(learner.features)).tolist()]
        while parts:
            part = parts.pop()
            if len(part) < 2:
                continue
            pivot, *rest = part
            above, below = [], []
            for item in rest:
                yield item, pivot
                (above if last_said_left() else below).append(item)
            parts += [above, below]


def by_uncertainty(learner: Learner, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """The answer that is nearest to a coin, which is also the largest removed volume."""
    left, right = np.triu_indices(learner.kinds.first.size, 1)
    count = learner.kinds.first.size
    while True:
        view = learner.view
        v = ((view.spread[left] - view.spread[right]) ** 2).sum(axis=1)
        z = np.abs(view.utility[left] - view.utility[right]) / np.sqrt(1.0 + v) + 1e-9 * rng.random(left.size)
        asked = np.sort(learner.asked(), axis=1) @ (count, 1)
        z[np.isin(left * count + right, asked)] = np.inf
        best = int(np.argmin(z))
        yield int(learner.kinds.first[left[best]]), int(learner.kinds.first[right[best]])


def by_suggestion(
    goal: str, *, repeats: bool = False
) -> Callable[[Learner, np.random.Generator], Iterator[tuple[int, int]]]:
    """What ``PreferencePosterior.suggest`` asks."""

    def rule(learner: Learner, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
        while True:
            view, kinds = learner.view, learner.kinds
            asked = Asked(learner.asked(), np.zeros((0, 2), dtype=np.int64), repeats)
            ((left, right, _),) = next_questions(view, kinds, goal, 1, asked, JUDGE_ERROR, int(rng.integers(2**31)))
            yield left, right

    return rule


WAYS = {
    "random": at_random, "sort": by_sorting, "uncertainty": by_uncertainty,
    "bald": by_suggestion("rank"), "bald-repeats": by_suggestion("rank", repeats=True), "eubo": by_suggestion("best"),
}  # fmt: skip
PASSIVE = ("random", "sort")


# ------------------------------------------------------------------------------- one run


def tau_of(kinds: Kinds, utility: np.ndarray, truth: np.ndarray) -> float:
    """Kendall's tau over pairs of kinds."""
    left, right = np.triu_indices(kinds.first.size, 1)
    return float(np.mean(np.sign(utility[left] - utility[right]) * np.sign(truth[left] - truth[right])))


def run(setting: Setting, rule: str, seed: int, world: World) -> dict[str, Any]:
    """One judge, one rule: when figures were reached, and what was known on the way."""
    learner = Learner(world.features)
    truth = world.utility[learner.kinds.first]
    ask = WAYS[rule](learner, np.random.default_rng(seed + 1_000_000))
    looks: list[tuple[int, float, float]] = []
    told: dict[str, list[float]] = {}
    learner.refit()
    turns = np.random.default_rng(seed + 2_000_000).random(setting.most) < 0.5
    for t in range(setting.most):
        left, right = next(ask)
        if rule in PASSIVE and turns[t] and rule == "random":
            left, right = right, left
        learner.log.add(left, right, "left" if says_left(setting, world, t, left, right) else "right", None)
        now = t + 1
        look = now <= FINE or now % COARSE == 0
        if look or rule not in PASSIVE:
            learner.refit()
        if not look:
            continue
        view = learner.view
        chosen = int(np.argmax(view.utility))
        regret = float((truth.max() - truth[chosen]) / (truth.max() - truth.min()))
        looks.append((now, tau_of(learner.kinds, view.utility, truth), regret))
        if now in LOOKS:
            told[str(now)] = [*looks[-1][1:], *told_by(learner, truth)]
        done = reached(looks, 2, below=0.05) is not None
        if now >= LOOKS[-1] and done and (rule == "eubo" or reached(looks, 1, above=0.9) is not None):
            break
    return {
        "setting": setting.name, "rule": rule, "seed": seed, "looks": told,
        "tau": reached(looks, 1, above=0.9), "regret": reached(looks, 2, below=0.05),
    }  # fmt: skip


def told_by(learner: Learner, truth: np.ndarray) -> list[float]:
    """Expected tau, and the share of true ranks inside their intervals of 95 %."""
    moments = corrected(learner.belief, learner.answers)
    view = view_of(learner.features[learner.kinds.first], moments.mean, moments.covariance)
    ranking = ranking_of(view, learner.kinds, 0.95)
    first, size = learner.kinds.first, learner.kinds.size
    rank = np.array([1 + size[truth > value].sum() for value in truth])
    inside = (ranking.low[first] <= rank) & (rank <= ranking.high[first])
    return [expected_tau_of(view, learner.kinds), float(inside.mean())]


def reached(
    looks: list[tuple[int, float, float]], place: int, above: float = -np.inf, below: float = np.inf
) -> int | None:
    """The first answer after which a figure was held for HOLD answers, or None."""
    start = None
    for look in looks:
        if not above <= look[place] <= below:
            start = None
        elif start is None:
            start = look[0]
        elif look[0] - start >= HOLD - 1:
            return start
    return None


# ------------------------------------------------------------------------------- many runs


def work(options: argparse.Namespace) -> None:
    """Runs that are missing, until the time is over: the same seed of all settings and rules before the next."""
    done = {(one["setting"], one["rule"], one["seed"]) for one in lines_of(options.out)}
    real = recipes(options.recipes) if options.recipes else None
    settings = [one for one in SETTINGS if one.items != "recipes" or real is not None]
    settings = [one for one in settings if not options.only or any(part in one.name for part in options.only)]
    gains = {one.name: gain_of(one, real) for one in settings}
    until = time.monotonic() + 60.0 * options.minutes
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with options.out.open("a", encoding="utf-8") as file:
        for seed in range(options.seeds):
            for setting in settings:
                world = None
                for rule in RULES:
                    if (setting.name, rule, seed) in done:
                        continue
                    if time.monotonic() > until:
                        return
                    world = world or world_of(setting, seed, gains[setting.name], real)
                    file.write(json.dumps(run(setting, rule, seed, world)) + "\n")
                    file.flush()


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Runs that were made; a last line that was cut off is none."""
    if not path.exists():
        return []
    whole = [line for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
    return [json.loads(line) for line in whole]


def main() -> None:
    """Run, then report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/questions.jsonl"))
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=5.0, help="stop after so long; the next call goes on")
    parser.add_argument("--recipes", type=Path, help="items.csv.gz of the recipes, for the setting with real items")
    parser.add_argument("--only", nargs="*", help="settings whose names hold one of these")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/benchmarks.md")
    options = parser.parse_args()
    work(options)
    from question_report import tables

    for name, heading, lines in tables(lines_of(options.out), SETTINGS):
        if options.write:
            write(
                name,
                "python benchmarks/questions.py --recipes items.csv.gz --write",
                ("softmargin", "numba", "numpy"),
                heading,
                lines,
            )
        else:
            print("\n".join(["", *(" | ".join(line) for line in [heading, *lines])]))


if __name__ == "__main__":
    main()
