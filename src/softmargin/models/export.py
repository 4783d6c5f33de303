"""A model for other programs: its numbers as JSON, or a C header with its score as a function."""

import json
import re
from typing import Any, NamedTuple

import numpy as np

from softmargin.data.atomic import replacing
from softmargin.models.columns import check_columns
from softmargin.models.container import Path_
from softmargin.models.kinds import HOMES, kind_of
from softmargin.models.values import UnknownValueError

FORMATS = ("json", "c")


class Linear(NamedTuple):
    """``score = weights . (x - middle) / spread + intercept``, one line of weights for each score."""

    title: str
    weights: np.ndarray
    intercept: np.ndarray
    classes: list[Any] | None  # of one score, the second where it is above 0; of several, that of the highest
    features: list[str]
    middle: np.ndarray
    spread: np.ndarray


def export(model: Any, path: Path_, format: str = "json", *, name: str = "softmargin") -> None:  # noqa: A002  the word for it
    """Write the numbers of a fitted model for a program that does not know softmargin.

    Parameters
    ----------
    model : a fitted model of softmargin.
    path : str or PathLike
        Where to; a file that is there is replaced once the new one is complete.
    format : "json" or "c"
        A JSON object, or a C99 header with ``<name>_score(x)`` or, for several classes, ``<name>_scores(x, scores)``.
    name : what the names in the header begin with.
    """
    if format not in FORMATS:
        message = f"format={format!r}: pass one of {', '.join(FORMATS)}"
        raise ValueError(message)
    told = linear_of(model)
    if not all(np.isfinite(part).all() for part in (told.weights, told.intercept, told.middle, told.spread)):
        message = "model has weights that are not finite numbers: no program could compute with them"
        raise ValueError(message)
    text = header_of(told, identifier(name)) if format == "c" else json_of(model, told)
    with replacing(path) as file:
        file.write(text.encode())


def linear_of(model: Any) -> Linear:
    """The numbers of a model, whatever its class."""
    title = type(model).__name__
    kind = kind_of(title)
    if kind is None or kind.model is not type(model):
        message = f"model is a {title}: pass one of {', '.join(HOMES)}"
        raise ValueError(message)
    weights = np.atleast_2d(model.coef_ if hasattr(type(model), "coef_") else model.mean_)
    intercept = np.zeros(len(weights)) + np.atleast_1d(getattr(model, "intercept_", 0.0))
    classes = getattr(model, "classes_", None)
    columns = getattr(model, "columns_", None)
    width = weights.shape[1]
    features = [f"x{place}" for place in range(width)]
    middle, spread = np.zeros(width), np.ones(width)
    if columns is not None:
        try:
            check_columns(columns, model)
        except UnknownValueError as error:
            message = f"this {title} cannot be exported: {error}"
            raise ValueError(message) from None
        features = columns.names
        middle = np.array([column.middle for column in columns.columns for _ in column.names])
        spread = np.array([column.spread for column in columns.columns for _ in column.names])
    elif hasattr(model, "feature_names_in_"):
        features = list(model.feature_names_in_)
    return Linear(
        title, weights, intercept, None if classes is None else classes.tolist(), features, middle, spread
    )  # fmt: skip


# ----------------------------------------------------------------------------------- JSON


def json_of(model: Any, told: Linear) -> str:
    """An object that says how to compute with it; numbers are the shortest that are read back as the same float64."""
    import softmargin

    found: dict[str, Any] = {
        "model": told.title,
        "softmargin": softmargin.__version__,
        "score": "weights . (x - middle) / spread + intercept",
        "features": told.features,
        "middle": told.middle.tolist(),
        "spread": told.spread.tolist(),
        "weights": told.weights.tolist(),
        "intercept": told.intercept.tolist(),
    }
    if told.classes is not None:
        found["classes"] = told.classes
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:
        found["certificate"] = str(certificate)
    return json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


# ----------------------------------------------------------------------------------- C


def header_of(told: Linear, name: str) -> str:
    """A header that needs no other, for C99 and C++; texts of the user stand in it as escaped strings only."""
    import softmargin

    upper, (scores, width) = name.upper(), told.weights.shape
    places = distinct([identifier(f"{upper}_X_{feature}").upper() for feature in told.features])
    lines = [
        f"/* A {told.title} of softmargin {softmargin.__version__}: generated, do not edit. */",
        f"#ifndef {upper}_MODEL_H",
        f"#define {upper}_MODEL_H",
        "",
        f"#define {upper}_FEATURES {width}",
        f"#define {upper}_SCORES {scores}",
        "",
        "/* Where each feature stands in x. */",
        f"enum {{ {', '.join(f'{place} = {number}' for number, place in enumerate(places))} }};",
        "",
        *table(f"char *const {name}_feature_names[{width}]", list(map(quoted, told.features))),
        *table(f"double {name}_weights[{scores * width}]", list(map(number_of, told.weights.ravel()))),
        *table(f"double {name}_intercept[{scores}]", list(map(number_of, told.intercept))),
    ]
    x = "x[j]"
    if told.middle.any() or (told.spread != 1.0).any():
        lines += table(f"double {name}_middle[{width}]", list(map(number_of, told.middle)))
        lines += table(f"double {name}_spread[{width}]", list(map(number_of, told.spread)))
        x = f"((x[j] - {name}_middle[j]) / {name}_spread[j])"
    if told.classes is not None:
        lines += table(f"char *const {name}_class_names[{len(told.classes)}]", [quoted(str(k)) for k in told.classes])
    lines += functions(name, x, several=scores > 1, classes=told.classes is not None)
    return "\n".join([*lines, f"#endif /* {upper}_MODEL_H */", ""])


def functions(name: str, x: str, *, several: bool, classes: bool) -> list[str]:
    """The score or scores of one row and, where there are classes, the number of the class."""
    upper = name.upper()
    line = f"{name}_weights[{'k * ' + upper + '_FEATURES + ' if several else ''}j]"
    loop = [
        "    int j;",
        "    double sum = 0.0;",
        f"    for (j = 0; j < {upper}_FEATURES; ++j) {{",
        f"        sum += {line} * {x};",
        "    }",
        f"    return sum + {name}_intercept[{'k' if several else '0'}];",
        "}",
        "",
    ]
    if not several:
        found = [f"static inline double {name}_score(const double *x) {{", *loop]
        if classes:
            found += ["/* The number of the class, from 0. */", f"static inline int {name}_predict(const double *x) {{",
                      f"    return {name}_score(x) > 0.0;", "}", ""]  # fmt: skip
        return found
    return [
        "/* The score of class k. */",
        f"static inline double {name}_score(const double *x, int k) {{", *loop,
        f"static inline void {name}_scores(const double *x, double *scores) {{",
        "    int k;",
        f"    for (k = 0; k < {upper}_SCORES; ++k) {{",
        f"        scores[k] = {name}_score(x, k);",
        "    }", "}", "",
        "/* The number of the class with the highest score, from 0. */",
        f"static inline int {name}_predict(const double *x) {{",
        "    int k, best = 0;",
        f"    double score, highest = {name}_score(x, 0);",
        f"    for (k = 1; k < {upper}_SCORES; ++k) {{",
        f"        score = {name}_score(x, k);",
        "        if (score > highest) {", "            highest = score;", "            best = k;", "        }",
        "    }",
        "    return best;", "}", "",
    ]  # fmt: skip


def table(declared: str, entries: list[str]) -> list[str]:
    """A constant array, one entry a line."""
    return [f"static const {declared} = {{", *(f"    {entry}," for entry in entries), "};", ""]


def number_of(value: Any) -> str:
    """Digits that every C compiler reads as the same float64."""
    text = f"{float(value):.17g}"
    return text if re.search("[.e]", text) else text + ".0"


def quoted(text: str) -> str:
    """A C string of the same bytes in UTF-8, in characters that no compiler takes for something else."""
    safe = re.compile(r"[A-Za-z0-9 _=+.,:;()<>!%&/-]")
    data = text.encode(errors="replace")
    return '"' + "".join(chr(byte) if safe.fullmatch(chr(byte)) else f"\\{byte:03o}" for byte in data) + '"'


def identifier(text: str) -> str:
    """A name that C takes: letters of ASCII, digits and underscores, and no digit or underscore first."""
    found = re.sub(r"[^A-Za-z0-9_]", "_", text)
    return found if re.match(r"[A-Za-z]", found) else f"m{found}"


def distinct(names: list[str]) -> list[str]:
    """The same names, with a number behind those that were there before."""
    seen: set[str] = set()
    found = []
    for name in names:
        free, number = name, 1
        while free in seen:
            number += 1
            free = f"{name}_{number}"
        seen.add(free)
        found.append(free)
    return found
