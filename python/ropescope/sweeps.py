"""Sweeps: from a config to a folder of CSV files, in memory or on the disk."""
from __future__ import annotations

import json
import os
from typing import Any, Callable, Iterator, Mapping, Sequence

from ._native import ffi, lib
from .callbacks import Watch
from .errors import create, text
from .frames import Frame, table
from .methods import Library, lender_of, pointer_of, raised_of, raising
from .words import Struct, yaml


class Results(Mapping[str, Any]):
    """A folder of results. `results["summary"]` is a CSV file of it: a DataFrame where pandas is there, else a
    structured array."""

    def __init__(self, pointer: Any):
        self._pointer = pointer

    @property
    def files(self) -> list[str]:
        """The names of the files."""
        out, index = [], 0
        while (name := lib.ropescope_results_name(self._pointer, index)) != ffi.NULL:
            out.append(text(name))
            index += 1
        return out

    def file(self, name: str) -> bytes:
        """The bytes of a file, as the folder has them."""
        length = ffi.new("size_t *")
        data = lib.ropescope_results_file(self._pointer, name.encode(), length)
        if data == ffi.NULL:
            raise KeyError(f"{name}; there are {', '.join(self.files)}")
        return bytes(ffi.buffer(data, length[0]))

    def frame(self, name: str) -> Frame:
        """A CSV file ("summary", or "summary.csv") with the units and definitions of its columns."""
        wanted = name if name.endswith(".csv") else name + ".csv"
        pointer = lib.ropescope_results_frame(self._pointer, wanted.encode())
        if pointer == ffi.NULL:
            raise KeyError(f"{name}; there are {', '.join(self)}")
        return Frame(pointer, self)

    def __getitem__(self, name: str) -> Any:
        return table(self.frame(name))

    def __iter__(self) -> Iterator[str]:
        return (name[: -len(".csv")] for name in self.files if name.endswith(".csv"))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    @property
    def manifest(self) -> dict[str, Any]:
        """What the results are of: config, versions, columns."""
        return json.loads(self.file("manifest.json"))

    def __repr__(self) -> str:
        return f"<ropescope.Results: {', '.join(self)}>"


def run(
    config: Any = None,
    *,
    edits: Sequence[str] = (),
    directory: str | os.PathLike[str] | None = None,
    checkpoints: str | os.PathLike[str] | None = None,
    threads: int = 0,
    progress: Callable[[int, int, float], None] | None = None,
    library: Library | None = None,
) -> Results:
    """Runs a config: its path, its contents as a dict or as YAML of several lines; None: the built-in demo.

    Results stay in memory unless `directory` says where they go; a run into a folder goes on from the cells that are
    done there. `edits` are changes as the program's --set takes them; `progress(done, cells, share of the work)` is
    called as cells, and parts of long ones, are done, by whichever thread has done them, one at a time. Ctrl-C and
    exceptions of `progress` end it when the rows that are at work are done.

    >>> import ropescope as rs
    >>> results = rs.run({"model": "llama-2-7b", "methods": ["rope", {"name": "pi", "factor": 4}],
    ...                   "lengths": [64, 256], "metrics": ["entropy"]})
    >>> results.frame("summary")["method"].tolist()
    ['rope', 'rope', 'pi', 'pi']
    """
    watch = Watch(progress, raised_of(library))
    handle = ffi.new_handle(watch)
    options = Struct("ropescope_run_options", threads=threads, context=handle)
    options.set("progress", lib.ropescope_python_progress)
    options.set("stop", lib.ropescope_python_stop)
    options.set("directory", None if directory is None else os.fspath(directory))
    options.set("checkpoints", None if checkpoints is None else os.fspath(checkpoints))
    if edits:
        options.set("edits", options.hold(ffi.new("char *[]", [options.keep(edit) for edit in edits])))
        options.set("edit_count", len(edits))
    words, name = _config(config)
    with watch.raised.again(), raising(library):
        pointer = create(
            lib.ropescope_run,
            lib.ropescope_results_free,
            *(pointer_of(library), words, name, options.pointer),
            lender=lender_of(library),
        )
    return Results(pointer)


def _config(config: Any) -> tuple[Any, Any]:
    """The text of a config and its name, or NULL and the file's."""
    if config is None:
        return ffi.NULL, ffi.NULL
    if isinstance(config, (str, os.PathLike)) and "\n" not in os.fspath(config):
        return ffi.NULL, ffi.new("char[]", os.fsencode(config))
    return ffi.new("char[]", yaml(config).encode()), ffi.new("char[]", b"config")


def results(directory: str | os.PathLike[str]) -> Results:
    """The results in a folder that a run has written."""
    return Results(create(lib.ropescope_results_open, lib.ropescope_results_free, os.fsencode(directory)))
