"""Sixteen neighbouring float64 numbers that a few instructions handle together.

The K scores of a row are K sums over its values.  Held in lanes they are read and written once a row; in a loop over
classes inside a loop over values they are read and written once a value, and Numba's vectoriser turns so short a
loop into single steps (measured: 2x slower on 150 values and 10 classes).  Only compiled code can hold lanes; what
runs without the JIT never comes here.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

emitted: Callable[[Any], Any] = intrinsic  # its own type counts the typing context among the arguments

LANES = 16  # two registers of 512 bits, or four of 256; spare lanes are masked, and measured to cost nothing
ALIGNMENT = ir.Constant(ir.IntType(32), 8)  # bytes: lanes may begin at any float64

NUMBERS, MASK = ir.VectorType(ir.DoubleType(), LANES), ir.VectorType(ir.IntType(1), LANES)


class Lanes(types.Type):
    """LANES float64 numbers side by side."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


LANES_TYPE: Any = Lanes()


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    """How LLVM holds them."""

    def __init__(self, manager: Any, lanes: Any) -> None:
        super().__init__(manager, lanes, NUMBERS)  # type: ignore[no-untyped-call]


def _spread(builder: Any, value: Any) -> Any:
    """The same number in every lane."""
    nothing = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    one = builder.insert_element(nothing, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, nothing, everywhere)


def _place_and_mask(context: Any, builder: Any, kind: Any, arguments: Any) -> tuple[Any, Any]:
    """Where ``array[row, column:]`` begins, in a C-ordered array, and which lanes lie inside of its row."""
    array, row, column = arguments[:3]
    view = context.make_array(kind)(context, builder, array)
    length = builder.extract_value(view.shape, kind.ndim - 1)
    place = builder.gep(view.data, [builder.add(builder.mul(row, length), column)])
    number = ir.Constant(ir.VectorType(ir.IntType(64), LANES), list(range(LANES)))
    mask = builder.icmp_unsigned("<", number, _spread(builder, builder.sub(length, column)))
    return builder.bitcast(place, NUMBERS.as_pointer()), mask


@emitted
def zero_lanes(_typing: Any) -> Any:
    """Zeros."""
    return LANES_TYPE(), lambda *_: ir.Constant(NUMBERS, None)


@emitted
def load_lanes(_typing: Any, array: Any, row: Any, column: Any) -> Any:
    """``array[row, column : column + LANES]``; zero in the lanes beyond its end."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place, mask = _place_and_mask(context, builder, signature.args[0], arguments)
        kind = ir.FunctionType(NUMBERS, [place.type, ir.IntType(32), MASK, NUMBERS])
        load = cgutils.get_or_insert_function(builder.module, kind, f"llvm.masked.load.v{LANES}f64.p0")
        return builder.call(load, [place, ALIGNMENT, mask, ir.Constant(NUMBERS, None)])

    return LANES_TYPE(array, types.uint64, types.uint64), codegen


@emitted
def store_lanes(_typing: Any, array: Any, row: Any, column: Any, lanes: Any) -> Any:
    """OUT ``array``: ``array[row, column : column + LANES] = lanes``, without the lanes beyond its end."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place, mask = _place_and_mask(context, builder, signature.args[0], arguments)
        kind = ir.FunctionType(ir.VoidType(), [NUMBERS, place.type, ir.IntType(32), MASK])
        store = cgutils.get_or_insert_function(builder.module, kind, f"llvm.masked.store.v{LANES}f64.p0")
        builder.call(store, [arguments[3], place, ALIGNMENT, mask])
        return context.get_dummy_value()

    return types.void(array, types.uint64, types.uint64, LANES_TYPE), codegen


@emitted
def add_product(_typing: Any, total: Any, factor: Any, lanes: Any) -> Any:
    """``total + factor * lanes``, rounded once."""

    def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(NUMBERS, [NUMBERS] * 3)
        fma = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f64")
        return builder.call(fma, [_spread(builder, arguments[1]), arguments[2], arguments[0]])

    return LANES_TYPE(LANES_TYPE, types.float64, LANES_TYPE), codegen
