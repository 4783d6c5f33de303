"""What the model was asked for, and what made it."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from softmargin.report.markup import Html, joined, number, shortened, table, tag
from softmargin.report.subject import Subject

LIBRARIES = ("numpy", "numba", "scipy", "scikit-learn", "pyarrow")


def configuration(subject: Subject) -> Html:
    """Every parameter, those that are not the default marked."""
    model = subject.model
    defaults = type(model)().get_params()
    lines = []
    for name, value in model.get_params().items():
        said, usual = in_words(value), in_words(defaults[name])
        changed = said != usual
        lines.append((
            tag("span", name, class_="changed" if changed else None),
            tag("span", said, class_="changed" if changed else None),
            usual if changed else "",
        ))  # fmt: skip
    head = tag("p", f"{type(model).__name__} with these parameters; what is not the default is in bold.")
    return joined(head, table(("parameter", "value", "default, if changed"), lines, caption="Effective configuration"))


def in_words(value: Any) -> str:
    """A parameter as it would be written; functions by name, because where they lie in memory says nothing."""
    if isinstance(value, bool) or value is None or isinstance(value, str | dict):
        return shortened(repr(value), 200)
    if isinstance(value, int | float) or hasattr(value, "item"):
        return number(value)
    if callable(value):
        return f"the function {getattr(value, '__name__', type(value).__name__)}"
    return f"a {type(value).__name__}"


def versions() -> Html:
    """Of softmargin, of Python, and of the libraries that compute."""
    import softmargin

    found = [("softmargin", softmargin.__version__), ("Python", platform.python_version())]
    found += [(name, installed(name)) for name in LIBRARIES]
    found.append(("machine", f"{platform.system()} {platform.machine()}"))
    return joined(table(("what", "version"), found, caption="Versions when this page was written"))


def installed(name: str) -> str:
    """The version of a library."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not found"
