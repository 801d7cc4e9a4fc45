"""What a positional setting does to attention at a length.

Frequencies and tables of any published recipe (`recipe`, `frequencies`), whether a config.json is right (`check`),
statistics of given queries and keys (`statistics`), sweeps (`run`, `results`, `plot`), and answers (`solve`,
`compare`, `convert`). `ropescope.testing` checks an engine's frequencies.
"""
from __future__ import annotations

from . import testing
from ._native import ffi as _ffi
from ._native import lib as _lib
from .answers import Comparison, Conversion, Solution, compare, convert, solve
from .attention import Statistics, statistics
from .callbacks import MethodCall
from .errors import (
    BusyError,
    DomainError,
    Error,
    FileError,
    InputError,
    OutOfMemoryError,
    Problem,
    StoppedError,
    UnsupportedError,
)
from .findings import Finding, Findings, check
from .frames import Frame
from .methods import Library, ParameterSpec, consumers, engines, methods, metrics, presets, rules
from .pictures import Picture, Pictures, plot
from .recipes import LayerKind, Parameter, Recipe, Tables, frequencies, recipe
from .sweeps import Results, results, run

__version__ = _ffi.string(_lib.ropescope_version()).decode()

__all__ = [
    "BusyError", "Comparison", "Conversion", "DomainError", "Error", "FileError", "Finding", "Findings", "Frame",
    "InputError", "LayerKind", "Library", "MethodCall", "OutOfMemoryError", "Parameter", "ParameterSpec", "Picture",
    "Pictures", "Problem", "Recipe", "Results", "Solution", "Statistics", "StoppedError", "Tables",
    "UnsupportedError", "check", "compare", "consumers", "convert", "engines", "frequencies", "methods", "metrics",
    "plot", "presets", "recipe", "results", "rules", "run", "solve", "statistics", "testing",
]  # fmt: skip


def __dir__() -> list[str]:
    """What completion offers: not the files that the package is made of."""
    return [*__all__, "__version__"]
