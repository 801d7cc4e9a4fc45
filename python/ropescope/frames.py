"""Columns of numbers and words: a CSV file, or what would be one."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._native import ffi, lib
from .errors import text
from .recipes import copied
from .words import Array, Unpicklable, owned


class Column(NamedTuple):
    """A column's name, unit and definition; "" where one is not known."""

    name: str
    unit: str
    summary: str


class Frame(Unpicklable):
    """Rows of named columns; `frame["column"]` is an array of int64 (counts, indices, positions, lengths and seeds), of
    float64 (NaN: no value; also where one of these has no value in a row), or of texts."""

    def __init__(self, pointer: Any, owner: Any):
        self._pointer = owned(pointer, "Results.frame()")
        self._owner = owner  # lives as long as its frames

    def __len__(self) -> int:
        return lib.ropescope_frame_rows(self._pointer)

    @property
    def columns(self) -> list[Column]:
        """The columns in their order."""
        of = (lib.ropescope_frame_name, lib.ropescope_frame_unit, lib.ropescope_frame_summary)
        count = lib.ropescope_frame_columns(self._pointer)
        return [Column(*(text(get(self._pointer, i)) for get in of)) for i in range(count)]

    def __getitem__(self, name: str) -> Array:
        index = ffi.cast("size_t", -1)
        if isinstance(name, str):
            index = lib.ropescope_frame_find(self._pointer, name.encode())
        if index == ffi.cast("size_t", -1):
            raise KeyError(f"{name}; there are {', '.join(c.name for c in self.columns)}")
        return self._column(index)

    def _ipython_key_completions_(self) -> list[str]:
        return [c.name for c in self.columns]

    def _column(self, index: int) -> Array:
        if lib.ropescope_frame_is_integer(self._pointer, index):
            return copied(lib.ropescope_frame_integers, self._pointer, index, dtype="int64_t")
        if lib.ropescope_frame_is_numeric(self._pointer, index):
            return copied(lib.ropescope_frame_numbers, self._pointer, index)
        return np.array([text(lib.ropescope_frame_text(self._pointer, row, index)) for row in range(len(self))], str)

    def array(self) -> Array:
        """All of it as a structured array."""
        columns = [(c.name, self._column(i)) for i, c in enumerate(self.columns)]
        out = np.empty(len(self), [(name, values.dtype) for name, values in columns])
        for name, values in columns:
            out[name] = values
        return out

    def pandas(self) -> Any:
        """All of it as a pandas DataFrame; ImportError without pandas."""
        import pandas

        return pandas.DataFrame({c.name: self._column(i) for i, c in enumerate(self.columns)})

    def __repr__(self) -> str:
        return f"<ropescope.Frame of {len(self)} rows: {', '.join(c.name for c in self.columns)}>"


def table(frame: Frame) -> Any:
    """A pandas DataFrame where pandas is there, else a structured array."""
    try:
        return frame.pandas()
    except ImportError:
        return frame.array()
