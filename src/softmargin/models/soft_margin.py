"""What a soft-margin model is made of: its parameters, what it has learned, and the stream it is in."""

from contextlib import suppress
from typing import Any

import numpy as np

from softmargin.constraints.graded import GroupCounts
from softmargin.models.values import Record, UnknownValueError, is_a
from softmargin.schedules import NAMES, Steps
from softmargin.solvers.certificate import Certificate
from softmargin.solvers.online import AVERAGING, FORMS, PLAIN_PARTS, OnlineRun, Plan


def plan_of(steps: Steps, **rest: Any) -> Plan:
    """A plan that a kernel can follow."""
    fine = steps.kind in NAMES and steps.given is None and steps.first >= 0 and rest["form"] in FORMS
    if not fine or rest["averaging"] not in AVERAGING.values() or rest["width"] < 0 or rest["classes"] < 0:
        message = "holds a stream with a plan that no stream has"
        raise UnknownValueError(message)
    return Plan(steps, **rest)


def run_of(plan: Plan, parts: dict[str, Any]) -> OnlineRun:
    """A run whose arrays are as long as its plan says: kernels do not look."""
    fine = parts.keys() == {*PLAIN_PARTS, "ledger", "trace"}
    fine = fine and isinstance(parts["ledger"], dict) and isinstance(parts["trace"], dict)
    fine = fine and all(_is_float64(part) for part in [*map(parts.get, PLAIN_PARTS), *parts["trace"].values()])
    fine = fine and all(is_a(number, float) for number in parts["ledger"].values())
    shape = (plan.width, plan.classes) if plan.classes else (plan.width,)
    if fine and parts["v"].shape == shape and parts["forces"].ndim > 0:
        run = OnlineRun(plan, len(parts["forces"]))
        with suppress(ValueError, OverflowError):
            run.stand_at(parts)
            return run
    message = "holds a stream whose parts do not fit together"
    raise UnknownValueError(message)


NUMBER, COUNT, TEXT, TRUTH = float, int, str, bool
RECORDS = {
    "Certificate": Record(
        Certificate,
        {"primal": NUMBER, "dual": NUMBER, "gap": NUMBER, "relative_gap": NUMBER, "distance": NUMBER,
         "converged": TRUTH, "solver": TEXT, "passes": NUMBER, "seconds": NUMBER, "reason": TEXT},
    ),
    "GroupCounts": Record(GroupCounts, dict.fromkeys(GroupCounts._fields, COUNT)),
    "Steps": Record(Steps, {"kind": TEXT, "lam": NUMBER, "step0": NUMBER, "given": type(None), "first": COUNT}),
    "Plan": Record(
        Plan,
        {"steps": Steps, "width": COUNT, "averaging": COUNT, "squared": TRUTH, "free_bias": TRUTH, "classes": COUNT,
         "form": TEXT},
        plan_of,
    ),
    "OnlineRun": Record(OnlineRun, {"plan": Plan, "parts": dict}, run_of),
}  # fmt: skip

# What may be learned, and of which type; ``_live`` is made again from the rest.
LEARNED: dict[str, Any] = {
    "n_features_in_": COUNT, "feature_names_in_": np.ndarray, "classes_": np.ndarray, "dual_": np.ndarray,
    "support_pairs_": np.ndarray, "pair_dual_": np.ndarray, "stiffness_": NUMBER, "groups_": GroupCounts,
    "certificate_": Certificate, "n_iter_": COUNT, "_weights": tuple, "_run": (OnlineRun, type(None)), "_met": COUNT,
    "_stream": OnlineRun, "_stream_asked": tuple,
}  # fmt: skip
WORKED_OUT = "_live"


def store(model: Any, known: dict[str, Any]) -> dict[str, Any]:
    """Parameters and everything learned."""
    names = model.get_params(deep=False).keys()
    runs = [known[name] for name in ("_run", "_stream") if known.get(name) is not None]
    if callable(known["schedule"]) or any(run.plan.steps.given for run in runs):
        message = f"schedule is a function, which a model file cannot hold: name one of {', '.join(NAMES)}"
        raise UnknownValueError(message)
    learned = {name: value for name, value in known.items() if name not in names and name != WORKED_OUT}
    for name in learned:
        if name not in LEARNED:
            message = f"{name} is nothing that a {type(model).__name__} has, and a model file would lose it"
            raise UnknownValueError(message)
    return {"parameters": {name: known[name] for name in names}, "learned": learned}


def rebuild(kind: type, state: dict[str, Any]) -> Any:
    """The model again; what would lead a kernel astray is refused here, all else where it is used."""
    parameters, learned = state.get("parameters"), state.get("learned")
    if state.keys() != {"parameters", "learned"} or not isinstance(parameters, dict) or not isinstance(learned, dict):
        message = "holds something else than parameters and what was learned"
        raise UnknownValueError(message)
    model: Any = kind()
    wanted = model.get_params(deep=False).keys()
    for told, names in (("no", parameters.keys() - wanted), ("a", wanted - parameters.keys())):
        if names:
            message = f"does not fit this softmargin, where {kind.__name__} has {told} parameter {min(names)!r}"
            raise UnknownValueError(message)
    for name, value in learned.items():
        if name not in LEARNED or not is_a(value, LEARNED[name]):
            message = f"says that a {kind.__name__} has learned {name!r}, and none has, or not of that type"
            raise UnknownValueError(message)
    model.set_params(**parameters)
    _check(kind, model.stream_parameters, learned)
    vars(model).update(learned)
    return model


def _check(kind: type, asked: tuple[str, ...], learned: dict[str, Any]) -> None:
    """All that was learned is of one size."""
    width, stream = learned.get("n_features_in_", 0), learned.get("_stream")
    classes = _class_count(learned["classes_"]) if "classes_" in learned else 0
    named = kind.__name__ == "SoftMarginClassifier"
    fine = not learned or ("n_features_in_" in learned and named == ("classes_" in learned))
    names = learned.get("feature_names_in_")
    fine = fine and (names is None or (names.shape == (width,) and all(isinstance(name, str) for name in names)))
    columns = classes if classes > 2 else 0
    if "_weights" in learned:
        fine = fine and _are_weights(learned["_weights"], width, columns) and learned.get("_met", -1) >= 0
        fine = fine and {"certificate_", "dual_", "n_iter_", "_run"} <= learned.keys()
    if stream is not None:
        settings = dict(zip(asked, learned.get("_stream_asked", ()), strict=False))
        dummy = bool(settings.get("fit_intercept") and settings.get("penalize_intercept"))
        fine = fine and len(settings) == len(asked) and stream.plan.width == width + dummy
        fine = fine and stream.plan.classes == columns and stream.forces.shape[0] == 0
    for name in ("dual_", "pair_dual_"):
        fine = fine and (name not in learned or (_is_float64(learned[name]) and learned[name].ndim in (1, 2)))
    if "support_pairs_" in learned:
        pairs = learned["support_pairs_"]
        held = np.count_nonzero(learned["dual_"]) if "dual_" in learned else 0
        fine = fine and pairs.dtype == np.int64 and pairs.shape == (held, 2) and bool((pairs >= 0).all())
    if not fine:
        message = "holds parts that do not belong to one model"
        raise UnknownValueError(message)


def _class_count(classes: np.ndarray) -> int:
    """How many classes, which are sorted and different."""
    try:
        if classes.ndim == 1 and classes.size >= 2 and bool(np.all(classes[:-1] < classes[1:])):
            return int(classes.size)
    except (TypeError, ValueError):
        pass
    message = "holds classes that are not two or more different ones in order"
    raise UnknownValueError(message)


def _are_weights(held: tuple[Any, ...], width: int, columns: int) -> bool:
    """Weights of every column, and of a dummy one, and an intercept for each class."""
    if len(held) != 2 or not all(_is_float64(part) for part in held):
        return False
    weights, bias = held
    return weights.shape[1:] == ((columns,) if columns else ()) and weights.ndim > 0 and (
        weights.shape[0] in (width, width + 1) and bias.shape == (max(1, columns),)
    )  # fmt: skip


def _is_float64(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float64
