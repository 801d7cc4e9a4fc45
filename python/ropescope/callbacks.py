"""What the library calls back: a method's functions, progress, and whether to stop. Any thread may ask."""
from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Sequence

import numpy as np

from ._native import ffi, lib
from .errors import DomainError, Error


class MethodCall(NamedTuple):
    """What a method of one's own is asked about. Lengths are tokens; `scale` is NaN where it has none."""

    length: int
    heads: int
    head_dim: int
    rotary_dim: int
    theta: float
    train_length: float
    max_length: float
    scale: float
    parameters: Mapping[str, float]

    @property
    def plain(self) -> np.ndarray:
        """The frequencies (R/2,) of plain RoPE, rad/token."""
        pairs = np.arange(self.rotary_dim // 2)
        return self.theta ** (-2 * pairs / self.rotary_dim)


class Raised:
    """The first exception of callbacks, to be raised where the library has returned."""

    def __init__(self) -> None:
        self.exception: BaseException | None = None

    def note(self, kind: Any, exception: BaseException, trace: Any) -> None:
        self.exception = self.exception or exception

    @contextlib.contextmanager
    def again(self) -> Iterator[None]:
        """Raises it behind the block, in place of what the library makes of it."""
        try:
            yield
        except Error as error:
            if self.exception is None:
                raise
            exception, self.exception = self.exception, None
            raise exception from error
        if self.exception is not None:
            exception, self.exception = self.exception, None
            raise exception


class Method:
    """A method's functions."""

    def __init__(self, raised: Raised, frequencies: Callable | None, bias: Callable | None, names: Sequence[str]):
        self.raised, self.frequencies, self.bias, self.names = raised, frequencies, bias, names

    def asked(self, c: Any) -> MethodCall:
        parameters = {name: c.parameters[i] for i, name in enumerate(self.names)}
        lengths = (c.train_length, c.max_length)
        return MethodCall(c.length, c.heads, c.head_dim, c.rotary_dim, c.theta, *lengths, c.scale, parameters)


class Watch:
    """Who is told of a run. An exception of theirs, or Ctrl-C, stops it."""

    def __init__(self, progress: Callable[[int, int, float], None] | None):
        self.raised, self.progress = Raised(), progress


def _write(values: Any, count: int, out: Any) -> None:
    """`count` doubles, or one for all, to where the library wants them."""
    array = np.ascontiguousarray(np.broadcast_to(np.asarray(values, np.float64), (count,)))
    ffi.memmove(out, ffi.from_buffer(array), array.nbytes)


@ffi.def_extern(error=lib.ROPESCOPE_INTERNAL)
def ropescope_python_frequencies(user, c, inv_freq, attention_factor, logit_factor, message, capacity):
    method = ffi.from_handle(user)
    try:
        made = method.frequencies(method.asked(c))
        values, *factors = made if isinstance(made, tuple) else (made,)
        _write(values, c.rotary_dim // 2, inv_freq)
        for place, value in zip((attention_factor, logit_factor), factors):
            place[0] = value
    except BaseException as exception:
        said = f"{type(exception).__name__}: {exception}".encode()[: capacity - 1]
        ffi.memmove(message, said + b"\0", len(said) + 1)
        if not isinstance(exception, DomainError):
            method.raised.note(None, exception, None)
        return lib.ROPESCOPE_DOMAIN
    return lib.ROPESCOPE_OK


@ffi.def_extern()
def ropescope_python_bias(user, c, head, query, begin, end, bias):
    method = ffi.from_handle(user)
    try:
        _write(method.bias(method.asked(c), head, query, np.arange(begin, end)), end - begin, bias)
    except BaseException as exception:
        _write(0, end - begin, bias)
        method.raised.note(None, exception, None)


@ffi.def_extern()
def ropescope_python_progress(context, done, cells, share):
    watch = ffi.from_handle(context)
    if watch.progress is None:
        return
    try:
        watch.progress(done, cells, share)
    except BaseException as exception:
        watch.raised.note(None, exception, None)


def _stop_on(kind: Any, exception: BaseException, trace: Any) -> int:
    """Ctrl-C arrives in whatever Python runs next in the main thread: here."""
    _interrupted.append(exception)
    return 1


_interrupted: list[BaseException] = []


@ffi.def_extern(onerror=_stop_on)
def ropescope_python_stop(context):
    watch = ffi.from_handle(context)
    return int(watch.raised.exception is not None)


def interruption() -> BaseException | None:
    """The exception, Ctrl-C as a rule, that has stopped a run; taken away."""
    return _interrupted.pop() if _interrupted else None
