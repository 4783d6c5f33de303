"""What a posterior of preferences is made of: its items, its parameters, and the answers that stand."""

from typing import Any

import numpy as np

from softmargin.elicitation.log import VERDICTS, Answer, Log
from softmargin.elicitation.questions import Kinds
from softmargin.models.values import Record, UnknownValueError, is_a

RECORDS: dict[str, Record] = {}
PARAMETERS = ("prior_precision", "judge_error", "ties")
COLUMNS = ("n_features_in_", "feature_names_in_")
OWN = {*PARAMETERS, *COLUMNS, "_scale", "_items", "_kinds", "_log", "_known"}


def refuse_unless(fine: Any) -> None:
    """The parts are those of one posterior."""
    if not fine:
        message = "holds items and answers that do not belong to one posterior"
        raise UnknownValueError(message)


def store(model: Any, known: dict[str, Any]) -> dict[str, Any]:
    """All that is believed follows from this."""
    for name in known.keys() - OWN:
        message = f"{name} is nothing that a {type(model).__name__} has, and a model file would lose it"
        raise UnknownValueError(message)
    log: Log = known["_log"]
    answers = list(log.standing.values())
    judges = list(dict.fromkeys(answer.judge for answer in answers))
    place = {judge: number for number, judge in enumerate(judges)}
    lines = [
        (answer.number, answer.left, answer.right, VERDICTS.index(answer.verdict), place[answer.judge])
        for answer in answers
    ]
    return {
        "parameters": {name: known[name] for name in PARAMETERS},
        "columns": {name: known[name] for name in COLUMNS if name in known},
        "items": known["_items"],
        "scale": known["_scale"],
        "kinds": known["_kinds"].of.astype(np.int64),
        "answers": np.array(lines, dtype=np.int64).reshape(-1, 5),
        "judges": judges,
        "next_number": log.next_number,
    }


def rebuild(kind: Any, state: dict[str, Any]) -> Any:
    """The posterior again; it works out what it believes when it is asked."""
    parameters, columns, items, scale = (state[name] for name in ("parameters", "columns", "items", "scale"))
    refuse_unless(parameters.keys() == set(PARAMETERS) and columns.keys() <= set(COLUMNS))
    error, width = parameters["judge_error"], columns["n_features_in_"]
    refuse_unless(is_a(error, float) and 0.0 <= error <= 0.5 and is_a(parameters["ties"], bool) and is_a(width, int))
    refuse_unless(items.dtype == scale.dtype == np.float64 and items.ndim == 2 and len(items) >= 2)
    refuse_unless(items.shape[1:] == scale.shape == (width,) and items.flags.c_contiguous)
    refuse_unless(np.isfinite(items).all() and np.isfinite(scale).all() and (scale > 0.0).all())
    names = columns.get("feature_names_in_")
    refuse_unless(names is None or (names.shape == (width,) and all(isinstance(name, str) for name in names)))
    known = {
        **parameters, **columns, "_items": items, "_scale": scale, "_known": None,
        "_kinds": kinds_from(state["kinds"], len(items)),
        "_log": log_of(state["answers"], state["judges"], state["next_number"], len(items), ties=parameters["ties"]),
    }  # fmt: skip
    model: Any = kind.__new__(kind)
    vars(model).update(known)
    return model


def kinds_from(of: np.ndarray, items: int) -> Kinds:
    """Kinds are numbered in the order of their first rows."""
    refuse_unless(of.dtype == np.int64 and of.shape == (items,))
    names, first, size = np.unique(of, return_index=True, return_counts=True)
    refuse_unless(np.array_equal(names, np.arange(names.size)) and bool((np.diff(first) > 0).all()))
    return Kinds(first, of, size)


def log_of(lines: np.ndarray, judges: list[Any], following: int, items: int, *, ties: bool) -> Log:
    """Answers whose numbers rise, about two different items each."""
    refuse_unless(lines.dtype == np.int64 and lines.ndim == 2 and lines.shape[1] == 5)
    refuse_unless(isinstance(judges, list) and all(is_a(judge, (str, int, type(None))) for judge in judges))
    number, left, right, verdict, judge = lines.T
    sides = lines[:, 1:3]
    fine = is_a(following, int) and bool((number[:-1] < number[1:]).all() and (number >= 0).all())
    fine = fine and bool((number < following).all()) and following >= 0
    fine = fine and len({*judges}) == len(judges) and bool(((sides >= 0) & (sides < items)).all())
    fine = fine and bool((left != right).all() and ((verdict >= 0) & (verdict < len(VERDICTS))).all())
    fine = fine and bool(((judge >= 0) & (judge < len(judges))).all())
    refuse_unless(fine and (ties or not bool((verdict == VERDICTS.index("equal")).any())))
    told = [Answer(n, a, b, VERDICTS[v], judges[j]) for n, a, b, v, j in lines.tolist()]
    return Log({answer.number: answer for answer in told}, following)
