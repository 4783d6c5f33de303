"""Expectation propagation over a log of answers: one sweep, in the order of the log."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from softmargin.kernels.probit import of_answer

SAFE = 0.1  # of the precision along a row, this share is left by any one step


class Answers(NamedTuple):
    """Different answers, each with how often it was given."""

    rows: np.ndarray  # better minus worse, a line an answer
    kind: np.ndarray  # BETTER or EQUAL
    times: np.ndarray
    judge: np.ndarray  # its place among the errors


class Sites(NamedTuple):
    """For each different answer the Gaussian factor in ``w . row`` that stands for it, once."""

    precision: np.ndarray
    shift: np.ndarray  # precision times mean


@njit(cache=True, nogil=True, error_model="numpy")
def assemble(answers, sites, precision, shift):
    """OUT ``precision`` (lower half), ``shift``: the product of the prior N(0, I) and of all sites."""
    width = shift.shape[0]
    precision[:], shift[:] = 0.0, 0.0
    for t in range(answers.rows.shape[0]):
        row, times = answers.rows[t], answers.times[t]
        p, b = times * sites.precision[t], times * sites.shift[t]
        for i in range(width):
            if row[i] == 0.0:
                continue
            shift[i] += b * row[i]
            pull = p * row[i]
            for j in range(i + 1):
                precision[i, j] += pull * row[j]
    for i in range(width):
        precision[i, i] += 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def invert(precision, shift, least, factor, covariance, mean):
    """OUT ``factor`` (lower triangle L of ``precision = L L'``), ``covariance, mean``; no pivot is below ``least``."""
    width = precision.shape[0]
    factor[:] = 0.0
    for j in range(width):
        pivot = precision[j, j]
        for k in range(j):
            pivot -= factor[j, k] * factor[j, k]
        factor[j, j] = math.sqrt(max(pivot, least))
        for i in range(j + 1, width):
            rest = precision[i, j]
            for k in range(j):
                rest -= factor[i, k] * factor[j, k]
            factor[i, j] = rest / factor[j, j]
    inverse = np.zeros((width, width))  # of the factor
    for j in range(width):
        inverse[j, j] = 1.0 / factor[j, j]
        for i in range(j + 1, width):
            scale = -1.0 / factor[i, i]
            for k in range(j, i):
                pull = scale * factor[i, k]
                inverse[i, j] += pull * inverse[k, j]
    covariance[:] = 0.0
    for k in range(width):
        for i in range(k + 1):
            pull = inverse[k, i]
            for j in range(k + 1):
                covariance[i, j] += pull * inverse[k, j]
    for i in range(width):
        mean[i] = 0.0
        for j in range(width):
            mean[i] += covariance[i, j] * shift[j]


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(answers, sites, mean, covariance, width_of_tie, errors, keep, cavities):
    """OUT ``sites, mean, covariance``: every site matched once; ``cavities``: mean and variance without one answer.

    Returns the largest move of a site, in standard deviations of its row.  ``keep`` is the share of the old site that
    stays.
    """
    width, moved = mean.shape[0], 0.0
    along = np.empty(width)
    for t in range(answers.rows.shape[0]):
        row, times = answers.rows[t], answers.times[t]
        along[:] = 0.0
        for i in range(width):
            pull = row[i]
            if pull != 0.0:
                for j in range(width):
                    along[j] += pull * covariance[i, j]
        v, m = 0.0, 0.0
        for i in range(width):
            v += row[i] * along[i]
            m += row[i] * mean[i]
        left = 1.0 - v * sites.precision[t]
        if left <= 0.0 or v < 0.0:
            continue  # other sites must move first
        v_out, m_out = v / left, (m - v * sites.shift[t]) / left
        cavities[t, 0], cavities[t, 1] = m_out, v_out
        _, slope, curve = of_answer(answers.kind[t], m_out, v_out, width_of_tie, errors[answers.judge[t]])
        less = 1.0 - v_out * curve
        more = (1.0 - keep) * (curve / less - sites.precision[t])
        push = (1.0 - keep) * ((slope + m_out * curve) / less - sites.shift[t])
        if 1.0 + times * more * v < SAFE:
            damp = (SAFE - 1.0) / (times * more * v)
            more, push = more * damp, push * damp
        sites.precision[t] += more
        sites.shift[t] += push
        more, push = times * more, times * push
        grown = 1.0 + more * v
        step, shrink = (push - more * m) / grown, more / grown
        moved = max(moved, abs(step) * math.sqrt(v), abs(shrink) * v)
        for i in range(width):
            mean[i] += step * along[i]
            pull = shrink * along[i]
            if pull != 0.0:
                for j in range(width):
                    covariance[i, j] -= pull * along[j]
    return moved


@njit(cache=True, nogil=True, error_model="numpy")
def log_evidence(answers, cavities, width_of_tie, errors, logs):
    """OUT ``logs``: of each different answer the log probability that the others give it."""
    for t in range(logs.shape[0]):
        error = errors[answers.judge[t]]
        logs[t] = of_answer(answers.kind[t], cavities[t, 0], cavities[t, 1], width_of_tie, error)[0]


@njit(cache=True, nogil=True, error_model="numpy")
def log_likelihood(answers, points, width_of_tie, errors, logs):
    """OUT ``logs``: of each point (a line of weights) the log probability of all answers."""
    width = points.shape[1]
    for i in range(points.shape[0]):
        total = 0.0
        for t in range(answers.rows.shape[0]):
            u = 0.0
            for j in range(width):
                u += answers.rows[t, j] * points[i, j]
            total += answers.times[t] * of_answer(answers.kind[t], u, 0.0, width_of_tie, errors[answers.judge[t]])[0]
        logs[i] = total
