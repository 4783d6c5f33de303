"""Ctrl-C at a moment that suits: a solver asks for it, instead of being struck half-way through a step."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class _Pressed:
    """Whether Ctrl-C was pressed while it was held back."""

    def __init__(self) -> None:
        self.once, self.obeyed = False, False

    def note(self, number: int, frame: FrameType | None) -> None:
        """The handler: remember the first, obey all others at once."""
        if self.once:
            signal.default_int_handler(number, frame)
        self.once = True


_pressed = _Pressed()


@contextmanager
def held_interrupts() -> Iterator[None]:
    """Ctrl-C inside is only remembered: ``stop_if_interrupted`` raises it.  Pressed again, it strikes at once.

    So a solver ends with a whole iterate and its proof, also where it is interrupted while it sets up or proves.
    If nobody asked before the end, it is raised there: what was done is done, but the key was pressed.
    Where somebody else handles the signal, and outside the main thread, which it never reaches, nothing changes.
    """
    global _pressed  # noqa: PLW0603 one handler a process, by nature
    if not _in_main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    mine = _pressed = _Pressed()
    signal.signal(signal.SIGINT, mine.note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _pressed = _Pressed()
    if mine.once and not mine.obeyed:
        raise KeyboardInterrupt


def stop_if_interrupted() -> None:
    """Raise KeyboardInterrupt, at every call, once Ctrl-C was pressed inside ``held_interrupts``."""
    if _pressed.once and _in_main_thread():
        _pressed.obeyed = True
        raise KeyboardInterrupt


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
