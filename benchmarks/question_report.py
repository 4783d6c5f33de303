"""The tables of ``questions.py``: medians, and ratios of medians with intervals from resampled seeds."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

RESAMPLED = 2000
RULES = ("random", "sort", "uncertainty", "bald", "bald-repeats", "eubo")
TAU = (("random", "bald"), ("random", "bald-repeats"), ("uncertainty", "bald"), ("sort", "bald"))


def tables(runs: list[dict[str, Any]], settings: Sequence[Any]) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Name, heading and lines of each table."""
    yield (
        "questions-tau",
        ["setting", "seeds", *RULES[:5], *(f"{one} / {other}" for one, other in TAU)],
        [answers(runs, one, "tau", RULES[:5], TAU)
         for one in settings if seeds_of(runs, one)],
    )  # fmt: skip
    yield (
        "questions-regret",
        ["setting", "seeds", *RULES, "random / eubo", "random / bald"],
        [answers(runs, one, "regret", RULES, (("random", "eubo"), ("random", "bald")))
         for one in settings if seeds_of(runs, one)],
    )  # fmt: skip
    yield (
        "questions-told",
        ["setting", "tau after 20, 40, 80", "expected", "apart, one run", "ranks inside 95 %"],
        [told(runs, one) for one in settings if seeds_of(runs, one)],
    )


def seeds_of(runs: list[dict[str, Any]], setting: Any) -> list[int]:
    """Seeds that all rules have run."""
    sets = [{run["seed"] for run in runs if run["setting"] == setting.name and run["rule"] == rule} for rule in RULES]
    return sorted(set.intersection(*sets))


def counts(runs: list[dict[str, Any]], setting: Any, figure: str, rule: str, seeds: list[int]) -> np.ndarray:
    """Answers needed, for each seed; a run that never got there counts as one more than all."""
    found = {run["seed"]: run[figure] for run in runs if run["setting"] == setting.name and run["rule"] == rule}
    return np.array([setting.most + 1 if found[seed] is None else found[seed] for seed in seeds], dtype=float)


def answers(
    runs: list[dict[str, Any]], setting: Any, figure: str, rules: Sequence[str], ratios: Sequence[tuple[str, str]]
) -> list[str]:
    """One line: medians (with the share that got there, where not all did) and ratios of medians."""
    seeds = seeds_of(runs, setting)
    needed = {rule: counts(runs, setting, figure, rule, seeds) for rule in RULES}
    line = [setting.name, str(len(seeds))]
    for rule in rules:
        median, got = np.median(needed[rule]), float((needed[rule] <= setting.most).mean())
        text = f"> {setting.most}" if median > setting.most else f"{median:g}"
        line.append(text if got == 1.0 else f"{text} ({got:.0%})")
    rng = np.random.default_rng(0)
    picks = rng.integers(0, len(seeds), (RESAMPLED, len(seeds)))
    for one, other in ratios:
        above, below = np.median(needed[one]), np.median(needed[other])
        ratio = np.median(needed[one][picks], axis=1) / np.median(needed[other][picks], axis=1)
        low, high = np.quantile(ratio, (0.025, 0.975))
        line.append(f"{'> ' if above > setting.most else ''}{above / below:.2f} ({low:.2f} to {high:.2f})")
    return line


def told(runs: list[dict[str, Any]], setting: Any) -> list[str]:
    """What BALD's posterior said of itself: expected tau beside the true one, and coverage of rank intervals."""
    looks = [run["looks"] for run in runs if run["setting"] == setting.name and run["rule"] == "bald"]
    parts = np.array([[look[at] for at in ("20", "40", "80")] for look in looks])  # run, answers, figure
    true, expected, inside = parts[:, :, 0], parts[:, :, 2], parts[:, :, 3]
    return [
        setting.name,
        ", ".join(f"{value:.3f}" for value in true.mean(axis=0)),
        ", ".join(f"{value:.3f}" for value in expected.mean(axis=0)),
        ", ".join(f"{value:.3f}" for value in np.abs(expected - true).mean(axis=0)),
        ", ".join(f"{value:.3f}" for value in inside.mean(axis=0)),
    ]
