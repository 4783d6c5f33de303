"""What a refusal is: one sentence, and nothing learned."""

import re

import numpy as np
import pytest


def one_sentence(message):
    """Whether a message is one sentence on one line."""
    return "\n" not in message and not re.search(r"[.!?] +[A-Z]", message)


def complaint(call):
    """What a call says when it refuses, or None where it does not."""
    try:
        call()
    except (ValueError, OverflowError, NotImplementedError) as error:
        return str(error)
    return None


def refused(call, *named):
    """The call is refused with ValueError or TypeError, in one sentence in which every pattern of ``named`` occurs."""
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    message = str(caught.value)
    assert one_sentence(message), message
    for pattern in named:
        assert re.search(pattern, message), (pattern, message)


def state(model):
    """Everything that a model has learned."""
    regret = model.regret_
    arrays = [model.coef_, getattr(model, "intercept_", 0), getattr(model, "classes_", 0), model.n_features_in_]
    return [
        np.array(part) for part in (*arrays, regret.steps, regret.paid, regret.gain, regret.u_norm2, regret.mistakes)
    ]


def same(one, other):
    """Whether two models have learned the same, to the last bit."""
    return all(np.array_equal(a, b) for a, b in zip(state(one), state(other), strict=True))
