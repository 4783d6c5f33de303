"""How long a person waits: an answer goes in, everything is fitted again from the whole log, a question comes out."""

import time

import numpy as np
from report import write

from softmargin import PreferencePosterior

ANSWERS, FEATURES, TIMES = 2000, 20, 200


def asked(n: int, judges: int) -> PreferencePosterior:
    """So many answers about n items, an eighth of them "equal", by so many judges with names (0 for nobody)."""
    rng = np.random.default_rng(0)
    X, w = 0.3 * rng.normal(size=(n, FEATURES)), rng.normal(size=FEATURES)
    model = PreferencePosterior(X)
    for t in range(ANSWERS):
        a, b = rng.choice(n, 2, replace=False).tolist()
        seen = (X[a] - X[b]) @ w + rng.normal()
        model.answer(
            a, b, "equal" if abs(seen) < 0.2 else "left" if seen > 0 else "right", t % judges if judges else None
        )
    return model


def waits(model: PreferencePosterior, goal: str, judges: int) -> np.ndarray:
    """Milliseconds from an answer to the next question."""
    (pair,), found = model.suggest(goal), []
    for t in range(TIMES):
        started = time.perf_counter()
        model.answer(*pair, "left" if t % 2 else "right", 0 if judges else None)
        (pair,) = model.suggest(goal)
        found.append(1000.0 * (time.perf_counter() - started))
    return np.array(found)


def lines() -> list[list[str]]:
    """A line for each size, goal and number of judges."""
    table = []
    for n in (1000, 10_000):
        for judges in (0, 8):
            model = asked(n, judges)
            for goal in ("rank", "best"):
                found = waits(model, goal, judges)
                half, most = np.quantile(found, (0.5, 0.95))
                who = "nobody named" if judges == 0 else f"{judges} judges"
                table.append(
                    [f"{n:,} items, {who}, {goal}", f"{half:.1f}", f"{most:.1f}", "50" if n == 1000 else "200"]
                )
    return table


if __name__ == "__main__":
    write(
        "asking", "python benchmarks/bench_asking.py", ("softmargin", "numba", "numpy"),
        ("d = 20, 2,000 answers", "ms, median", "ms, 95 %", "aim"), lines(),
    )  # fmt: skip
