"""Pictures of results, as SVG."""
from __future__ import annotations

import os
from typing import Iterator, Mapping, overload

from ._native import ffi, lib
from .errors import create, text
from .sweeps import Results, results


class Picture:
    """One picture; notebooks show it."""

    def __init__(self, name: str, svg: str):
        self.name, self.svg = name, svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it as an SVG file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def __repr__(self) -> str:
        return f"<ropescope.Picture {self.name}>"


class Pictures(Mapping[str, Picture]):
    """Pictures by name; notebooks show them all."""

    def __init__(self, pictures: dict[str, Picture]):
        self._pictures = pictures

    def __getitem__(self, name: str) -> Picture:
        if name not in self._pictures:
            raise KeyError(f"{name}; there are {', '.join(self)}")
        return self._pictures[name]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __iter__(self) -> Iterator[str]:
        return iter(self._pictures)

    def __len__(self) -> int:
        return len(self._pictures)

    def _repr_html_(self) -> str:
        return "\n".join(f"<figure>{picture.svg}</figure>" for picture in self._pictures.values())

    def __repr__(self) -> str:
        return f"<ropescope.Pictures: {', '.join(self)}>"


@overload
def plot(what: Results | str | os.PathLike[str], name: None = None) -> Pictures: ...
@overload
def plot(what: Results | str | os.PathLike[str], name: str) -> Picture: ...
def plot(what: Results | str | os.PathLike[str], name: str | None = None) -> Pictures | Picture:
    """What `ropescope plot` draws of results, or of a folder of them: Pictures, or the one called `name`.

    >>> import ropescope as rs
    >>> pictures = rs.plot(rs.run({"model": "llama-2-7b", "methods": ["rope", "ntk"], "lengths": [64, 256],
    ...                            "metrics": ["entropy"]}))
    >>> all(picture.svg.startswith("<svg") for picture in pictures.values())
    True
    """
    drawn = what if isinstance(what, Results) else results(what)
    pointer = create(lib.ropescope_plot, lib.ropescope_pictures_free, drawn._pointer)
    pictures, index = {}, 0
    while (called := lib.ropescope_pictures_name(pointer, index)) != ffi.NULL:
        pictures[text(called)] = Picture(text(called), text(lib.ropescope_pictures_svg(pointer, index)))
        index += 1
    return Pictures(pictures) if name is None else Pictures(pictures)[name]
