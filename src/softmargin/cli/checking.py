"""``check``: what is wrong with comparisons before anything is learned from them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from softmargin.cli.speak import Speaker
from softmargin.constraints.cycles import find_cycles
from softmargin.data import read_comparisons, read_items
from softmargin.data.items import Comparisons, Items
from softmargin.data.tables import read_table
from softmargin.diagnostics.conflicts import find_conflict

MOST_SHOWN = 10
MOST_PAIRS = 200_000  # that a conflict is searched in
UNEVEN = 1e3  # times another, that a feature may spread


@dataclass(frozen=True)
class Verdict:
    """What was found; empty lists are good news."""

    comparisons: int
    equal: int
    duplicates: int  # pairs said more than once, the same way
    contradictions: list[list[str]]  # said both ways
    cycles: list[list[str]]
    conflict: list[list[str]] | None  # None: none, or not searched for
    never: list[str]  # items that are in no comparison
    parts: int  # groups of items with no comparison between them
    constant: list[str]  # features that are the same everywhere
    uneven: list[str]  # features that spread a thousand times as much as the median one

    @property
    def clean(self) -> bool:
        """Whether there is nothing to look at."""
        return not (self.contradictions or self.cycles or self.conflict or self.never or self.constant or self.uneven) \
            and self.parts <= 1  # fmt: skip


def ids_in(path: Path) -> list[str]:
    """All ids that comparisons name, in the order of the alphabet: where there is no table of items."""
    table = read_table(path)
    found: set[str] = set()
    for side in ("better", "worse"):
        table.need(side, f"the id of the {side} item of each row")
        found |= {str(one) for one in table.words(side).to_pylist()}
    return sorted(found)


def verdict_of(told: Comparisons, ids: np.ndarray, items: Items | None) -> Verdict:
    """Look at comparisons, and at features where there are any."""
    pairs = told.pairs
    names = np.asarray(ids, dtype=object)
    unique, count = np.unique(pairs, axis=0, return_counts=True) if len(pairs) else (pairs, np.zeros(0))
    said = {(int(a), int(b)) for a, b in unique}
    both = sorted((a, b) for a, b in said if a < b and (b, a) in said)
    equal = told.equal.pairs if told.equal is not None else np.zeros((0, 2), dtype=np.int64)
    ties = np.concatenate([pairs, equal])
    graph = csr_array((np.ones(len(ties)), (ties[:, 0], ties[:, 1])), shape=(len(names), len(names)))
    seen = np.unique(ties)
    part = connected_components(graph, directed=False)[1]
    cycles = find_cycles(pairs) if len(pairs) else []
    conflict = None
    if items is not None and 0 < len(pairs) <= MOST_PAIRS and not cycles:
        found = find_conflict(items.X, pairs)
        conflict = None if found is None else [[str(names[a]), str(names[b])] for a, b in pairs[found.rows]]
    return Verdict(
        comparisons=len(pairs), equal=len(equal), duplicates=int((count - 1).sum()),
        contradictions=[[str(names[a]), str(names[b])] for a, b in both],
        cycles=[[str(names[one]) for one in cycle] for cycle in cycles], conflict=conflict,
        never=[str(name) for name in np.delete(names, seen)], parts=int(np.unique(part[seen]).size) if seen.size else 0,
        **features_of(items),
    )  # fmt: skip


def features_of(items: Items | None) -> dict[str, Any]:
    """Features that cannot help, or that drown the others."""
    if items is None:
        return {"constant": [], "uneven": []}
    spread = np.std(items.X, axis=0)
    live = spread[spread > 0]
    middle = np.median(live) if live.size else 1.0
    names = items.feature_names
    return {
        "constant": [str(name) for name in names[spread == 0]],
        "uneven": [str(name) for name in names[(spread > UNEVEN * middle)]],
    }


def say_verdict(speaker: Speaker, found: Verdict) -> None:
    """A line for each thing to look at."""
    speaker.tell(check=vars(found) | {"clean": found.clean})
    speaker.say(f'{found.comparisons:,} comparisons, {found.equal:,} answers "equal", {found.duplicates:,} said again')
    lines = (
        ("said both ways", [" and ".join(pair) for pair in found.contradictions]),
        ("cycles, which no score can satisfy", [" over ".join([*cycle, cycle[0]]) for cycle in found.cycles]),
        ("conflict, which no linear score of these features can satisfy",
         [" over ".join(pair) for pair in found.conflict or []]),
        ("items that were never compared", found.never),
        ("features that are the same for all items", found.constant),
        (f"features that spread {UNEVEN:g} times as much as others (--standardise evens them out)", found.uneven),
    )  # fmt: skip
    for what, those in lines:
        if those:
            more = f", and {len(those) - MOST_SHOWN} more" if len(those) > MOST_SHOWN else ""
            speaker.say(f"- {len(those)} {what}: {'; '.join(those[:MOST_SHOWN])}{more}")
    if found.parts > 1:
        speaker.say(
            f"- the items fall into {found.parts} parts that nobody compared: only features rank one with another"
        )
    if found.clean:
        speaker.say("nothing to complain about")


def check(speaker: Speaker, comparisons: Path, items_file: Path | None) -> None:
    """Read both tables and say what is to be said."""
    items = None if items_file is None else read_items(items_file)
    ids = np.array(ids_in(comparisons), dtype=object) if items is None else items.ids
    told = read_comparisons(comparisons, list(ids) if items is None else items)
    say_verdict(speaker, verdict_of(told, ids, items))
