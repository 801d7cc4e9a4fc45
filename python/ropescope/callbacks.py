"""What the library calls back: a method's functions, progress, and whether to stop. Any thread may ask."""
from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Sequence

import numpy as np

from ._native import ffi, lib
from .errors import DomainError, Error
from .words import Array


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
    def plain(self) -> Array:
        """The frequencies (R/2,) of plain RoPE, rad/token."""
        pairs = np.arange(self.rotary_dim // 2)
        return self.theta ** (-2 * pairs / self.rotary_dim)


class Raised:
    """The first exception of callbacks, to be raised where the library has returned."""

    def __init__(self) -> None:
        self.exception: BaseException | None = None

    def note(self, exception: BaseException) -> None:
        self.exception = self.exception or exception

    @contextlib.contextmanager
    def again(self) -> Iterator[None]:
        """Raises it behind the block, in place of what the library makes of it."""
        try:
            yield
        except Error:
            if self.exception is None:
                raise
        if self.exception is not None:
            exception, self.exception = self.exception, None
            raise exception


class Method:
    """A method's functions."""

    def __init__(
        self, raised: Raised, frequencies: Callable[..., Any] | None, bias: Callable[..., Any] | None, names: Sequence[str]
    ):
        self.raised, self.frequencies, self.bias, self.names = raised, frequencies, bias, names

    def asked(self, c: Any) -> MethodCall:
        parameters = {name: c.parameters[i] for i, name in enumerate(self.names)}
        lengths = (c.train_length, c.max_length)
        return MethodCall(c.length, c.heads, c.head_dim, c.rotary_dim, c.theta, *lengths, c.scale, parameters)


class Watch:
    """Who is told of a run. An exception of theirs, or of the library's methods, or Ctrl-C, stops it."""

    def __init__(self, progress: Callable[[int, int, float], None] | None, of_methods: Raised):
        self.raised, self.progress, self.of_methods = Raised(), progress, of_methods

    @property
    def stopped(self) -> bool:
        return self.raised.exception is not None or self.of_methods.exception is not None


def _write(values: Any, count: int, out: Any) -> None:
    """`count` doubles, or one for all, to where the library wants them."""
    array = np.ascontiguousarray(np.broadcast_to(np.asarray(values, np.float64), (count,)))
    ffi.memmove(out, ffi.from_buffer(array), array.nbytes)


def _noted(kind: Any, exception: BaseException, trace: Any) -> None:
    """Notes what a callback has raised with whom it was called for.

    Ctrl-C arrives in whatever Python the main thread runs next, which is any line of the functions below, the first
    one too: no `try` of their own would catch it everywhere. cffi hands it to this function.
    """
    if trace is None:
        return
    given = trace.tb_frame.f_locals
    ffi.from_handle(given["user"]).raised.note(exception)


@ffi.def_extern(error=lib.ROPESCOPE_DOMAIN, onerror=_noted)
def ropescope_python_frequencies(
    user: Any, c: Any, inv_freq: Any, attention_factor: Any, logit_factor: Any, message: Any, capacity: int
) -> Any:
    method = ffi.from_handle(user)
    try:
        made = method.frequencies(method.asked(c))
        values, *factors = made if isinstance(made, tuple) else (made,)
        _write(values, c.rotary_dim // 2, inv_freq)
        for place, value in zip((attention_factor, logit_factor), factors):
            place[0] = value
    except Exception as exception:
        said = f"{type(exception).__name__}: {exception}".encode()[: capacity - 1]
        ffi.memmove(message, said + b"\0", len(said) + 1)
        if not isinstance(exception, DomainError):
            raise
        return lib.ROPESCOPE_DOMAIN
    return lib.ROPESCOPE_OK


@ffi.def_extern(onerror=_noted)
def ropescope_python_bias(user: Any, c: Any, head: int, query: int, begin: int, end: int, bias: Any) -> None:
    ffi.memmove(bias, bytes(ffi.sizeof("double") * (end - begin)), ffi.sizeof("double") * (end - begin))
    method = ffi.from_handle(user)
    _write(method.bias(method.asked(c), head, query, np.arange(begin, end)), end - begin, bias)


@ffi.def_extern(onerror=_noted)
def ropescope_python_progress(user: Any, done: int, cells: int, share: float) -> None:
    watch = ffi.from_handle(user)
    if watch.progress is not None:
        watch.progress(done, cells, share)


@ffi.def_extern(error=1, onerror=_noted)
def ropescope_python_stop(user: Any) -> int:
    return int(ffi.from_handle(user).stopped)
