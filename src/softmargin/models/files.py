"""``save`` and ``load``: a model in a file, and the same model again."""

from typing import Any

from softmargin.data.columns import Columns
from softmargin.models.columns import COLUMNS, check_columns
from softmargin.models.container import Path_, read, refuse, write
from softmargin.models.kinds import HOMES, kind_of
from softmargin.models.values import Packer, UnknownValueError, Unpacker


def save(model: Any, path: Path_, *, columns: Columns | None = None) -> None:
    """Write a model into a file, whole or not at all; nothing in the file is a program.

    Parameters
    ----------
    model : a model of softmargin, fitted or in the middle of a stream.
    path : str or PathLike
        Where to; a file that is there is replaced once the new one is complete.
    columns : Columns, optional
        How the features were made of a table, ``items.columns``; a model that was loaded with columns keeps them.

    Raises
    ------
    ValueError
        For what a file cannot hold, such as a schedule that is a function.
    """
    name = type(model).__name__
    kind = kind_of(name)
    if kind is None or type(model) is not kind.model:
        message = f"model is a {name}: a model file holds one of {', '.join(HOMES)}"
        raise ValueError(message)
    known = {part: value for part, value in vars(model).items() if part != "columns_"}
    columns = getattr(model, "columns_", None) if columns is None else columns
    packer = Packer({**kind.keeper.RECORDS, **COLUMNS})
    try:
        check_columns(columns, model)
        state = {part: packer.pack(value, part) for part, value in kind.keeper.store(model, known).items()}
        told = packer.pack(columns, "columns")
    except UnknownValueError as error:
        message = f"this {name} cannot be saved: {error}"
        raise ValueError(message) from None
    write(path, {"class": name, "softmargin": _version(), "columns": told, "state": state}, packer.arrays)


def load(path: Path_) -> Any:
    """The model of a file that ``save`` wrote, as it was: it predicts the same to the last bit, and learns on.

    Where it was saved with columns they are its ``columns_``, for ``read_items(path, columns=model.columns_)``.

    Parameters
    ----------
    path : str or PathLike
        The file.

    Raises
    ------
    ValueError
        In one sentence, for a file that is cut off, damaged, of another version, or no model file at all.
    OSError
        Where the file cannot be opened.
    """
    header, arrays = read(path)
    if header.keys() != {"class", "softmargin", "columns", "state"} or not isinstance(header["state"], dict):
        refuse(path, "has a header that is not a class, a version of softmargin, columns and a state")
    name = header["class"]
    kind = kind_of(name) if isinstance(name, str) else None
    if kind is None:
        refuse(path, f"holds a {name!r}, and this softmargin knows {', '.join(HOMES)}")
    unpacker = Unpacker({**kind.keeper.RECORDS, **COLUMNS}, arrays)
    try:
        state = {part: unpacker.unpack(value) for part, value in header["state"].items()}
        model, columns = kind.keeper.rebuild(kind.model, state), unpacker.unpack(header["columns"])
        check_columns(columns, model)
    except UnknownValueError as error:
        refuse(path, str(error))
    except RecursionError:
        refuse(path, "has a header that is nested too deeply")
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        refuse(path, f"holds parts that make no {name} together ({type(error).__name__})")
    if columns is not None:
        model.columns_ = columns
    return model


def _version() -> str:
    import softmargin

    return softmargin.__version__
