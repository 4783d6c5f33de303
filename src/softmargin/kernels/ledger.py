"""The ledger of an online run: where it stands, what it paid, and what any fixed comparator must have paid.

A constraint met at step t pays ``f_t(w_t) = lam/2 |w_t|^2 + price_t loss(slack_t)``.  The tangent taken there,
``l_t(w) = lam/2 |w|^2 + force_t (required_t - w.z_t) - conjugate_t``, lies below ``f_t`` everywhere.  The minimum of
the sum of tangents is known in closed form, so

    min_w sum f_t(w)  >=  sum (force_t required_t - conjugate_t) - |sum force_t z_t|^2 / (2 lam T)

costs O(1) a step.  For unprojected steps 1/(lam t) the two sides of ``paid - lower`` and ``sum |g_t|^2 / (2 lam t)``
are equal, which is the regret bound of the notes without a worst case in it.
"""

import numpy as np
from numba import njit

NO_AVERAGE, MEAN, WEIGHTED = 0, 1, 2

LEDGER = np.dtype(
    [
        ("steps", "f8"),  # constraints met
        ("before", "f8"),  # constraints that the starting weights had already met
        ("scale", "f8"),  # w = scale * v
        ("scale_sum", "f8"),  # sum of averaging weight * scale since the last fold
        ("weight_sum", "f8"),  # sum of averaging weights
        ("v_norm2", "f8"),  # |v|^2
        ("u_norm2", "f8"),  # |sum force z|^2, where the run keeps that sum apart
        ("paid", "f8"),  # sum of f_t(w_t)
        ("gain", "f8"),  # sum of force * required - conjugate
        ("gradients", "f8"),  # sum of squared gradients of the loss part
        ("longest", "f8"),  # largest |z|^2 among violated constraints
        ("steepest", "f8"),  # largest |g_t|^2
        ("farthest", "f8"),  # largest |w_t|^2
        ("idle", "f8"),  # what w = 0 would have paid
        ("reach", "f8"),  # largest |bias| used
        ("violated", "f8"),  # constraints met inside the margin
        ("mistakes", "f8"),  # constraints met on the wrong side, or undecided
        ("stride", "f8"),  # steps from one trace record to the next
        ("next", "f8"),  # the step of the next trace record
        ("records", "i8"),  # trace records written
    ]
)

TRACE = np.dtype(
    [
        ("steps", "f8"),
        ("paid", "f8"),
        ("gain", "f8"),  # the comparator's loss is at least: share * gain
        ("u_norm2", "f8"),  # - share^2 * u_norm2 / (2 lam steps), for any share between 0 and 1
        ("steepest", "f8"),
        ("farthest", "f8"),
        ("idle", "f8"),
        ("violated", "f8"),
        ("mistakes", "f8"),
    ]
)


@njit(cache=True, nogil=True, error_model="numpy")
def record(ledger, strong, unbalanced, lam, trace):
    """OUT ``trace``: one more record of where the run stands.

    ``unbalanced`` is the 1-norm of the force on the free intercepts.  They are not penalised, so the comparator's
    are confined to the largest absolute value that the run itself has used.
    """
    steps, u_norm2 = ledger["steps"], ledger["u_norm2"]
    if strong:
        u_norm2 = (lam * steps * ledger["scale"]) ** 2 * ledger["v_norm2"]
    line = trace[ledger["records"]]
    line["steps"] = steps
    line["paid"] = ledger["paid"]
    line["gain"] = ledger["gain"] - ledger["reach"] * unbalanced
    line["u_norm2"] = u_norm2
    line["steepest"] = np.sqrt(ledger["steepest"])
    line["farthest"] = np.sqrt(ledger["farthest"])
    line["idle"] = ledger["idle"]
    line["violated"] = ledger["violated"]
    line["mistakes"] = ledger["mistakes"]
    ledger["records"] += 1
    ledger["next"] += ledger["stride"]
