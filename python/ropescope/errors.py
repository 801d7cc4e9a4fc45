"""What goes wrong, with the place in the file that it is about."""
from __future__ import annotations

from typing import Any, Callable, Iterator, NamedTuple

from ._native import ffi, lib


class Problem(NamedTuple):
    """One thing that is wrong in a text or file. Lines and columns count from 1; 0: of the file as a whole."""

    file: str
    line: int
    column: int
    key: str
    text: str
    hint: str


class Error(Exception):
    """A call has failed. Its text is what the program `ropescope` would print.

    >>> import ropescope as rs
    >>> try:
    ...     rs.recipe("llama-2-7b", {"name": "yarn", "factr": 4})
    ... except rs.Error as error:
    ...     error.status, error.hint
    ('input', 'did you mean factor?')
    """

    def __init__(self, message: str, status: str = "internal", subject: str = "", problems: tuple[Problem, ...] = ()):
        super().__init__(message)
        self.status = status  #: "input", "domain", "unsupported", "memory", "io", "internal", "stopped", "busy"
        self.subject = subject  #: the parameter at fault, or ""
        self.problems = problems  #: all that is wrong in the text or file

    def __str__(self) -> str:
        return str(self.args[0])

    def _first(self) -> Problem:
        return self.problems[0] if self.problems else Problem("", 0, 0, "", str(self), "")

    @property
    def file(self) -> str:
        """The file of the first problem, or ""."""
        return self._first().file

    @property
    def line(self) -> int:
        """Its line, from 1; 0: of the file as a whole."""
        return self._first().line

    @property
    def column(self) -> int:
        """Its column, from 1."""
        return self._first().column

    @property
    def key(self) -> str:
        """Its key, as in "methods[1].factor"."""
        return self._first().key

    @property
    def hint(self) -> str:
        """What would do, or ""."""
        return self._first().hint


class InputError(Error, ValueError):
    """A file, a value or an argument is wrong."""


class DomainError(Error, ValueError):
    """Well formed, but undefined for these values."""


class UnsupportedError(Error, NotImplementedError):
    """Meaningful, but not offered."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class BusyError(Error):
    """Another process works on the folder."""


class StoppedError(Error):
    """A callback has asked for it."""


_CLASSES: dict[str, type[Error]] = {
    "input": InputError,
    "domain": DomainError,
    "unsupported": UnsupportedError,
    "memory": OutOfMemoryError,
    "io": FileError,
    "busy": BusyError,
    "stopped": StoppedError,
}


def text(pointer: Any) -> str:
    """A text of the library's; "" for NULL."""
    return "" if pointer == ffi.NULL else ffi.string(pointer).decode("utf-8", "replace")


def entries(at: Callable[..., Any], *of: Any) -> Iterator[Any]:
    """What `at(*of, 0)`, `at(*of, 1)`, ... give, up to the first NULL."""
    index = 0
    while (entry := at(*of, index)) != ffi.NULL:
        yield entry
        index += 1


def named(at: Callable[..., Any], *of: Any) -> Iterator[tuple[str, str, str]]:
    """Name, summary and reference of what `at(*of, 0, entry)`, ... fill in, up to the first that is not there."""
    entry, index = ffi.new("ropescope_entry *"), 0
    while at(*of, index, entry):
        yield text(entry.name), text(entry.summary), text(entry.reference)
        index += 1


def _problems(error: Any) -> tuple[Problem, ...]:
    return tuple(
        Problem(text(p.file), p.line, p.column, text(p.key), text(p.text), text(p.hint))
        for p in entries(lib.ropescope_error_problem, error)
    )


def call(function: Callable[..., Any], *arguments: Any) -> None:
    """Calls `function(*arguments, &error)` and raises what that says."""
    place = ffi.new("ropescope_error **")
    status = function(*arguments, place)
    if status == lib.ROPESCOPE_OK:
        return
    error = ffi.gc(place[0], lib.ropescope_error_free)
    name = text(lib.ropescope_status_name(status))
    kind = _CLASSES.get(name, Error)
    raise kind(text(lib.ropescope_error_message(error)), name, text(lib.ropescope_error_subject(error)), _problems(error))


class Lender:
    """Frees what others need behind the last of them: Python frees the parts of an object, and what refers to each
    other, in an order of its own. Sets and lists of Python change at once, whichever thread frees."""

    def __init__(self, free: Callable[[], None]) -> None:
        self._frees = [free]
        self._borrowers: set[object] = set()

    def lend(self, free: Callable[[Any], None]) -> Callable[[Any], None]:
        """The `free` of a borrower, who counts from now on."""
        borrower = object()
        self._borrowers.add(borrower)

        def release(pointer: Any) -> None:
            free(pointer)
            self._borrowers.discard(borrower)
            if not self._borrowers and self._frees:
                self._frees.pop()()

        return release


def create(
    function: Callable[..., Any], free: Callable[[Any], None], *arguments: Any, lender: Lender | None = None
) -> Any:
    """The object that `function(*arguments, &object, &error)` makes; freed with the last reference to it, and before
    what `lender` frees."""
    made = create_alone(function, *arguments)
    return ffi.gc(made, free if lender is None else lender.lend(free))


def create_alone(function: Callable[..., Any], *arguments: Any) -> Any:
    """The same object, for the caller to free."""
    place = ffi.new(ffi.typeof(function).args[-2])
    call(function, *arguments, place)
    return place[0]
