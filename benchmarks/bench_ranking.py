"""Ranking from graded groups and from comparisons, beside those who list the pairs: docs/benchmarks.md.

python benchmarks/bench_ranking.py             all three parts
python benchmarks/bench_ranking.py --growth    one group of a thousand to a million rows
python benchmarks/bench_ranking.py --groups    two sets of graded groups: seconds to a gap, NDCG
python benchmarks/bench_ranking.py --pairs     held-out accuracy on comparisons that people made
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from ranking_data import one_group
from report import measured, put, table

from softmargin import SoftMarginRanker

SIZES = (1_000, 10_000, 100_000, 1_000_000)
PRICES = (1.0, 1000.0)
TOL, PASSES, EXPONENT = 1e-3, 200, 1.15
COMMAND = "make bench-ranking"
PACKAGES = ("softmargin", "scikit-learn", "numba", "numpy")


def one(rows: int, C: float) -> dict[str, float]:
    """One fit in a process of its own: the kernels are there, the memory is fresh; the best of up to five runs."""
    warnings.simplefilter("ignore")
    model = SoftMarginRanker(C=C, groups="equal", tol=TOL, random_state=0)
    model.fit(*one_group(300))
    X, y = one_group(rows)
    before, seconds = _resident(), []
    while not seconds or (len(seconds) < 5 and sum(seconds) < 3.0):
        started = time.perf_counter()
        model.fit(X, y)
        seconds.append(time.perf_counter() - started)
    proof, pairs = model.certificate_, model.groups_.pairs
    return {
        "rows": rows, "C": C, "pairs": float(np.sum(pairs)), "seconds": min(seconds), "gap": proof.relative_gap,
        "passes": proof.passes, "X": X.nbytes / 1e6, "before": before, "peak": _peak(), "solver": proof.solver,
    }  # fmt: skip


def _resident() -> float:
    """MB in use now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def _peak() -> float:
    """The most MB in use so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def exponent(cells: list[dict[str, float]]) -> float:
    """The slope of log seconds over log rows."""
    return float(np.polyfit(*np.log([[cell["rows"], cell["seconds"]] for cell in cells]).T, 1)[0])


def growth() -> None:
    """The table of one group that grows, and what was wanted of it."""
    cells = []
    for C in PRICES:
        for rows in SIZES:
            done = subprocess.run(  # noqa: S603 our own program
                [sys.executable, __file__, "--one", str(rows), str(C)], capture_output=True, check=True
            )
            cells.append(json.loads(done.stdout))
            print(cells[-1], flush=True)
    lines = [
        [
            f"{cell['rows']:,}", f"{cell['pairs']:.2g}", f"{cell['C']:g}", f"{cell['seconds']:.3g}",
            f"{cell['gap']:.0e}", f"{cell['solver']}, {cell['passes']:.0f}", f"{cell['X']:.0f}",
            f"{max(0.0, cell['peak'] - cell['before']):.0f}", f"{cell['peak']:.0f}",
        ]
        for cell in cells
    ]  # fmt: skip
    heading = (
        "rows", "pairs", "C", "s", "certified gap", "how, passes", "X, MB", "beside what was there, MB", "peak, MB",
    )  # fmt: skip
    put("ranking-growth", [measured(COMMAND, PACKAGES), "", *verdicts(cells), "", *table(heading, lines)])


def verdicts(cells: list[dict[str, float]]) -> list[str]:
    """What was wanted of growth, and whether it was reached."""

    def said(met: object, text: str) -> str:
        return f"- **{'met' if met else 'missed'}**: {text}"

    lines = [said(
        all(cell["gap"] <= TOL for cell in cells),
        f"largest certified gap {max(cell['gap'] for cell in cells):.1e}; wanted {TOL:g}.",
    )]  # fmt: skip
    for C in PRICES:
        own = [cell for cell in cells if cell["C"] == C]
        slope, last = exponent(own), exponent(own[-2:])
        lines += [
            said(
                max(slope, last) <= EXPONENT,
                f"C = {C:g}: time grows with exponent {slope:.2f} from {SIZES[0]:,} to {SIZES[-1]:,} rows, "
                f"{last:.2f} over the last factor of ten; wanted {EXPONENT} at most.",
            ),
            said(
                own[-1]["passes"] <= PASSES,
                f"C = {C:g}: {own[-1]['pairs']:.1g} pairs within {own[-1]['passes']:.0f} passes; wanted {PASSES}.",
            ),
            said(
                (beside := own[-1]["peak"] - own[-1]["before"]) <= 1.2 * 10 * (own[-2]["peak"] - own[-2]["before"]),
                f"C = {C:g}: memory beside what was there {beside / own[-1]['X']:.2f} times X at {SIZES[-1]:,} rows, "
                f"{(own[-2]['peak'] - own[-2]['before']) / own[-2]['X']:.2f} times X at {SIZES[-2]:,}; wanted linear.",
            ),
        ]
    return lines


def groups() -> None:
    """The tables of the two sets of graded groups."""
    import ranking_groups

    packages = (*PACKAGES[:2], "lightgbm", *PACKAGES[2:])
    said, races, rankings = ranking_groups.measure()
    put("ranking-verdicts", [measured(COMMAND, packages), "", *said])
    put("ranking-races", [measured(COMMAND, packages), "", *table(ranking_groups.RACES, races)])
    put("ranking-quality", [measured(COMMAND, packages), "", *table(ranking_groups.RANKINGS, rankings)])


def pairs() -> None:
    """The table of comparisons."""
    import ranking_pairs

    packages = (*PACKAGES[:2], "choix", *PACKAGES[2:])
    put("ranking-pairs", [measured(COMMAND, packages), "", *table(ranking_pairs.HEADING, ranking_pairs.lines())])


def main() -> None:
    """The parts that are asked for, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for part in ("growth", "groups", "pairs"):
        parser.add_argument(f"--{part}", action="store_true")
    parser.add_argument("--one", nargs=2, metavar=("ROWS", "C"), help="one fit of --growth; prints JSON")
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(one(int(asked.one[0]), float(asked.one[1]))))
        return
    parts = {"growth": growth, "groups": groups, "pairs": pairs}
    for part in [part for part in parts if getattr(asked, part)] or parts:
        parts[part]()


if __name__ == "__main__":
    main()
