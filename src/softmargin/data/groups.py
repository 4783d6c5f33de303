"""Groups stand together: which were seen, and on which line each was last, at 16 bytes a group."""

import numpy as np


class SeenGroups:
    """The groups of the rows so far; rows come in order, in parts of any size."""

    def __init__(self) -> None:
        self.closed: list[tuple[np.ndarray, np.ndarray]] = []  # sorted groups and their last lines; halving in size
        self.highest = -1
        self.open = (-1, 0)  # the group of the last row, and its line

    def add(self, qids: np.ndarray, lines: np.ndarray) -> int:
        """The first of these rows whose group comes back after another, and nothing is added; or -1, and all are."""
        goes_on = bool(self.open[1]) and self.open[0] == qids[0]
        begins = np.flatnonzero(np.concatenate(([not goes_on], qids[1:] != qids[:-1])))
        if begins.size == 0:
            self.open = int(qids[-1]), int(lines[-1])
            return -1
        groups = qids[begins]
        before = np.maximum.accumulate(np.concatenate(([max(self.highest, self.open[0])], groups[:-1])))
        known = np.flatnonzero(groups <= before)
        if known.size and (back := self._first_back(groups, known)) >= 0:
            return int(begins[back])
        ends = np.concatenate((begins[1:], [qids.size])) - 1
        self._close(groups[:-1], lines[ends[:-1]], first_line=int(lines[begins[0] - 1]) if begins[0] else 0)
        self.open = int(groups[-1]), int(lines[ends[-1]])
        return -1

    def last_line(self, group: int) -> int | None:
        """The last line of a group, or None where it was not seen."""
        if self.open[1] and self.open[0] == group:
            return self.open[1]
        for groups, lines in self.closed:
            at = int(np.searchsorted(groups, group))
            if at < groups.size and groups[at] == group:
                return int(lines[at])
        return None

    def _first_back(self, groups: np.ndarray, suspects: np.ndarray) -> int:
        """The first run of rows, of those in question, whose group was there before; or -1."""
        _, first = np.unique(groups, return_index=True)
        back = np.ones(groups.size, dtype=bool)
        back[first] = False
        asked = groups[suspects]
        for closed, _ in (*self.closed, (np.array([self.open[0]]), None)):
            at = np.minimum(np.searchsorted(closed, asked), closed.size - 1)
            back[suspects] |= closed[at] == asked
        return int(np.argmax(back)) if back.any() else -1

    def _close(self, groups: np.ndarray, lines: np.ndarray, first_line: int) -> None:
        if self.open[1]:
            groups = np.concatenate(([self.open[0]], groups))
            lines = np.concatenate(([first_line or self.open[1]], lines))
        if groups.size == 0:
            return
        order = np.argsort(groups)
        new = groups[order], lines[order]
        while self.closed and self.closed[-1][0].size <= 2 * new[0].size:
            other = self.closed.pop()
            groups, lines = np.concatenate((other[0], new[0])), np.concatenate((other[1], new[1]))
            order = np.argsort(groups, kind="stable")
            new = groups[order], lines[order]
        self.closed.append(new)
        self.highest = max(self.highest, int(new[0][-1]))
