"""How sure the prior should be: the scale with the largest marginal likelihood, from the sums alone.

maximise   log p(y | X, scale * prior)   over the scale
In coordinates where the prior is a unit ball and the products are diagonal (l_i), one scale costs O(d):
    twice loss(scale) = rest + sum_i l_i a_i^2 scale / (scale + l_i),   a the weights without a prior
    log evidence      = 1/2 sum_i log(scale / (scale + l_i)) + what the loss says of the values
Where the noise is unknown it is integrated out, so that the scale is that of the best noise as well.
Source: MacKay 1992, "Bayesian Interpolation"; Bishop 2006, 3.5, with the noise integrated out.
"""

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq

from softmargin.regression.posterior import Posterior, values_alone
from softmargin.regression.prior import SMALLEST, Prior
from softmargin.regression.solve import Centred, centred, threads_for
from softmargin.regression.sums import Sums

BELOW, ABOVE, POINTS = 15.0, 25.0, 161  # how far, in logarithms, to look beyond the smallest and the largest l_i
FURTHEST = 100.0  # of the logarithm of the scale


def best_scale(sums: Sums, about: Centred, prior: Prior, noise: float | None) -> float:
    """The factor on the prior precision with the largest evidence; 1 where there is nothing to judge by."""
    left = sums.totals.copies - sums.constant
    ridge = prior if noise is None else prior.scaled(noise)
    full = np.tril(about.products) + np.tril(about.products, -1).T
    with threads_for(sums.width):
        sizes, vectors = eigh(ridge.whitened(full), check_finite=False)
    real = sizes > sizes.max(initial=0.0) * len(sizes) * np.finfo(np.float64).eps
    if not left > 0.0 or not real.any():
        return 1.0
    sizes, vectors = sizes[real], vectors[:, real]
    start = ridge.root @ sums.origin.weights if ridge.root.ndim == 2 else ridge.root * sums.origin.weights
    step = vectors.T @ ridge.whitened_vector(about.shift) / sizes
    free = vectors.T @ start + step  # the weights without a prior, in these coordinates
    rest = max(0.0, about.square - float(sizes @ step**2))
    paid = sizes * free**2
    if not rest + float(paid.sum()) > SMALLEST**2:
        return 1.0

    def lack(log_scale: np.ndarray | float) -> np.ndarray:
        shrunk = 1.0 / (1.0 + sizes * np.exp(-np.asarray(log_scale)[..., None]))
        loss = rest + shrunk @ paid
        return -np.asarray(0.5 * np.log(shrunk).sum(axis=-1) + values_alone(loss, left, noise))

    def slope(log_scale: float) -> float:
        shrunk = 1.0 / (1.0 + sizes * np.exp(-log_scale))
        turn = shrunk * (1.0 - shrunk)
        share = 1.0 / noise if noise is not None else left / max(rest + float(shrunk @ paid), SMALLEST**2)
        return 0.5 * float((1.0 - shrunk).sum() - share * (turn @ paid))

    low = max(-FURTHEST, float(np.log(sizes.min())) - BELOW)
    high = min(FURTHEST, float(np.log(sizes.max())) + ABOVE)
    grid = np.linspace(low, max(low, high), POINTS)
    best = int(np.argmin(lack(grid)))
    first, last = float(grid[max(0, best - 1)]), float(grid[min(POINTS - 1, best + 1)])
    if slope(first) > 0.0 > slope(last):
        return float(np.exp(brentq(slope, first, last, xtol=1e-13)))
    return float(np.exp(grid[best]))


def posterior_of(sums: Sums, prior: Prior, noise: float | None, *, evidence: bool) -> Posterior:
    """The posterior; with ``evidence`` the prior is first scaled to the largest evidence."""
    if not evidence:
        return Posterior(sums, prior, noise)
    about = centred(sums)
    return Posterior(sums, prior.scaled(best_scale(sums, about, prior, noise)), noise, about)
