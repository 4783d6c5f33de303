"""HTML that cannot be broken by what is in it: every text is escaped here, and nowhere else.

``tag`` makes an element.  Whatever goes into one, as text or as the value of an attribute, is escaped unless it is
``Html``; and only ``tag`` makes ``Html`` of texts.
"""

import html
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

VOID = frozenset(("meta", "br"))
# What no page may hold, and what turns the direction of the text around it: shown as a replacement character.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
LONGEST = 60  # characters of a name; one that is longer is cut in the middle


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def escaped(value: Any) -> str:
    """As text, or as the value of an attribute in double quotes."""
    return html.escape(UNSEEN.sub("\ufffd", str(value)), quote=True)


def tag(name: str, /, *inside: Any, **attributes: Any) -> Html:
    """An element; ``class_`` is its class, ``font_size`` its font-size, and None stands for nothing."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{told}>" if name in VOID else f"<{name}{told}>{joined(*inside)}</{name}>")


def joined(*parts: Any) -> Html:
    """One after the other: texts escaped, HTML as it is, lists opened, None left out."""
    return Html("".join(_one(part) for part in parts))


def _one(part: Any) -> str:
    if part is None:
        return ""
    if isinstance(part, Html):
        return str(part)
    if isinstance(part, Iterable) and not isinstance(part, str | bytes):
        return "".join(_one(each) for each in part)
    return escaped(part)


def with_range(value: Any, low: Any, high: Any) -> Html:
    """A number, and below it what it lies between."""
    return joined(number(value), tag("br"), tag("small", f"{number(low)} to {number(high)}"))


def listed(parts: Iterable[Any], mark: str = ", ") -> Html:
    """One after the other, with a mark between them."""
    return Html(mark.join(_one(part) for part in parts))


def shortened(text: Any, longest: int = LONGEST) -> str:
    """A name of at most so many characters."""
    text = " ".join(str(text).split())
    return text if len(text) <= longest else f"{text[: longest - longest // 3 - 1]}…{text[-(longest // 3) :]}"


def named(text: Any) -> Html:
    """A name that comes from the data, whatever direction it is read in."""
    return tag("bdi", shortened(text) or "(no name)")


def number(value: Any, digits: int = 4) -> str:
    """A number for people: so many digits, thousands apart, powers of ten as such, a true minus."""
    value = value.item() if hasattr(value, "item") else value
    value = value + 0.0 if isinstance(value, float) else value  # no minus before a zero
    if isinstance(value, int) or (10.0**digits <= abs(value) < 1e9):
        text = f"{value:,}" if isinstance(value, int) else f"{value:,.0f}"
    else:
        text, _, power = f"{value:.{digits}g}".partition("e")
        if power:
            ten = "10" + str(int(power)).translate(RAISED)
            text = ten if text == "1" else f"{text}\u00d7{ten}"
    return text.replace("-", "\u2212").replace("inf", "∞")


def counted(count: int, what: str) -> str:
    """So many of them."""
    return f"{number(count)} {what}{'' if count == 1 else 's'}"


class Column(NamedTuple):
    """A column of a table: of text ("t"), of numbers ("n") or of bars ("b")."""

    head: str
    kind: str
    cells: Sequence[Any]


def columns(caption: str, *given: Column | None) -> Html:
    """A table by its columns; those that are None are left out."""
    there = [column for column in given if column is not None]
    lines = zip(*(column.cells for column in there), strict=True)
    return table([column.head for column in there], lines, caption=caption,
                 numbers="".join(column.kind for column in there))  # fmt: skip


def table(heads: Iterable[str], lines: Iterable[Iterable[Any]], *, caption: str, numbers: str = "") -> Html:
    """Lines under heads; ``numbers`` has an "n" for a column of numbers, a "b" for bars, a "t" for text."""
    heads = list(heads)
    classes = [letter if letter in "nb" else "t" for letter in numbers.ljust(len(heads), "t")]
    top = tag("tr", [tag("th", head, scope="col", class_=kind) for head, kind in zip(heads, classes, strict=True)])
    body = [
        tag("tr", [tag("td", cell, class_=kind) for cell, kind in zip(line, classes, strict=True)]) for line in lines
    ]
    many = "many" if len(heads) > 4 else None  # a phone leaves the bars out
    drawn = tag("table", tag("caption", caption), tag("thead", top), tag("tbody", body), class_=many)
    return tag("div", drawn, class_="wide")
