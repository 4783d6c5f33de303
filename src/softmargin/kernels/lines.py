"""Lines of `label [qid:N] index:value ... [# comment]` -> numbers.  docs/files.md is the grammar.

Here it is only found *that* a line is wrong; why, and where in the line, is for who reads it at leisure.
The text ends with the end of a line, so that no loop needs to ask whether there is more.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from softmargin.kernels.decimal import ASK_PYTHON, FINE, MOST_DIGITS, ONE, ZERO, read_digits, read_number
from softmargin.kernels.memory import address_of, byte_at, put_byte
from softmargin.kernels.shortest import LONGEST, count_digits, put_digits, put_number

TWO, THREE, FOUR = np.uint64(2), np.uint64(3), np.uint64(4)
TAB, NEWLINE, RETURN, SPACE, HASH, COLON = b"\t\n\r #:"
NOT_SHORT = 20  # digits, at least, of a number that Python is asked about
LONGEST_PAIR, LONGEST_HEAD = LONGEST + 12, LONGEST + 25  # bytes: " 2147483647:" and a value; label, " qid:", 19 digits
QID = np.frombuffer(b" qid:", dtype=np.uint8)
QID_LIMIT = np.uint64(2**63)


class Room(NamedTuple):
    """What is read goes here: four numbers a row, two a value."""

    labels: np.ndarray
    qids: np.ndarray
    lines: np.ndarray  # of each row, the first of the text being 1
    ends: np.ndarray  # of each row, in the two below
    indices: np.ndarray  # from 0
    data: np.ndarray
    hard: np.ndarray  # row, value (-1 for a label), where the number begins: Python is asked


class Found(NamedTuple):
    """How much of the room was filled, and where a line was wrong."""

    rows: Any
    values: Any
    lines: Any  # up to the fault
    hard: Any
    wrong: Any  # where the first line that is wrong begins; the length of the text where none is
    grouped: Any  # whether the first row names a group
    largest: Any  # index


@njit(cache=True, nogil=True, error_model="numpy")
def count_tokens(text, size):
    """At least as many as there are rows, and values: ends of lines, and colons after a digit."""
    rows = values = 0
    for i in range(size):
        rows += text[i] == NEWLINE
    for i in range(1, size):
        values += (text[i] == COLON) & (text[i - 1] >= 48) & (text[i - 1] <= 57)
    return rows, values


@njit(error_model="numpy")
def _skip_blanks(at):
    while byte_at(at) == SPACE or byte_at(at) == TAB:
        at += ONE
    return at


@njit(error_model="numpy")
def _ends(at):
    """Whether what is read of a line ends here: at its end, or at a comment."""
    byte = byte_at(at)
    return byte in (NEWLINE, HASH) or (byte == RETURN and byte_at(at + ONE) == NEWLINE)


@njit(error_model="numpy")
def _begins_group(at):
    """Whether `qid:` stands here; what is compared stays within the line."""
    return byte_at(at) == 113 and byte_at(at + ONE) == 105 and byte_at(at + TWO) == 100 and byte_at(at + THREE) == COLON


@njit(error_model="numpy")
def _read_whole(at):
    """A whole number without a sign, where it ends, and whether it has 1 to 19 digits."""
    whole, end = read_digits(at, ZERO)
    return whole, end, 1 <= np.int64(end - at) <= MOST_DIGITS


@njit(error_model="numpy")
def _read_group(at):
    """The group where one is named: it, where it ends, whether there is one, and whether it is right."""
    token = _skip_blanks(at)
    if token == at or not _begins_group(token):
        return ZERO, at, False, True
    qid, at, right = _read_whole(token + FOUR)
    if qid >= QID_LIMIT:
        return ZERO, at, True, False
    return qid, at, True, right


@njit(error_model="numpy")
def _skip_comment(at):
    """The end of the line, or a NUL."""
    while byte_at(at) != NEWLINE and byte_at(at) != 0:
        at += ONE
    return at


@njit(cache=True, nogil=True, error_model="numpy")
def read_lines(text, size, limit, room):
    """OUT ``room``: the rows of the text up to the first line that is wrong; no index may be above ``limit``."""
    labels, qids, row_lines, row_ends, all_indices, data, hard_ones = room
    start = address_of(text)
    stop, at = start + np.uint64(size), start
    row, place, hard, lines = ZERO, ZERO, ZERO, 0
    grouped, largest = False, ZERO
    while at < stop:
        begin, place0, hard0, last = at, place, hard, ZERO
        at = _skip_blanks(at)
        right, filled = True, not _ends(at)
        if filled:
            number = at
            value, at, code = read_number(at)
            qid, at, named, right = _read_group(at)
            labels[row], qids[row] = value, qid
            if code == ASK_PYTHON:
                hard_ones[hard, 0], hard_ones[hard, 1], hard_ones[hard, 2] = row, -1, number - start
                hard += ONE
            if row == ZERO:
                grouped = named
            right &= named == grouped and code <= ASK_PYTHON
            while right and not _ends(at):
                token, at = at, _skip_blanks(at)
                if _ends(at):
                    break
                index, number, right = _read_whole(at)
                right &= token != at and byte_at(number) == COLON and last < index <= limit
                if not right:
                    break
                number += ONE
                value, at, code = read_number(number)
                data[place], all_indices[place] = value, np.int64(index) - 1
                if code != FINE:
                    hard_ones[hard, 0], hard_ones[hard, 1], hard_ones[hard, 2] = row, place, number - start
                    hard += ONE
                    right = code <= ASK_PYTHON
                place += ONE
                last = index
        if right and byte_at(at) == HASH:
            at = _skip_comment(at)
            right = byte_at(at) != 0
        if not right:
            return Found(row, place0, lines, hard0, begin - start, grouped, largest)
        lines += 1
        at += ONE if byte_at(at) == NEWLINE else TWO
        if filled:
            row_lines[row], row_ends[row] = lines, place
            row += ONE
            largest = max(largest, last)
    return Found(row, place, lines, hard, stop - start, grouped, largest)


@njit(cache=True, nogil=True, error_model="numpy")
def write_lines(first, last, matrix, labels, qids, text):
    """OUT ``text``: the lines of these rows; how many bytes they are.  ``qids`` is empty where there are no groups."""
    data, indices, indptr = matrix
    start = at = address_of(text)
    for t in range(first, last):
        at = put_number(at, labels[t])
        if qids.size:
            for k in range(5):
                put_byte(at + np.uint64(k), QID[k])
            at = _put_whole(at + np.uint64(5), np.uint64(qids[t]))
        for k in range(indptr[t], indptr[t + 1]):
            put_byte(at, SPACE)
            at = _put_whole(at + ONE, np.uint64(indices[k]) + ONE)
            put_byte(at, COLON)
            at = put_number(at + ONE, data[k])
        put_byte(at, NEWLINE)
        at += ONE
    return at - start


@njit(error_model="numpy")
def _put_whole(at, whole):
    count = count_digits(whole)
    put_digits(at, whole, count)
    return at + np.uint64(count)
