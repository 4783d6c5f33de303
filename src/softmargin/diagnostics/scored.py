"""The certificate of a model of grades once more: plain NumPy, no kernel, and no pair of a large group listed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from softmargin.constraints.graded import Constraints, Grades
from softmargin.diagnostics.posed import Posed, one_by_one
from softmargin.estimators._statements import read_graded, read_pairs
from softmargin.estimators.ranker import SoftMarginRanker
from softmargin.solvers.certificate import distance_bound
from softmargin.solvers.problem import Gap

SMALL = 200  # rows of a group whose pairs are written out
STIFFNESSES = 0.5 * 4.0 ** np.arange(15)  # of the duals, tried where the model has none; in units of 1 / required
ROUNDING = 1e-5  # relative, of the balance of duals: what stiff duals make of the rounding of a score


class Part(NamedTuple):
    """Some pairs at the present scores: every row of ``upper`` over every row of ``lower``, or one to one."""

    upper: np.ndarray  # rows of X
    lower: np.ndarray
    required: Any
    price: Any
    mass: np.ndarray | None  # of all rows of X; None: one each
    listed: bool  # one to one


@dataclass(frozen=True)
class Told:
    """All that was said about the rows of X."""

    parts: list[Part]
    rows: int
    squared: bool

    @property
    def unit(self) -> float:
        """The largest required margin."""
        return max((float(np.max(part.required, initial=0.0)) for part in self.parts), default=1.0) or 1.0


class Sums(NamedTuple):
    """The balance of duals by row, and sums over all pairs."""

    pull: np.ndarray
    loss: float
    gain: float
    residual: float


def told(model: SoftMarginRanker, y: Any, qid: Any, weight: Any, rows: int) -> Told:
    """Grades or ``Constraints`` once more, with prices that hold C."""
    sources = y if isinstance(y, Constraints) else [Grades(y, qid, weight)]
    parts: list[Part] = []
    for source in sources:
        bare, price = not isinstance(y, Constraints), float(source.price)
        if isinstance(source, Grades):
            parts += list(
                graded_parts(read_graded(source, rows, model.weighting, model.groups, bare=bare), rows, price)
            )
        else:
            pairs = read_pairs(source, rows, model.weighting)
            parts.append(Part(pairs.better, pairs.worse, pairs.required, price * pairs.price, None, listed=True))
    C = float(model.C) if model.lam is None else 1.0 / (float(model.lam) * sum(pair_mass(part) for part in parts))
    priced = [part._replace(price=priced_at(C, part.price)) for part in parts]
    return Told(priced, rows, model.loss == "squared_hinge")


def priced_at(C: float, price: Any) -> Any:
    """C times the price; what has no price has none at C = inf either."""
    return np.multiply(C, price, out=np.zeros_like(price, dtype=np.float64), where=np.asarray(price) > 0.0)


def graded_parts(read: Any, rows: int, times: float) -> Iterator[Part]:
    """The nodes of the trees of all groups."""
    starts, roots, nodes, required, price, mass = read.forest
    every = None
    if mass.size > 1:
        every = np.zeros(rows)
        every[read.rows] = mass
    for g in range(starts.size - 1):
        for low, middle, high in nodes[roots[g] : roots[g + 1]]:
            yield Part(
                read.rows[middle:high].astype(np.int64), read.rows[low:middle].astype(np.int64),
                required[g] if required.size > 1 else required[0], times * (price[g] if price.size > 1 else price[0]),
                every, listed=False,
            )  # fmt: skip


def pair_mass(part: Part) -> float:
    """The prices of all its pairs together."""
    if part.listed:
        return float(np.sum(part.price))
    upper, lower = masses(part)
    return float(part.price * upper.sum() * lower.sum())


def masses(part: Part) -> tuple[np.ndarray, np.ndarray]:
    """How heavy its rows are."""
    if part.mass is None:
        return np.ones(part.upper.size), np.ones(part.lower.size)
    return part.mass[part.upper], part.mass[part.lower]


def settle(asked: Told, scores: np.ndarray, stiffness: float) -> Sums:
    """Duals that follow from the scores: ``price min(1, stiffness short)``, or ``2 price short`` for the square."""
    pull, totals = np.zeros(asked.rows), np.zeros(3)
    for part in asked.parts:
        settle_part = one_to_one if part.listed else written_out if part.upper.size <= SMALL else sorted_out
        totals += settle_part(part, scores, np.inf if asked.squared else 1.0 / stiffness, pull)
    return Sums(pull, *totals)


def every_pair_posed(X: Any, asked: Told) -> Posed:
    """Small data whose solver listed the pairs, source by source and group by group: each has a dual of its own."""
    uppers, lowers, required, price = [], [], [], []
    for part in asked.parts:
        upper, lower, cost = part.upper, part.lower, part.price
        if not part.listed:
            mass = np.outer(*masses(part))
            cost = np.where(mass > 0.0, part.price, 0.0) * np.where(mass > 0.0, mass, 1.0)  # inf times 0 is no price
            upper, lower = (side.ravel() for side in np.broadcast_arrays(upper[:, None], lower))
        uppers.append(upper)
        lowers.append(lower)
        required.append(np.broadcast_to(part.required, upper.shape))
        price.append(np.broadcast_to(np.ravel(cost), upper.shape))
    return one_by_one(
        X, np.concatenate(uppers), np.concatenate(lowers), np.concatenate(required), np.concatenate(price),
        squared=asked.squared,
    )  # fmt: skip


def terms(short: np.ndarray, width: float, required: Any, price: Any) -> tuple[np.ndarray, np.ndarray]:
    """Duals of pairs that lack ``short``, and their loss, gain and residual."""
    slack = np.maximum(short, 0.0)
    if width == np.inf:
        dual = 2.0 * price * slack
        loss = price * slack**2
        return dual, np.array([loss.sum(), (dual * required - loss).sum(), 0.0])
    share = np.minimum(slack / width, 1.0)
    dual = price * share
    return dual, np.array([np.sum(price * slack), np.sum(dual * required), np.sum(price * slack * (1.0 - share))])


def one_to_one(part: Part, scores: np.ndarray, width: float, pull: np.ndarray) -> np.ndarray:
    """OUT ``pull``; listed pairs."""
    dual, sums = terms(part.required - (scores[part.upper] - scores[part.lower]), width, part.required, part.price)
    np.add.at(pull, part.upper, dual)
    np.subtract.at(pull, part.lower, dual)
    return sums


def written_out(part: Part, scores: np.ndarray, width: float, pull: np.ndarray) -> np.ndarray:
    """OUT ``pull``; every upper row against every lower one, in blocks."""
    total, upper_mass, lower_mass = np.zeros(3), *masses(part)
    step = max(1, 1_000_000 // max(1, part.upper.size))
    for start in range(0, part.lower.size, step):
        lower = part.lower[start : start + step]
        short = part.required - (scores[part.upper][:, None] - scores[lower])
        weight = part.price * upper_mass[:, None] * lower_mass[start : start + step]
        dual, sums = terms(short, width, part.required, weight)
        pull[part.upper] += dual.sum(axis=1)
        pull[lower] -= dual.sum(axis=0)
        total += sums
    return total


def sorted_out(part: Part, scores: np.ndarray, width: float, pull: np.ndarray) -> np.ndarray:
    """OUT ``pull``; by bisection and cumulative sums of scores, centred so that little cancels."""
    upper_mass, lower_mass = masses(part)
    centre = float(np.median(scores[part.upper]))
    up, low = scores[part.upper] - centre, scores[part.lower] - centre
    held, sums = one_side(up - part.required, upper_mass, low, lower_mass, width)
    pull[part.upper] += part.price * held
    # From the other side, with all signs turned, the same pairs.
    against, _ = one_side(-low - part.required, lower_mass, -up, upper_mass, width)
    pull[part.lower] -= part.price * against
    loss, pulled, residual = sums
    gain = part.required * pulled - (loss if width == np.inf else 0.0)
    return np.asarray(part.price * np.array([loss, gain, residual]))


def one_side(
    bound: np.ndarray, mass: np.ndarray, partner: np.ndarray, partner_mass: np.ndarray, width: float
) -> tuple[np.ndarray, np.ndarray]:
    """Of rows that want all partners below their bound: each one's pull; the sums of loss, pull and residual."""
    order = np.argsort(partner)
    partner, weight = partner[order], partner_mass[order]
    n, s, ss = (np.append(0.0, np.cumsum(weight * partner**power)) for power in (0, 1, 2))
    first = np.searchsorted(partner, bound, side="right")
    beyond = np.searchsorted(partner, bound + width, side="left") if width < np.inf else np.full(bound.size, n.size - 1)
    count, total, squares = (sums[beyond] - sums[first] for sums in (n, s, ss))
    short = total - count * bound
    short2 = squares - 2.0 * bound * total + count * bound**2
    if width == np.inf:
        held = mass * 2.0 * short
        return held, np.array([np.sum(mass * short2), held.sum(), 0.0])
    far, far_sum = n[-1] - n[beyond], s[-1] - s[beyond]
    held = mass * (short / width + far)
    loss = float(np.sum(mass * (short + far_sum - far * bound)))
    return held, np.array([loss, held.sum(), float(np.sum(mass * np.maximum(0.0, short - short2 / width)))])


def gap_of(asked: Told, X: Any, w: np.ndarray, stiffness: float) -> tuple[np.ndarray, Gap]:
    """The balance of the duals at these weights, and what they prove."""
    found = settle(asked, np.asarray(X @ w), stiffness)
    w_dual = np.asarray(X.T @ found.pull)
    apart2 = float(np.sum((w - w_dual) ** 2))
    gap = found.residual + 0.5 * apart2
    dual = found.gain - 0.5 * float(w_dual @ w_dual)
    return found.pull, Gap(0.5 * float(w @ w) + found.loss, dual, gap, distance_bound(gap, float(np.sqrt(apart2))))


def proof(model: SoftMarginRanker, asked: Told, X: Any, w: np.ndarray) -> tuple[Gap, float, str]:
    """The gap of weights to the best duals at hand, the passes it took, and where the duals came from."""
    stored, stiffness = getattr(model, "dual_", None), getattr(model, "stiffness_", None)
    missing = "no duals stored, so derived from the weights"
    if stored is not None and np.shape(stored) != (asked.rows,):
        message = (
            f"X has {asked.rows} rows, and dual_ of the model has shape {np.shape(stored)}: pass the X and y that it "
            "was fitted on"
        )
        raise ValueError(message)
    tried = list(STIFFNESSES[:1] if asked.squared else STIFFNESSES / asked.unit)
    if stored is not None and stiffness is not None and 0.0 < stiffness < np.inf:
        pull, gap = gap_of(asked, X, w, float(stiffness))
        tried.append(float(stiffness))
        if np.all(np.abs(pull - stored) <= ROUNDING * max(1e-300, float(np.abs(pull).max()))):
            return gap, 2.0, "with the duals as stored"
        missing = "the stored duals do not follow from the weights, so others were derived"
    gaps = [gap_of(asked, X, w, stiffness)[1] for stiffness in tried]
    return min(gaps, key=lambda gap: gap.gap), 2.0 * len(tried), missing
