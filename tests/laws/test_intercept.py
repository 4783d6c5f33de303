"""How a descent finds a free intercept."""

import numpy as np
import pytest

from softmargin.solvers.descent import Descent


class Overshooting:
    """A descent whose intercept answers every move of its centre by going too far the other way."""

    def __init__(self, target, answer):
        self.target, self.answer = np.array(target), answer
        self.centre = np.zeros(self.target.size)
        self.shift, self.share = np.zeros(self.target.size), np.ones(self.target.size)

    @property
    def bias(self):
        """Where the visits since the last look have left the intercept."""
        return self.centre + self.answer * (self.target - self.centre)


@pytest.mark.parametrize("answer", [0.1, 0.5, 1.0, 1.5, 1.97, 2.5, 5.0])
def test_the_centre_settles_however_far_the_intercept_overshoots(answer):
    """On text an answer of 1.97 went to and fro for hundreds of looks; now sixty bring any of them home."""
    run = Overshooting([0.3, -2.0], answer)
    for _ in range(60):
        Descent.centre_bias(run)
    assert np.allclose(run.centre, run.target, atol=5e-3)
