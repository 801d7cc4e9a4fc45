"""What there is by name, and methods of the caller's own."""
from __future__ import annotations

from typing import Any, Callable, NamedTuple, Sequence, TypeVar

from ._native import ffi, lib
from .callbacks import Method, MethodCall, Raised
from .errors import Lender, call, create_alone, named
from .words import Array, Struct, real, wrong

Function = TypeVar("Function", bound=Callable[..., Any])


class Entry(NamedTuple):
    """Something that can be named."""

    name: str
    summary: str
    reference: str


class ParameterSpec(NamedTuple):
    """A parameter of a method of one's own: a real number within a closed range."""

    name: str
    min: float
    max: float
    default: float
    unit: str = "1"
    summary: str = ""


class Library:
    """Methods of one's own beside the built-in ones; functions that take `library` know them.

    >>> import numpy as np, ropescope as rs
    >>> library = rs.Library()
    >>> @library.method("slowed", parameters=[rs.ParameterSpec("slowness", 1, 1000, 2)])
    ... def slowed(asked):
    ...     return asked.plain / asked.parameters["slowness"]
    >>> slow = rs.frequencies("llama-2-7b", method={"name": "slowed", "slowness": 4}, library=library)
    >>> bool(np.allclose(slow, rs.frequencies("llama-2-7b") / 4))
    True
    """

    def __init__(self) -> None:
        made = create_alone(lib.ropescope_library_create)
        self._lender = Lender(lambda: lib.ropescope_library_free(made))
        self._pointer = ffi.gc(made, self._lender.lend(lambda pointer: None))
        self._handles: list[Any] = []
        self._methods: list[tuple[str, dict[str, Any]]] = []  # as `add_method` was called
        self._raised = Raised()

    def __reduce__(self) -> Any:
        """With the functions by module and name, as pickle has them."""
        return _library_of, (self._methods,)

    def __repr__(self) -> str:
        own = [m.name for m in methods(self)[len(methods()) :]]
        return f"<ropescope.Library of {', '.join(own) or 'no method'}>"

    def method(self, name: str, **words: Any) -> Callable[[Function], Function]:
        """Adds the decorated function as the frequencies of a method; `words` as in `add_method`."""

        def add(frequencies: Function) -> Function:
            self.add_method(name, frequencies, **words)
            return frequencies

        return add

    def add_method(
        self,
        name: str,
        frequencies: Callable[[MethodCall], Any] | None = None,
        *,
        bias: Callable[[MethodCall, int, int, Array], Any] | None = None,
        bias_of_distance: bool = False,
        parameters: Sequence[ParameterSpec] = (),
        scaled: bool = False,
        summary: str = "",
        reference: str = "",
        version: int = 1,
    ) -> None:
        """Adds a method.

        `frequencies(call)` gets a MethodCall and returns (R/2,) rad/token, or a tuple of these, what cos and sin, and
        what logits are multiplied by; None: no pair turns. `bias(call, head, query, keys)` returns nats for an array
        of keys; one that depends on query - keys alone is faster where `bias_of_distance` says so. `scaled` methods
        have the parameters `scale` and `factor`. Any thread may ask; a DomainError says that there are no values for
        this call, any other exception is raised where the library was called.
        """
        parameters = list(parameters)
        said = {key: value for key, value in locals().items() if key not in ("self", "name")}
        for function, argument in ((frequencies, "frequencies"), (bias, "bias")):
            if function is not None and not callable(function):
                raise wrong(function, argument, "a function")
        for p in parameters:
            if not isinstance(p, ParameterSpec):
                raise wrong(p, "parameters", "a list of ParameterSpec")
        handle = ffi.new_handle(Method(self._raised, frequencies, bias, [p.name for p in parameters]))
        spec = Struct("ropescope_method_spec", name=name, summary=summary or name, reference=reference, user=handle)
        spec.set("version", version)
        spec.set("scaled", int(scaled))
        spec.set("bias_of_distance", int(bias_of_distance))
        if frequencies is not None:
            spec.set("frequencies", lib.ropescope_python_frequencies)
        if bias is not None:
            spec.set("bias", lib.ropescope_python_bias)
        specs = spec.hold(ffi.new("ropescope_parameter_spec[]", max(len(parameters), 1)))
        for place, given in zip(specs, parameters):
            where = f"parameters[{given.name!r}]"
            place.name, place.unit = spec.keep(given.name, f"{where}.name"), spec.keep(given.unit, f"{where}.unit")
            place.summary = spec.keep(given.summary or given.name, f"{where}.summary")
            place.min, place.max = real(given.min, f"{where}.min"), real(given.max, f"{where}.max")
            place.fallback = real(given.default, f"{where}.default")
        spec.set("parameters", specs)
        spec.set("parameter_count", len(parameters))
        call(lib.ropescope_library_add_method, self._pointer, spec.pointer)
        self._handles.append(handle)
        self._methods.append((name, said))


def _library_of(added: list[tuple[str, dict[str, Any]]]) -> Library:
    """A library with these methods."""
    library = Library()
    for name, said in added:
        library.add_method(name, **said)
    return library


def checked(library: Library | None) -> Library | None:
    """The argument `library`, of its type."""
    if library is not None and not isinstance(library, Library):
        raise wrong(library, "library", "a Library")
    return library


def pointer_of(library: Library | None) -> Any:
    """The library's object; NULL for the built-in methods alone."""
    return ffi.NULL if checked(library) is None else library._pointer  # type: ignore[union-attr]


def lender_of(library: Library | None) -> Lender | None:
    """What frees the library behind those who need it."""
    return None if library is None else library._lender


def raised_of(library: Library | None) -> Raised:
    """Where exceptions of the library's functions are noted."""
    return Raised() if checked(library) is None else library._raised  # type: ignore[union-attr]


def raising(library: Library | None) -> Any:
    """A block behind which the first exception of the library's functions is raised."""
    return raised_of(library).again()


def _entries(at: Callable[..., Any], *of: Any) -> list[Entry]:
    return [Entry(*words) for words in named(at, *of)]


def methods(library: Library | None = None) -> list[Entry]:
    """The methods, with a summary and the paper; the library's behind the built-in ones.

    >>> import ropescope as rs
    >>> {"rope", "yarn", "alibi"} <= {m.name for m in rs.methods()}
    True
    """
    return _entries(lib.ropescope_method_at, pointer_of(library))


def metrics() -> list[Entry]:
    """The metrics."""
    return _entries(lib.ropescope_metric_at)


def presets() -> list[Entry]:
    """The built-in models."""
    return _entries(lib.ropescope_preset_at)


def rules() -> list[Entry]:
    """What `check` may find."""
    return _entries(lib.ropescope_rule_at)


def engines() -> list[Entry]:
    """The engines that `check` knows."""
    return _entries(lib.ropescope_engine_at)


def consumers() -> list[Entry]:
    """What `convert` writes for."""
    return _entries(lib.ropescope_consumer_at)
