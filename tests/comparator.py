"""The best fixed weights in hindsight, by a quadratic program that knows nothing of support vectors or streams."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import LinearConstraint, minimize
from threadpoolctl import threadpool_limits


class Program(NamedTuple):
    """minimise curve/2 |w|² + price.loss(slack) with Z w + B b + owner slack >= required, |b| <= reach."""

    Z: np.ndarray
    B: np.ndarray  # how each constraint feels the free intercepts
    owner: np.ndarray  # which slack serves which constraint
    required: np.ndarray
    price: np.ndarray  # of each slack
    curve: float
    squared: bool = False
    reach: float = np.inf


class Best(NamedTuple):
    """Where the program ends, and what those weights really pay (never less than the minimum)."""

    w: np.ndarray
    bias: np.ndarray
    value: float


def signed(Z, required, price, curve, *, sign=None, squared=False, reach=np.inf):
    """A program over signed rows; with ``sign``, one free intercept."""
    B = np.zeros((len(Z), 0)) if sign is None else sign[:, None]
    return Program(Z, B, np.eye(len(Z)), required, price, curve, squared, reach)


def classes(F, label, number, required, price, curve, form, *, free=False, squared=False, reach=np.inf):
    """A program over rows with classes: the weights are those of class 0, of class 1, and so on, in one vector."""
    Z, B, owner, requires = [], [], [], []
    for t, (f, right) in enumerate(zip(F, label, strict=True)):
        for k in range(number):
            feels = np.zeros(number)
            if form == "ovr":
                feels[k] = 1.0 if k == right else -1.0
            elif k != right:
                feels[[right, k]] = 1.0, -1.0
            if feels.any():
                Z.append(np.outer(feels, f).ravel())
                B.append(feels if free else [])
                owner.append(t if form == "max" else len(owner))
                requires.append(required[t])
    slacks = np.eye(len(F) if form == "max" else len(owner))[owner]
    rows = np.repeat(np.arange(len(F)), 1 if form == "max" else number - (form == "sum"))
    B = np.array(B).reshape(len(Z), -1)
    return Program(np.array(Z), B, slacks, np.array(requires), price[rows], curve, squared, reach)


def worth(program, w, bias):
    """The objective at these weights, slack as small as it may be."""
    short = np.maximum(0.0, program.required - program.Z @ w - program.B @ bias)
    slack = np.max(np.where(program.owner > 0, short[:, None], 0.0), axis=0)
    loss = slack**2 if program.squared else slack
    return 0.5 * program.curve * (w @ w) + program.price @ loss


def solve(program):
    """The best fixed weights, by the solver that suits the program."""
    one_each = program.owner.shape == (len(program.Z),) * 2
    with threadpool_limits(1):  # small matrices: threads that wait for each other cost a hundred times the sums
        w, bias = _descend(program) if program.squared and one_each else _satisfy(program)
    return Best(w, bias, worth(program, w, bias))


def _descend(program):
    """Squared slack, one for each constraint, is smooth: no slack variables are needed."""
    d, k = program.Z.shape[1], program.B.shape[1]
    rows = np.c_[program.Z, program.B]
    penalty = program.curve * np.r_[np.ones(d), np.zeros(k)]

    def value(v):
        slack = np.maximum(0.0, program.required - rows @ v)
        pull = 2 * program.price * slack
        return 0.5 * penalty @ v**2 + program.price @ slack**2, penalty * v - pull @ rows

    bounds = [(None, None)] * d + [(-program.reach, program.reach)] * k
    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000, "maxfun": 50_000}
    found = minimize(value, np.zeros(d + k), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return found.x[:d], found.x[d:]


def _satisfy(program):
    """Sequential quadratic programming, from slack that satisfies every constraint."""
    d, k, n = program.Z.shape[1], program.B.shape[1], program.owner.shape[1]
    scale = max(1.0, program.price.sum())

    def value(v):
        slack = v[d + k :]
        return (
            0.5 * program.curve * (v[:d] @ v[:d]) + program.price @ (slack**2 if program.squared else slack)
        ) / scale

    def slope(v):
        slack = v[d + k :]
        prices = program.price * (2 * slack if program.squared else 1.0)
        return np.r_[program.curve * v[:d], np.zeros(k), prices] / scale

    rows = LinearConstraint(np.c_[program.Z, program.B, program.owner], program.required, np.inf)
    bounds = [(None, None)] * d + [(-program.reach, program.reach)] * k + [(0, None)] * n
    start = np.r_[np.zeros(d + k), np.full(n, program.required.max())]
    found = minimize(
        value,
        start,
        jac=slope,
        method="SLSQP",
        bounds=bounds,
        constraints=rows,
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    assert found.status in (0, 8), found.message  # 8: rounding lets the line search go no lower
    return found.x[:d], found.x[d : d + k]
