"""docs/objective.md is believed only where a generic solver agrees: the page is read, each row is checked."""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

PAGE = Path(__file__).parents[2] / "docs/objective.md"
WORKED = {"λ": 0.5, "C_note": 10.0, "T": 8, "α": 0.1, "G": 3.0, "t": 4}  # the values the page works out


def table(*header):
    """The rows of the table that has this header."""
    rows = [
        [cell.strip().strip("`") for cell in line.strip("|\n").split("|")]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    body = rows[rows.index(list(header)) + 2 :]
    end = next((i for i, row in enumerate(body) if row[0] == header[0]), len(body))
    return [pytest.param(*row[1:], id=row[0]) for row in body[:end]]


OBJECTIVES = table("note", "it minimises", "C", "lam", "worked")
STEPS = table("note", "its step: w becomes", "our step", "our lam", "worked")
SCHEDULES = table("note", "its α_t", "our lam", "our step", "schedule", "worked")


def value(expression, **names):
    """What an expression of the page is worth."""
    functions = {"sum": np.sum, "mean": np.mean, "sqrt": np.sqrt, "inf": np.inf, "__builtins__": {}}
    return eval(expression.replace("w·w", "(w @ w)"), functions, names)  # noqa: S307  the page is ours


def worked(cell):
    """`C = 2, lam = 0.5` as a dictionary."""
    return {name: float(number) for name, number in re.findall(r"(\w+) = ([\w.]+)", cell)}


class Problem(NamedTuple):
    """Constraints `Z w + owner @ slack >= required` in `d` priced weights, and perhaps a free intercept."""

    Z: np.ndarray
    required: np.ndarray
    owner: np.ndarray  # which slack variable serves which constraint
    example: np.ndarray  # which slack variables add up to the loss of which example
    d: int


def problem(kind, rng, *, separable, T=8, d=3, classes=3):
    """A few random constraints of one kind; separable ones are planted, others have random labels."""
    features = rng.normal(size=(T, d))
    if kind in ("rows", "free intercept"):
        planted = np.sign(features @ rng.normal(size=d) + 0.3 * (kind == "free intercept"))
        labels = planted if separable else rng.choice([-1.0, 1.0], T)
        Z = labels[:, None] * (np.c_[features, np.ones(T)] if kind == "free intercept" else features)
        return Problem(Z, rng.uniform(0.5, 2, T), np.eye(T), np.eye(T), d)
    planted = np.argmax(features @ rng.normal(size=(d, classes)), axis=1)
    labels = planted if separable else rng.integers(classes, size=T)
    rivals = [(t, c) for t in range(T) for c in range(classes) if c != labels[t]]
    Z = np.zeros((len(rivals), classes, d))
    for row, (t, c) in enumerate(rivals):
        Z[row, labels[t]], Z[row, c] = features[t], -features[t]
    mine = np.repeat(np.eye(T), classes - 1, axis=0)
    owner, example = (mine, np.eye(T)) if kind == "max over classes" else (np.eye(len(rivals)), mine.T)
    return Problem(Z.reshape(len(rivals), -1), np.ones(len(rivals)), owner, example, classes * d)


def solve(problem, objective, *, hard=False):
    """The weights that minimise `objective(w, slack)`, by a solver that knows nothing of support vectors."""
    n, slacks = problem.Z.shape[1], problem.owner.shape[1]

    def cost(v):
        return objective(v[: problem.d], problem.example @ v[n:])

    # From slack that satisfies every constraint, with exact gradients by complex steps.
    start = np.r_[np.zeros(n), np.full(slacks, 0.0 if hard else problem.required.max())]
    bounds = [(None, None)] * n + [(0, 0 if hard else None)] * slacks
    rows = LinearConstraint(np.c_[problem.Z, problem.owner], problem.required, np.inf)
    options = {"ftol": 1e-12, "maxiter": 1000}
    found = minimize(cost, start, jac="cs", method="SLSQP", bounds=bounds, constraints=rows, options=options)
    assert found.status in (0, 8), found.message  # 8: rounding lets the line search go no lower
    return found.x[: problem.d]


@pytest.mark.parametrize("kind", ["rows", "free intercept", "max over classes", "sum over classes"])
@pytest.mark.parametrize(("note", "C", "lam", "_worked"), OBJECTIVES)
def test_our_minimum_at_the_mapped_price_is_the_minimum_of_the_note(note, C, lam, _worked, kind):
    """Whatever the constraints, the objective of the note and ours have the same weights."""
    rng = np.random.default_rng(20260)
    T = 8
    names = {"λ": rng.uniform(0.1, 1), "C_note": rng.uniform(0.5, 5), "T": T, "price": rng.uniform(0.5, 3, T)}
    price = names["price"] if "price" in note else np.ones(T)
    C, lam = value(C, **names), value(lam, **names)
    hard = np.isinf(C)
    data = problem(kind, rng, separable=hard, T=T)

    theirs = solve(data, lambda w, slack: value(note, w=w, slack=slack, **names), hard=hard)
    ours = solve(data, lambda w, slack: w @ w / 2 + (0 if hard else C * (price @ slack)), hard=hard)
    stream = solve(data, lambda w, slack: (lam or 1) / 2 * w @ w + np.mean(price * slack), hard=hard)

    assert np.linalg.norm(theirs) > 0.1
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(stream, theirs, rtol=1e-5, atol=1e-5)
    assert lam == pytest.approx(1 / (C * T))


@pytest.mark.parametrize(("_note", "C", "lam", "cell"), OBJECTIVES)
def test_worked_objectives(_note, C, lam, cell):
    """The last column is the row with the numbers put in."""
    assert worked(cell) == pytest.approx({"C": value(C, **WORKED), "lam": value(lam, **WORKED)}, rel=1e-12)


@pytest.mark.parametrize(("note", "step", "lam", "cell"), STEPS)
def test_a_step_of_the_note_is_a_step_of_ours(note, step, lam, cell):
    """Both walk the same path through a stream, to rounding."""
    rng = np.random.default_rng(7)
    names = {"λ": 0.3, "T": 40}
    theirs = ours = np.zeros(3)
    for t, z in enumerate(rng.normal(size=(40, 3)), 1):
        names["α"] = 0.7 / t
        violated = float(ours @ z < 1)
        theirs = value(note, w=theirs, z=z, violated=violated, **names)
        size, shrink = value(step, **names), value(lam, **names)
        ours = (1 - size * shrink) * ours + size * violated * z
        np.testing.assert_allclose(theirs, ours, rtol=1e-12, atol=1e-15)
    assert worked(cell) == pytest.approx({"step": value(step, **WORKED), "lam": value(lam, **WORKED)})


@pytest.mark.parametrize(("note", "lam", "ours", "_schedule", "cell"), SCHEDULES)
def test_a_step_size_of_the_note_is_a_step_size_of_ours(note, lam, ours, _schedule, cell):
    """Expressed in our lam, the schedule gives the step of the note at every t."""
    for t in (1, 2, 17):
        names = {"λ": 0.3, "G": 2.5, "T": 40, "t": t}
        names["lam"] = None if lam == "any" else value(lam, **names)
        assert value(ours, **names) == pytest.approx(value(note, **names), rel=1e-12)
    assert worked(cell) == pytest.approx({"step": value(note, **WORKED)})


def test_the_factor_two_in_one_constraint():
    """The example of the page: at z = 1 and λ = 1 the two conventions end at 1 and at 1/2."""
    one = Problem(np.ones((1, 1)), np.ones(1), np.eye(1), np.eye(1), d=1)
    assert solve(one, lambda w, slack: w @ w / 2 + slack.sum()) == pytest.approx(1.0, abs=1e-5)
    assert solve(one, lambda w, slack: w @ w + slack.sum()) == pytest.approx(0.5, abs=1e-5)


def test_the_largest_margin_is_one_over_the_hard_weights():
    """Maximising the margin inside the unit ball gives our hard-margin w divided by its length."""
    data = problem("rows", np.random.default_rng(3), separable=True)._replace(required=np.ones(8))
    w = solve(data, lambda w, _slack: w @ w / 2, hard=True)
    inside = {"type": "ineq", "fun": lambda v: 1 - v[:-1] @ v[:-1]}
    above = {"type": "ineq", "fun": lambda v: data.Z @ v[:-1] - v[-1]}
    best = minimize(lambda v: -v[-1], np.r_[w, 0], method="SLSQP", constraints=[inside, above])
    np.testing.assert_allclose(best.x, np.r_[w, 1] / np.linalg.norm(w), rtol=1e-5)
