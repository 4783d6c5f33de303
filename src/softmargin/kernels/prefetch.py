"""Ask the memory for a cache line before it is needed.

A shuffled pass over rows larger than the cache waits for memory, not for arithmetic: on 100,000 sparse rows the wait
is five sixths of the time (docs/decisions/0004).  The order of the rows is known in advance, so the row that comes a
few steps later can be asked for now; the processor goes on working meanwhile.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

READ, KEEP_IN_ALL_CACHES, DATA = 0, 3, 1
# For functions that only look ahead.  Numba counts who holds an array, by atomic additions that it cannot leave out
# around a loop; the processor then waits for all that it has begun, which is what looking ahead was to spare it.
# These functions keep nothing and make nothing, so nothing needs to be counted (docs/decisions/0021).
UNCOUNTED: Any = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}


@intrinsic
def _prefetch_instruction(_typing: Any, array: Any, index: Any) -> Any:
    """Emit LLVM's ``llvm.prefetch`` for the line that holds ``array[index]``; it never faults and changes nothing."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.bitcast(builder.gep(view.data, [arguments[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(function, [address, word(READ), word(KEEP_IN_ALL_CACHES), word(DATA)])
        return context.get_dummy_value()

    return types.void(array, index), codegen


def prefetch_element(array: Any, index: Any) -> None:
    """Without the JIT there is nothing to hurry."""


@overload(prefetch_element, inline="always")
def _prefetch_element(array, index):
    def emit(array, index):
        _prefetch_instruction(array, index)  # type: ignore[call-arg]

    return emit
