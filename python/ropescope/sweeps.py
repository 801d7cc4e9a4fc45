"""Sweeps: from a config to a folder of CSV files, in memory or on the disk."""
from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Callable, Iterator, Mapping, Sequence

from ._native import ffi, lib
from .callbacks import Watch
from .errors import create, text
from .frames import Frame, table
from .methods import Library, checked, lender_of, pointer_of, raised_of, raising
from .words import Struct, encoded, owned, path_of, shared_library, integer, wrong, yaml


class Results(Mapping[str, Any]):
    """A folder of results. `results["summary"]` is a CSV file of it: a DataFrame where pandas is there, else a
    structured array. They pickle with all their files."""

    def __init__(self, pointer: Any):
        self._pointer = owned(pointer, "ropescope.run() or ropescope.results()")

    def __reduce__(self) -> Any:
        return _results_of, ({name: self.file(name) for name in self.files},)

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
        if not isinstance(name, str):
            raise KeyError(f"{name!r}; there are {', '.join(self.files)}")
        data = lib.ropescope_results_file(self._pointer, name.encode(), length)
        if data == ffi.NULL:
            raise KeyError(f"{name}; there are {', '.join(self.files)}")
        return bytes(ffi.buffer(data, length[0]))

    def frame(self, name: str) -> Frame:
        """A CSV file ("summary", or "summary.csv") with the units and definitions of its columns."""
        if not isinstance(name, str):
            raise KeyError(f"{name!r}; there are {', '.join(self)}")
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
    """Runs a config: its path, its contents as a dict or as YAML of several lines; None: the built-in demo. Among the
    methods of a dict a Recipe stands for its method with its parameters.

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
    if progress is not None and not callable(progress):
        raise wrong(progress, "progress", "a function")
    if isinstance(edits, (str, bytes)):
        raise wrong(edits, "edits", "a list of texts")
    library = shared_library(checked(library), config)
    watch = Watch(progress, raised_of(library))
    handle = ffi.new_handle(watch)
    options = Struct("ropescope_run_options", threads=integer(threads, "threads"), context=handle)
    options.set("progress", lib.ropescope_python_progress)
    options.set("stop", lib.ropescope_python_stop)
    options.set("directory", None if directory is None else path_of(directory, "directory"))
    options.set("checkpoints", None if checkpoints is None else path_of(checkpoints, "checkpoints"))
    kept = [options.keep(edit, "edits") for edit in edits]
    if kept:
        options.set("edits", options.hold(ffi.new("char *[]", kept)))
        options.set("edit_count", len(kept))
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
        return ffi.NULL, ffi.new("char[]", encoded(os.fspath(config), "config"))
    if not isinstance(config, (str, Mapping)):
        raise wrong(config, "config", "a path, a dict, or YAML of several lines")
    return ffi.new("char[]", encoded(yaml(config, "config"), "config")), ffi.new("char[]", b"config")


def _results_of(files: Mapping[str, bytes]) -> Results:
    """The results that these files are."""
    with tempfile.TemporaryDirectory(prefix="ropescope-") as folder:
        for name, data in files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
        return results(folder)


def results(directory: str | os.PathLike[str]) -> Results:
    """The results in a folder that a run has written."""
    path = encoded(path_of(directory, "directory"), "directory")
    return Results(create(lib.ropescope_results_open, lib.ropescope_results_free, path))
