"""Graded groups: how soon a gap is reached beside what learns from the pairs listed, and how good the ranking is.

The gap of a peer's weights is their objective over all listed pairs less our best certified dual value, as a share of
that objective.  A first ratio leaves out the seconds to list the pairs and to take their differences, a second one
counts them: they are a part of the way from groups to weights that we do not have.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import lightgbm
import numpy as np
import ranking_data
from bench_solvers import once, race
from ranking_data import Graded
from ranking_pairs import interval
from report import best_of
from scipy import sparse
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC

from softmargin import SoftMarginRanker
from softmargin.metrics import ndcg, pair_accuracy

TOL = 1e-6  # what has to be certified
ENOUGH = 10.0  # seconds: a peer that took longer is not asked for more
PRICES = (1e-5, 1e-3, 1e-2, 1.0)  # C of the races
GRID = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # C for the sum over pairs, to choose from
EQUAL = (1e-2, 1e-1, 1.0, 10.0, 100.0)  # C where a group is a mean
TREES = (25, 50, 100, 200)
SETS: dict[str, Callable[[], tuple[Graded, Graded]]] = {
    "LightGBM's example": ranking_data.ltr_lightgbm,
    "CatBoost's querywise": ranking_data.ltr_catboost,
}


class Listed(NamedTuple):
    """All pairs of a set as differences with random signs, for who knows labels only."""

    rows: Any
    sign: np.ndarray

    def objective(self, w: np.ndarray, C: float) -> float:
        """Of anybody's weights, pair by pair."""
        return 0.5 * float(w @ w) + C * float(np.maximum(0.0, 1.0 - self.sign * (self.rows @ w)).sum())


def listed(data: Graded) -> Listed:
    """Every pair with different grades in a group, once; half of them turned round: two classes are wanted."""
    better, worse = [], []
    order = np.argsort(data.qid, kind="stable")
    starts = np.unique(data.qid[order], return_index=True)[1]
    for rows in np.split(order, starts[1:]):
        above, below = np.nonzero(data.y[rows][:, None] > data.y[rows][None, :])
        better.append(rows[above])
        worse.append(rows[below])
    first, second = np.concatenate(better), np.concatenate(worse)
    sign = np.where(np.random.default_rng(0).random(first.size) < 0.5, 1.0, -1.0)
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    return Listed(sign[:, None] * (X[first] - X[second]), sign)


def ours(data: Graded, C: float, tol: float, **options: Any) -> SoftMarginRanker:
    """From the groups."""
    return SoftMarginRanker(C=C, tol=tol, random_state=0, **options).fit(data.X, data.y, data.qid)


# ----------------------------------------------------------------------------------- seconds to a gap

SVC = (
    {"tol": 1.0, "max_iter": 10},
    {"tol": 1.0, "max_iter": 100},
    {"tol": 0.1},
    {},
    {"tol": 1e-6, "max_iter": 100_000},
)
SGD = ({"max_iter": 5}, {"max_iter": 20}, {"max_iter": 100})


def _svc(pairs: Listed, C: float, setting: dict[str, Any]) -> np.ndarray:
    model = LinearSVC(C=C, loss="hinge", fit_intercept=False, random_state=0, **setting)
    return np.asarray(model.fit(pairs.rows, pairs.sign).coef_[0])


def _sgd(pairs: Listed, C: float, setting: dict[str, Any]) -> np.ndarray:
    lam = 1.0 / (C * pairs.sign.size)
    model = SGDClassifier(alpha=lam, fit_intercept=False, average=True, tol=None, random_state=0, **setting)
    return np.asarray(model.fit(pairs.rows, pairs.sign).coef_[0])


PEERS = (("LinearSVC", _svc, SVC), ("SGDClassifier", _sgd, SGD))


@dataclass
class Rung:
    """What a peer's setting took and reached, and what we take to certify as much."""

    peer: str
    setting: str
    gap: float
    seconds: float
    ours: float
    listing: float  # seconds to make its data from the groups

    @property
    def ratio(self) -> float:
        """How many times faster we are, where its data were there."""
        return self.seconds / self.ours

    @property
    def whole(self) -> float:
        """How many times faster we are from groups to weights."""
        return (self.seconds + self.listing) / self.ours


@dataclass
class Race:
    """A set at one C."""

    name: str
    C: float
    seconds: float = np.nan  # ours, to TOL
    gap: float = np.nan
    passes: float = np.nan
    rungs: list[Rung] = field(default_factory=list)


def compete(name: str, data: Graded, pairs: Listed, C: float, listing: float) -> Race:
    """Every setting of every peer, in turns with us at the gap it reached."""
    task = lambda: ours(data, C, TOL)  # noqa: E731
    first = once(task)
    proof = first[1].certificate_
    result = Race(name, C, race([task], [first])[0], proof.relative_gap, proof.passes)
    best = ours(data, C, TOL / 100.0).certificate_
    forms = [pairs, pairs._replace(rows=sparse.csr_matrix(pairs.rows))]
    for peer, solve, ladder in PEERS:
        for setting in ladder:
            tries = [once(lambda: solve(form, C, setting)) for form in forms]  # noqa: B023
            quick = int(np.argmin([seconds for seconds, _ in tries]))
            primal = pairs.objective(tries[quick][1], C)
            gap = max(0.0, primal - best.dual) / primal
            tol = max(gap, best.relative_gap, TOL / 100.0)  # gaps below are not told apart
            tasks = [lambda: solve(forms[quick], C, setting), lambda: ours(data, C, tol)]  # noqa: B023
            theirs, mine = race(tasks, [tries[quick], once(tasks[1])])
            result.rungs.append(Rung(peer, str(setting), gap, theirs, mine, listing))
            print(f"  C = {C:g}: {peer} {setting} {gap:.0e} in {theirs:.4f} s, ours {mine:.4f} s", flush=True)
            if theirs > ENOUGH:
                break
    return result


# ----------------------------------------------------------------------------------- how good a ranking is


class Ranking(NamedTuple):
    """Somebody's scores of the rows to test."""

    who: str
    setting: str
    seconds: float
    score: np.ndarray


def tuned(
    data: Graded, settings: Sequence[float], learn: Callable[[Graded, float], Callable[[Any], np.ndarray]]
) -> float:
    """The setting with the best NDCG@10 on a quarter of the groups, learned from the others."""
    known, aside = data.halves(0.25)
    found = [ndcg(aside.y, learn(known, one)(aside.X), aside.qid, k=10, gain=data.gain) for one in settings]
    return settings[int(np.argmax(found))]


def lambdarank(data: Graded, trees: float) -> Callable[[Any], np.ndarray]:
    """LightGBM's own defaults but for the number of trees; real grades become 31 levels that pay what they are."""
    by_group = np.argsort(data.qid, kind="stable")
    sizes = np.unique(data.qid, return_counts=True)[1]
    options, grades = {}, data.y
    if data.gain == "linear":
        grades = np.rint(30.0 * data.y / data.y.max()).astype(int)
        options["label_gain"] = list(range(31))
    model = lightgbm.LGBMRanker(n_estimators=int(trees), n_jobs=2, random_state=0, verbose=-1, **options)
    model.fit(data.X[by_group], grades[by_group], group=sizes)
    return lambda X: np.asarray(model.predict(X))


def of_pairs(solve: Callable[..., np.ndarray], setting: dict[str, Any]) -> Callable[[Graded, float], Any]:
    """A peer that learns from listed pairs."""

    def learn(data: Graded, C: float) -> Callable[[Any], np.ndarray]:
        w = solve(listed(data), C, setting)
        return lambda X: np.asarray(X @ w)

    return learn


def rankings(train: Graded, test: Graded) -> list[Ranking]:
    """Everybody's, each at the setting chosen on its own."""
    found = []
    for who, letter, settings, learn in (
        ('softmargin, groups="pairs"', "C", GRID, lambda data, C: ours(data, C, TOL).predict),
        ('softmargin, groups="equal"', "C", EQUAL, lambda data, C: ours(data, C, TOL, groups="equal").predict),
        ("LinearSVC on listed pairs", "C", GRID, of_pairs(_svc, {})),
        ("SGDClassifier on listed pairs", "C", GRID, of_pairs(_sgd, {"max_iter": 20})),
        ("LightGBM lambdarank", "trees", TREES, lambdarank),
    ):
        setting = tuned(train, settings, learn)
        seconds = best_of(3, lambda: learn(train, setting))  # noqa: B023
        found.append(Ranking(who, f"{letter} = {setting:g}", seconds, learn(train, setting)(test.X)))
    return found


def ranking_lines(name: str, test: Graded, found: Sequence[Ranking]) -> list[list[str]]:
    """Table lines: NDCG and pair accuracy, the mean over test groups and its interval."""
    lines = []
    for one in found:
        cells = []
        for value in (
            lambda y, s: ndcg(y, s, k=5, gain=test.gain),
            lambda y, s: ndcg(y, s, k=10, gain=test.gain),
            pair_accuracy,
        ):
            by_group = np.array([
                value(test.y[test.qid == group], one.score[test.qid == group]) for group in np.unique(test.qid)
            ])  # fmt: skip
            kept = by_group[~np.isnan(by_group)]
            low, high = interval(kept, np.arange(kept.size))
            cells.append(f"{kept.mean():.3f} ({low:.3f} to {high:.3f})")
        lines.append([name, one.who, one.setting, f"{one.seconds:.3f}", *cells])
    return lines


# ----------------------------------------------------------------------------------- tables

RACES = (
    "data",
    "C",
    "ours to 1e-6, s",
    "gap",
    "passes",
    "peer",
    "hardest to beat",
    "gap",
    "s",
    "ours, s",
    "ratio",
    "with listing",
)
RANKINGS = ("test groups of", "who", "chosen", "s", "NDCG@5", "NDCG@10", "pair accuracy")


def race_lines(races: Sequence[Race]) -> list[list[str]]:
    """Of each peer the setting that is hardest to beat, of those within 0.1, and the one with the smallest gap."""
    lines = []
    for one in races:
        for peer, _, _ in PEERS:
            rungs = [rung for rung in one.rungs if rung.peer == peer]
            nearest = min(rungs, key=lambda rung: rung.gap)
            hardest = min((rung for rung in rungs if rung.gap <= 0.1), key=lambda rung: rung.ratio, default=nearest)
            kept = [hardest] if hardest is nearest else [hardest, nearest]
            lines += [
                [
                    one.name, f"{one.C:g}", f"{one.seconds:.4f}", f"{one.gap:.0e}", f"{one.passes:.0f}", peer,
                    _plain(rung.setting), _told(rung.gap), f"{rung.seconds:.4f}", f"{rung.ours:.4f}",
                    f"{rung.ratio:.2g}", f"{rung.whole:.2g}",
                ]
                for rung in kept
            ]  # fmt: skip
    return lines


def _told(gap: float) -> str:
    """Our own best bound does not tell smaller ones apart."""
    return f"{gap:.0e}" if gap >= TOL / 100.0 else f"< {TOL / 100.0:.0e}"


def _plain(setting: str) -> str:
    return setting.strip("{}").replace("'", "").replace(": ", "=") or "its defaults"


def verdict(races: Sequence[Race]) -> list[str]:
    """What was wanted, and whether it was reached."""
    proved = sum(one.gap <= TOL for one in races)
    near = [(one, rung) for one in races for rung in one.rungs if rung.peer == "LinearSVC" and rung.gap <= 0.1]
    said = [
        f"- **{'met' if proved == len(races) else 'missed'}**: {proved} of {len(races)} certified to 1e-6; wanted all."
    ]
    for what, ratio in (("the pairs listed before", Rung.ratio.fget), ("listing its pairs", Rung.whole.fget)):
        one, rung = min(near, key=lambda entry: ratio(entry[1]))
        ratios = np.array([ratio(rung) for _, rung in near])
        said.append(
            f"- **{'met' if ratios.min() >= 10.0 else 'missed'}**: {ratios.min():.2g} times faster than LinearSVC, "
            f"{what}, at least ({one.name}, C = {one.C:g}, gap {rung.gap:.0e}), "
            f"{np.exp(np.log(ratios).mean()):.2g} in the geometric mean, and 10 times or more at "
            f"{np.sum(ratios >= 10.0)} of its {ratios.size} settings that come within 0.1; wanted 10 at equal gap."
        )
    return said


def measure() -> tuple[list[str], list[list[str]], list[list[str]]]:
    """Verdicts, the table of races, the table of rankings."""
    races, table = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of peers that did not converge; our own gaps are in the table
        for name, load in SETS.items():
            train, test = load()
            pairs = listed(train)
            listing = best_of(3, lambda: listed(train))  # noqa: B023
            print(f"{name}: {train.y.size} rows, {pairs.sign.size} pairs", flush=True)
            races += [compete(name, train, pairs, C, listing) for C in PRICES]
            table += ranking_lines(name, test, rankings(train, test))
            print(*table[-5:], sep="\n", flush=True)
    return verdict(races), race_lines(races), table
