"""Which setting serves a length, why two settings differ, and a recipe for another consumer."""
from __future__ import annotations

import contextlib
import json
import os
import tempfile
from typing import Any, Mapping, NamedTuple, overload

import numpy as np

from ._native import ffi, lib
from .errors import DomainError, UnsupportedError, create, entries, text
from .methods import lender_of, raising
from .recipes import Recipe, copied
from .words import (
    Array, Length, Method, Model, RecipeWords, Struct, encoded, layers_of, name_model, one_of, plain,
    shared_library, tokens, word, wrong, yaml,
)  # fmt: skip

_SOUGHT = {
    "base": lib.ROPESCOPE_SOLVE_BASE,
    "factor": lib.ROPESCOPE_SOLVE_FACTOR,
    "length": lib.ROPESCOPE_SOLVE_LENGTH,
}
_CRITERIA = {
    "first_violation": lib.ROPESCOPE_FIRST_VIOLATION,
    "critical_dim": lib.ROPESCOPE_CRITICAL_DIM,
    "out_of_range": lib.ROPESCOPE_OUT_OF_RANGE,
    "ntk_aware": lib.ROPESCOPE_NTK_AWARE,
}


class Solution(NamedTuple):
    """A base, factor or length (tokens), the same to the digits that hold, and what is to be said of it."""

    value: float
    number: str
    remarks: dict[str, str]


@overload
def solve(
    sought: str,
    *,
    length: Length = None,
    model: Model | None = None,
    method: Method | None = None,
    layers: str | int | None = None,
    base: float | None = None,
    head_dim: int | None = None,
    criterion: None = None,
) -> dict[str, Solution]: ...
@overload
def solve(
    sought: str,
    *,
    length: Length = None,
    model: Model | None = None,
    method: Method | None = None,
    layers: str | int | None = None,
    base: float | None = None,
    head_dim: int | None = None,
    criterion: str,
) -> Solution: ...
def solve(
    sought: str,
    *,
    length: Length = None,
    model: Model | None = None,
    method: Method | None = None,
    layers: str | int | None = None,
    base: float | None = None,
    head_dim: int | None = None,
    criterion: str | None = None,
) -> Solution | dict[str, Solution]:
    """The "base" or "factor" that serves a length, or the "length" that a setting serves.

    By one criterion ("first_violation", "critical_dim", "out_of_range", "ntk_aware"): a Solution. Without: a dict of
    Solutions by criterion, without those that have no answer.

    The least base is rounded up where an integer is wanted: below it a sum of cosines is negative.

    >>> import math
    >>> import ropescope as rs
    >>> math.ceil(rs.solve("base", length=131072, model="llama-2-7b", criterion="first_violation").value)
    4869105
    """
    one_of(sought, _SOUGHT, "sought")
    one_of(criterion, [None, *_CRITERIA], "criterion")
    if isinstance(model, Recipe):
        words = built_in(model, "model")
        method, layers = words.method if method is None else method, words.layers if layers is None else layers
    question = Struct("ropescope_question", sought=_SOUGHT[sought], length=tokens(length), base=base, head_dim=head_dim)
    name_model(question, model)
    question.set("layers", layers_of(layers))
    question.set("method", None if method is None else yaml(method, "method"))
    if criterion is not None:
        return _solution(question, criterion)
    answers = {}
    for name in _CRITERIA:
        with contextlib.suppress(DomainError, UnsupportedError):
            answers[name] = _solution(question, name)
    return answers


def built_in(recipe: Recipe, name: str) -> RecipeWords:
    """What a recipe is made of, for functions that know the built-in methods, text and doubles alone."""
    if recipe._library is not None:
        raise ValueError(f"{name}: the recipe has a method of a Library, which is not known here")
    recipe._only_method(name)
    return recipe._words


def _solution(question: Struct, criterion: str) -> Solution:
    question.set("criterion", _CRITERIA[criterion])
    pointer = create(lib.ropescope_solve, lib.ropescope_solution_free, question.pointer)
    remarks = {text(r.name): text(r.text) for r in entries(lib.ropescope_solution_remark, pointer)}
    return Solution(lib.ropescope_solution_value(pointer), text(lib.ropescope_solution_number(pointer)), remarks)


class Cause(NamedTuple):
    """A change that makes one side the other. `whole`: nothing differs under it."""

    text: str
    whole: bool
    residual: float


class Comparison(NamedTuple):
    """How two settings differ. `differs` holds "frequency", "amplitude", "axis", "layout", "beyond", "width" and
    "positions"; `pairs` counts frequencies that differ, `largest` is relative, of pair `worst`."""

    differs: frozenset[str]
    pairs: int
    largest: float
    worst: int
    causes: list[Cause]
    a: Array
    b: Array

    @property
    def equal(self) -> bool:
        """They differ in nothing that both say."""
        return not self.differs

    def __repr__(self) -> str:
        if self.equal:
            return "<ropescope.Comparison: equal>"
        parts = [f"they differ in {', '.join(sorted(self.differs))}"]
        if self.pairs:
            parts.append(f"{self.pairs} of {len(self.a)} pairs by up to {self.largest:.3g}, most at pair {self.worst}")
        return f"<ropescope.Comparison: {'; '.join(parts + [cause.text for cause in self.causes[:1]])}>"


_DIFFERENCES = {
    "frequency": lib.ROPESCOPE_DIFFERS_FREQUENCY,
    "amplitude": lib.ROPESCOPE_DIFFERS_AMPLITUDE,
    "axis": lib.ROPESCOPE_DIFFERS_AXIS,
    "layout": lib.ROPESCOPE_DIFFERS_LAYOUT,
    "beyond": lib.ROPESCOPE_DIFFERS_BEYOND,
    "width": lib.ROPESCOPE_DIFFERS_WIDTH,
    "positions": lib.ROPESCOPE_DIFFERS_POSITIONS,
}


def _side(given: Any, folder: str, name: str) -> str | None:
    """A side in words, None for a recipe: dicts of a model and arrays of frequencies go to files of a temporary
    folder."""
    if isinstance(given, Recipe):
        return None
    given = given.to_dict() if hasattr(given, "to_dict") else given
    if isinstance(given, Mapping) and "name" in given and "model_type" not in given:
        return yaml(given, name)
    if isinstance(given, (str, os.PathLike)):
        return os.fspath(given)
    path = os.path.join(folder, name.upper() + (".json" if isinstance(given, Mapping) else ".npy"))
    if isinstance(given, Mapping):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(given, file, default=plain)
        return path
    try:
        array = np.asarray(given)
    except Exception:  # of whatever library the value is
        array = np.empty(0, object)
    if array.ndim != 1 or array.dtype.kind not in "fiu":
        raise wrong(given, name, "a Recipe, a config.json, a preset, a method, a file, or an array of frequencies (P,)")
    np.save(path, array)
    return path


def compare(
    a: Any,
    b: Any,
    *,
    model: Model | None = None,
    layers: str | int | None = None,
    length: Length = None,
    tolerance: float | None = None,
) -> Comparison:
    """Why two settings differ. A side is a Recipe, a config.json (path, folder or dict), a preset, a method (YAML, or a
    dict with `name`) on `model` or on the other side's, a file of inverse frequencies, or an array of them. `length` in
    tokens is that of both sides; None: each Recipe's own, else the longest that a side is published for.

    >>> import ropescope as rs
    >>> rs.compare("llama-2-7b", rs.frequencies("llama-2-7b") / 4).causes[0].text
    'B is A as pi with s = 4: every frequency divided by s (A is rope)'
    """
    library = shared_library(None, a, b)
    recipes = [side._pointer if isinstance(side, Recipe) else ffi.NULL for side in (a, b)]
    with tempfile.TemporaryDirectory(prefix="ropescope-") as folder, raising(library):
        contest = Struct("ropescope_contest", a=_side(a, folder, "a"), b=_side(b, folder, "b"), length=tokens(length))
        contest.set("tolerance", tolerance)
        name_model(contest, model)
        contest.set("layers", layers_of(layers))
        pointer = create(
            lib.ropescope_compare_recipes,
            lib.ropescope_comparison_free,
            *(contest.pointer, *recipes),
            lender=lender_of(library),
        )
    bits = lib.ropescope_comparison_differs(pointer)
    return Comparison(
        frozenset(name for name, bit in _DIFFERENCES.items() if bits & bit),
        lib.ropescope_comparison_pairs(pointer),
        lib.ropescope_comparison_largest(pointer),
        lib.ropescope_comparison_worst(pointer),
        [Cause(text(c.text), bool(c.whole), c.residual) for c in entries(lib.ropescope_comparison_cause, pointer)],
        copied(lib.ropescope_comparison_inv_freq, pointer, 0),
        copied(lib.ropescope_comparison_inv_freq, pointer, 1),
    )


class Conversion(NamedTuple):
    """Keys for a consumer's config, arguments of its command line, and what it cannot say or reads otherwise."""

    keys: dict[str, Any]
    arguments: list[str]
    notes: list[str]


def convert(model: Model, to: str, *, length: Length = None, layers: str | int | None = None) -> Conversion:
    """A model's recipe, or a Recipe, for another consumer (`consumers()` has them), which is to serve `length` tokens.

    >>> import ropescope as rs
    >>> rs.convert("llama-2-7b", "hf5").keys["rope_parameters"]["rope_type"]
    'default'
    """
    source = Struct("ropescope_recipe_source")
    if isinstance(model, Recipe):
        words = built_in(model, "model")
        source.set("method", words.method)
        layers, length = words.layers if layers is None else layers, words.length if length is None else length
    source.set("layers", layers_of(layers))
    name_model(source, model)
    pointer = create(
        lib.ropescope_convert,
        lib.ropescope_conversion_free,
        *(source.pointer, encoded(word(to, "to"), "to"), tokens(length)),
    )
    fragment = text(lib.ropescope_conversion_fragment(pointer))
    return Conversion(
        json.loads(fragment) if fragment else {},
        [text(word) for word in entries(lib.ropescope_conversion_argument, pointer)],
        [text(note) for note in entries(lib.ropescope_conversion_note, pointer)],
    )
