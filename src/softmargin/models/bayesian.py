"""What a Bayesian regression is made of: its parameters, the sums of its rows, and those that wait to be summed."""

from typing import Any

import numpy as np
from scipy import sparse

from softmargin.estimators.bayes import PARAMETERS
from softmargin.models.values import Record, UnknownValueError, is_a
from softmargin.regression.design import Origin, Rows
from softmargin.regression.learner import KEPT, Learner
from softmargin.regression.prior import prior_of
from softmargin.regression.reweigh import LogNoise, Spec, Weighing
from softmargin.regression.sums import Sums, Totals

ASKED = (str, bool, int, float, list, tuple, np.ndarray, type(None))
VECTOR, NUMBER, COUNT, TRUTH, NOTHING = np.ndarray, float, int, bool, type(None)
NOISE = ("middle", "scale", "theta", "information", "start", "prior")  # arrays of ``LogNoise``


def refuse_unless(fine: Any) -> None:
    """The parts are those of one regression."""
    if not fine:
        message = "holds sums and rows that do not belong to one regression"
        raise UnknownValueError(message)


def is_float64(value: Any, *shape: int) -> bool:
    """An array of this shape, which is all that compiled loops rely on."""
    return isinstance(value, np.ndarray) and value.dtype == np.float64 and value.shape == shape


# ----------------------------------------------------------------------------------- parts of a state


def spec_of(prior: np.ndarray, width: int, **rest: Any) -> Spec:
    """What was asked for, with a prior of that many weights."""
    try:
        return Spec(prior_of(prior, width), **rest)
    except ValueError:
        message = "holds a prior that is none"
        raise UnknownValueError(message) from None


def noise_of(around: float, **arrays: np.ndarray) -> LogNoise:
    """A model of the noise, which a fit makes from rows and a file from its parts."""
    width = arrays["middle"].size
    refuse_unless(is_float64(arrays["information"], width + 1, width + 1))
    refuse_unless(all(is_float64(arrays[name], width) for name in ("middle", "scale")))
    refuse_unless(all(is_float64(arrays[name], width + 1) for name in ("theta", "start", "prior")))
    noise = LogNoise.__new__(LogNoise)
    vars(noise).update(arrays, around=around)
    return noise


def sparse_of(shape: tuple[Any, ...], data: np.ndarray, indices: np.ndarray, indptr: np.ndarray) -> Any:
    """Sparse rows whose indices lead nowhere else; SciPy's own check lets negative ends of rows pass."""
    refuse_unless(len(shape) == 2 and all(is_a(side, int) and side >= 0 for side in shape))
    refuse_unless(all(part.dtype in (np.int32, np.int64) for part in (indices, indptr)))
    refuse_unless(data.shape == indices.shape == (data.size,) and indptr.shape == (shape[0] + 1,))
    # Compared, not subtracted: a difference can wrap around.
    refuse_unless(indptr[0] == 0 and indptr[-1] == data.size and (indptr[:-1] <= indptr[1:]).all())
    refuse_unless(((indices >= 0) & (indices < shape[1])).all())
    return sparse.csr_matrix((data, indices, indptr), shape=shape)


def sparse_array_of(**parts: Any) -> Any:
    """The same rows in SciPy's newer class."""
    return sparse.csr_array(sparse_of(**parts))


STATE = {
    "Origin": Record(Origin, {"middle": VECTOR, "weights": VECTOR, "level": NUMBER}),
    "Totals": Record(Totals, {"copies": NUMBER, "log_precision": NUMBER, "variance": NUMBER}),
    "LogNoise": Record(LogNoise, {**dict.fromkeys(NOISE, VECTOR), "around": NUMBER}, noise_of),
    "Weighing": Record(
        Weighing,
        {"dof": NUMBER, "noise": (LogNoise, NOTHING), "passes": COUNT, "step": NUMBER, "converged": TRUTH},
    ),
}
CSR = {"shape": tuple, "data": VECTOR, "indices": VECTOR, "indptr": VECTOR}
RECORDS = {
    **STATE,
    "csr": Record(sparse.csr_matrix, CSR, sparse_of),
    "csr array": Record(sparse.csr_array, CSR, sparse_array_of),
}


# ----------------------------------------------------------------------------------- to a file


def store(model: Any, known: dict[str, Any]) -> dict[str, Any]:
    """Parameters, names of columns and, once it has learned, sums, weights of rows and rows that wait."""
    names = model.get_params(deep=False).keys()
    allowed = {*names, "n_features_in_", "feature_names_in_", "_learner", "_asked", "_one_row"}
    for name in known.keys() - allowed:
        message = f"{name} is nothing that a {type(model).__name__} has, and a model file would lose it"
        raise UnknownValueError(message)
    state = {
        "parameters": {name: known[name] for name in names},
        "columns": {name: known[name] for name in ("n_features_in_", "feature_names_in_") if name in known},
        "learned": None,
    }
    if "_learner" in known:
        learner: Learner = known["_learner"]
        spec, sums = learner.spec, learner.sums
        asked = {name: getattr(spec, name) for name in Spec._fields if name != "prior"}
        state["learned"] = {
            "asked": known["_asked"],
            "spec": {"prior": spec.prior.precision, "width": learner.width, **asked},
            "sums": {name: getattr(sums, name) for name in ("moments", "origin", "totals", "settled", "fresh")},
            "weighing": learner.weighing,
            "waiting": [tuple(rows) for rows in learner.waiting],
            "kept": learner.kept[: learner.count],
            "values": learner.values[: learner.count],
        }
    return state


# ----------------------------------------------------------------------------------- and back


def rebuild(kind: type, state: dict[str, Any]) -> Any:
    """The model again."""
    refuse_unless(state.keys() == {"parameters", "columns", "learned"})
    parameters, columns, learned = state["parameters"], state["columns"], state["learned"]
    model: Any = kind()
    refuse_unless(parameters.keys() == model.get_params(deep=False).keys())
    asked = () if learned is None else learned["asked"]
    refuse_unless(isinstance(asked, tuple) and all(isinstance(one, ASKED) for one in (*asked, *parameters.values())))
    model.set_params(**parameters)
    width = columns.get("n_features_in_", 0)
    names = columns.get("feature_names_in_")
    refuse_unless(columns.keys() <= {"n_features_in_", "feature_names_in_"} and is_a(width, int) and width >= 0)
    refuse_unless(names is None or (names.shape == (width,) and all(isinstance(name, str) for name in names)))
    known = dict(columns)
    if learned is not None:
        learner = learner_of(width, **learned)
        # The short way of one row looks whether parameters are the very objects that were there at the start.
        now = tuple(parameters[name] for name in PARAMETERS)
        asked = tuple(one if np.array_equal(one, other) else other for one, other in zip(now, asked, strict=True))
        plain = not learner.spec.reweighs and now[1] != "rows" and names is None
        known.update(_learner=learner, _asked=asked, _one_row=(1, width) if plain else None)
    vars(model).update(known)
    return model


def learner_of(width: int, spec: dict[str, Any], sums: dict[str, Any], weighing: Any, waiting: Any, kept: Any,
               values: Any, asked: Any) -> Learner:  # fmt: skip
    """A learner all of whose arrays are as wide as its rows."""
    refuse_unless(isinstance(asked, tuple) and spec["width"] == width and is_a(spec["noise"], (float, NOTHING)))
    truths = "constant", "student", "loglinear", "evidence"
    refuse_unless(all(is_a(spec[name], bool) for name in truths) and is_a(spec["forgetting"], float))
    refuse_unless(0.0 < spec["forgetting"] <= 1.0 and (spec["noise"] is None or 0.0 < spec["noise"] < float("inf")))
    refuse_unless(is_float64(sums["moments"], *2 * (width + 1 + spec["constant"],)))  # before so much room is made
    learner = Learner(spec_of(**spec), width)
    learner.sums = sums_of(learner.sums, **sums)
    refuse_unless(weighing is None or isinstance(weighing, Weighing))
    noise = None if weighing is None else weighing.noise
    refuse_unless((noise is not None) == (spec["loglinear"] and weighing is not None))
    refuse_unless(noise is None or noise.middle.size == width)
    learner.weighing, learner.waiting = weighing, [rows_waiting(width, *rows) for rows in waiting]
    learner.count = len(values)
    refuse_unless(learner.count <= KEPT and is_float64(kept, learner.count, width) and is_float64(values, len(values)))
    if learner.count:
        learner.kept, learner.values = np.empty((KEPT, width)), np.empty(KEPT)
        learner.kept[: learner.count], learner.values[: learner.count] = kept, values
    return learner


def sums_of(sums: Sums, moments: Any, origin: Any, totals: Any, settled: Any, fresh: Any) -> Sums:
    """OUT ``sums``: of no rows before, of these now."""
    width = sums.width
    refuse_unless(is_float64(moments, *sums.moments.shape) and isinstance(origin, Origin))
    refuse_unless(is_float64(origin.middle, width) and is_float64(origin.weights, width))
    refuse_unless(isinstance(totals, Totals) and is_a(settled, float) and is_a(fresh, float))
    sums.moments, sums.origin, sums.totals, sums.settled, sums.fresh = moments, origin, totals, settled, fresh
    return sums


def rows_waiting(width: int, X: Any, y: Any, weight: Any, variance: Any) -> Rows:
    """Rows that wait to be weighed: as many values, weights and variances as rows."""
    refuse_unless(X.ndim == 2 and X.dtype in (np.float64, np.float32) and X.shape[1] == width)
    columns = (part for part in (y, weight, variance) if part is not None)
    refuse_unless(y is not None and all(is_float64(part, X.shape[0]) for part in columns))
    return Rows(X, y, weight, variance)
