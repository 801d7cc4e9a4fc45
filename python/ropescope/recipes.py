"""Recipes, which are methods with their parameters on one model's layers, and the tables that they come to."""
from __future__ import annotations

import os
from functools import cached_property
from typing import Any, Callable, NamedTuple

import numpy as np

from ._native import ffi, lib
from .errors import call, create, entries, text
from .methods import Library, lender_of, pointer_of, raising
from .words import (
    Array, Length, Method, Model, ModelWords, RecipeWords, Struct, Worded, integer, layers_of, model_words, one_of, owned,
    shared_library, tokens as tokens_of, wrong, yaml,
)  # fmt: skip

_LARGEST_FILE = 64 << 20  # of a config.json, bytes: the library reads no larger one
_DTYPES = {"double": np.float64, "int": np.intc, "int64_t": np.int64}


def copied(function: Callable[..., int], *of: Any, dtype: str = "double", shape: tuple[int, ...] | None = None) -> Array:
    """The numbers that a function of the library's copies, as an array that nobody changes."""
    count = function(*of, ffi.NULL, 0)
    out: Array = np.empty(count, _DTYPES[dtype])
    function(*of, ffi.cast(dtype + " *", out.ctypes.data), count)
    out = out.reshape(shape) if shape is not None else out
    out.flags.writeable = False
    return out


def doubles(array: Array) -> Any:
    """Where an array of doubles stands, for functions that write to it."""
    return ffi.cast("double *", array.ctypes.data)


class Parameter(NamedTuple):
    """A parameter of a recipe with the value that acts, as configs have it ("8", "true"); "": it has none."""

    value: str
    unit: str
    summary: str
    given: bool


class LayerKind(NamedTuple):
    """Layers of one kind: `layers` are their numbers ("0-4, 6-10"), `sees` is their mask in words."""

    name: str
    layers: str
    count: int  # type: ignore[assignment] # of the layers; a tuple has a method of that name
    sees: str
    method: str
    attends: bool
    chosen: bool


class Recipe(Worded):
    """A method with its parameters, resolved for the layers of one model. Made by `recipe`.

    Recipes are equal that say the same. They pickle, and so reach other processes, with the text of the config.json
    that they were made of; methods of a Library as functions do, by their module and name.
    """

    def __init__(self, pointer: Any, library: Library | None, words: RecipeWords):
        self._pointer = owned(pointer, "ropescope.recipe()")
        self._library = library  # outlives the recipe
        self._words = words

    def __reduce__(self) -> Any:
        return _create_recipe, (self._words, self._library)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Recipe):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity()[:4])

    def _identity(self) -> tuple[Any, ...]:
        """All that tells one recipe from another."""
        numbers = (self.heads, self.head_dim, self.rotary_dim, self.train_length, self.max_length, self.theta)
        words = (self._words.tokens, self._words.precision)
        library = None if self._library is None else self._library._methods
        said = (self.model, self.text, self.length, words, numbers, self.interleaved)
        return (*said, self.parameters, self.layer_kinds, library)

    def _method_text(self) -> str:
        if self._words.method is not None:
            return self._words.method
        given = [f", {name}: {p.value}" for name, p in self.parameters.items() if p.given and p.value]
        return f"{{name: {self.method}{''.join(given)}}}"

    @property
    def model(self) -> str:
        """The model's name."""
        return text(lib.ropescope_recipe_model(self._pointer))

    @property
    def method(self) -> str:
        """The method's name."""
        return text(lib.ropescope_recipe_method(self._pointer))

    @property
    def text(self) -> str:
        """The recipe as configs have it: what differs from the defaults."""
        return text(lib.ropescope_recipe_text(self._pointer))

    @property
    def warning(self) -> str:
        """What its author will hardly have meant; "" where nothing is to be said."""
        return text(lib.ropescope_recipe_warning(self._pointer))

    @property
    def heads(self) -> int:
        """H."""
        return lib.ropescope_recipe_heads(self._pointer)

    @property
    def head_dim(self) -> int:
        """D."""
        return lib.ropescope_recipe_head_dim(self._pointer)

    @property
    def rotary_dim(self) -> int:
        """R; 0: no pair turns."""
        return lib.ropescope_recipe_rotary_dim(self._pointer)

    @property
    def length(self) -> int:
        """L, the tokens that it is for."""
        return lib.ropescope_recipe_length(self._pointer)

    @property
    def train_length(self) -> int:
        """L0, tokens; 0: unknown."""
        return lib.ropescope_recipe_train_length(self._pointer)

    @property
    def max_length(self) -> int:
        """The length that its publisher supports, tokens; 0: unknown."""
        return lib.ropescope_recipe_max_length(self._pointer)

    @property
    def theta(self) -> float:
        """The base of the model's frequencies."""
        return lib.ropescope_recipe_theta(self._pointer)

    @property
    def interleaved(self) -> bool:
        """Pair j is dims (2j, 2j + 1); else (j, j + R/2)."""
        return bool(lib.ropescope_recipe_interleaved(self._pointer))

    @property
    def parameters(self) -> dict[str, Parameter]:
        """All parameters by name."""
        return {
            text(p.name): Parameter(text(p.value), text(p.unit), text(p.summary), bool(p.given))
            for p in entries(lib.ropescope_recipe_parameter, self._pointer)
        }

    @property
    def layer_kinds(self) -> list[LayerKind]:
        """The model's layers by kind; empty where it says nothing of them."""
        return [
            LayerKind(text(k.name), text(k.layers), k.count, text(k.sees), text(k.method), bool(k.attends), bool(k.chosen))
            for k in entries(lib.ropescope_recipe_layer_kind, self._pointer)
        ]

    def tables(self, length: Length = None) -> Tables:
        """What it comes to at a length (None: its own)."""
        return Tables(self, length)

    def __repr__(self) -> str:
        return f"<ropescope.Recipe {self.text} on {self.model} at {self.length} tokens>"


class Tables:
    """What a recipe comes to at one length. Arrays are float64 and read-only."""

    def __init__(self, recipe: Recipe, length: Length = None):
        if not isinstance(recipe, Recipe):
            raise wrong(recipe, "recipe", "a Recipe")
        self.recipe = recipe
        with raising(recipe._library):
            self._pointer = create(
                lib.ropescope_tables_create,
                lib.ropescope_tables_free,
                *(recipe._pointer, tokens_of(length)),
                lender=lender_of(recipe._library),
            )

    def __reduce__(self) -> Any:
        return Tables, (self.recipe, self.length)

    @property
    def length(self) -> int:
        """L, tokens."""
        return lib.ropescope_tables_length(self._pointer)

    @property
    def pairs(self) -> int:
        """P; 0: no pair turns."""
        return lib.ropescope_tables_pairs(self._pointer)

    @property
    def axes(self) -> int:
        """A: 1 for text, 3 for t, h, w; P where each pair has positions of its own."""
        return lib.ropescope_tables_axes(self._pointer)

    @property
    def views(self) -> int:
        """V: ways of counting positions that parts of a row are read by."""
        return lib.ropescope_tables_views(self._pointer)

    @property
    def heads(self) -> int:
        """H."""
        return lib.ropescope_tables_heads(self._pointer)

    @property
    def width(self) -> int:
        """Numbers of a token that an embedding is added to."""
        return lib.ropescope_tables_width(self._pointer)

    @cached_property
    def inv_freq(self) -> Array:
        """(P,) rad/token, pair 0 the fastest of plain RoPE."""
        return copied(lib.ropescope_tables_inv_freq, self._pointer)

    @property
    def attention_factor(self) -> float:
        """What cos and sin are multiplied by."""
        return lib.ropescope_tables_attention_factor(self._pointer)

    @property
    def logit_factor(self) -> float:
        """What logits are multiplied by besides; it is in `logit_scale`, too."""
        return lib.ropescope_tables_logit_factor(self._pointer)

    @property
    def scale(self) -> float:
        """s, what the method divides by; NaN where it has none."""
        return lib.ropescope_tables_scale(self._pointer)

    @cached_property
    def axis(self) -> Array:
        """(P,) which axis each pair reads: 0 t, 1 h, 2 w; -1: positions of its own."""
        return copied(lib.ropescope_tables_axis, self._pointer, dtype="int")

    def __repr__(self) -> str:
        r = self.recipe
        return f"<ropescope.Tables of {r.text} on {r.model} at {self.length} tokens: {self.pairs} pairs, {self.heads} heads>"

    def positions(self, side: str = "query", view: int = 0) -> Array:
        """(L, A) tokens, as queries or keys ("query", "key") in a view."""
        shape = (self.length, self.axes)
        return copied(lib.ropescope_tables_positions, self._pointer, side_of(side), self._view(view), shape=shape)

    def _view(self, view: int) -> int:
        number = integer(view, "view")
        if number >= self.views:
            raise ValueError(f"view = {number}: there are {self.views}")
        return number

    @cached_property
    def logit_scale(self) -> Array:
        """(L,) what the logits of each query are multiplied by."""
        return copied(lib.ropescope_tables_logit_scale, self._pointer)

    def cos_sin(
        self, begin: int = 0, end: int | None = None, *, side: str = "query", view: int = 0, head: int = 0
    ) -> tuple[Array, Array]:
        """Cosine and sine of tokens [begin, end), (end - begin, P) each, times the attention factor."""
        begin, end = integer(begin, "begin"), self.length if end is None else integer(end, "end")
        head = integer(head, "head")
        if not begin <= end <= self.length:
            raise ValueError(f"begin = {begin}, end = {end}: must be tokens in order, and there are {self.length}")
        cosine, sine = (np.empty((end - begin, self.pairs)) for _ in range(2))
        call(
            lib.ropescope_tables_cos_sin,
            *(self._pointer, side_of(side), self._view(view), head, begin, end, doubles(cosine), doubles(sine)),
        )
        return cosine, sine

    @cached_property
    def slopes(self) -> Array:
        """(H,) nats/token; empty where the bias has no slopes."""
        return copied(lib.ropescope_tables_slopes, self._pointer)

    def bias(self, head: int, query: int, begin: int = 0, end: int | None = None) -> Array:
        """(end - begin,) nats that are added to the logits of a query with keys [begin, end), all up to it by default."""
        head, query, begin = integer(head, "head"), integer(query, "query"), integer(begin, "begin")
        end = query + 1 if end is None else integer(end, "end")
        if not begin <= end <= self.length:
            raise ValueError(f"begin = {begin}, end = {end}: must be keys in order, and there are {self.length}")
        out = np.empty(end - begin)
        with raising(self.recipe._library):
            call(lib.ropescope_tables_bias, self._pointer, head, query, begin, end, doubles(out))
        return out

    def embedding(self, begin: int = 0, count: int | None = None) -> Array:
        """(count, width) what is added to tokens [begin, begin + count)."""
        begin = integer(begin, "begin")
        count = max(self.length - begin, 0) if count is None else integer(count, "count")
        if begin + count > self.length:
            raise ValueError(f"begin = {begin}, count = {count}: there are {self.length} tokens")
        out = np.empty((count, self.width))
        call(lib.ropescope_tables_embedding, self._pointer, begin, len(out), doubles(out))
        return out


def side_of(side: str) -> int:
    """The library's number for "query" or "key"."""
    sides = {"query": lib.ROPESCOPE_QUERY, "key": lib.ROPESCOPE_KEY}
    return sides[one_of(side, sides, "side")]


def _text_of(words: ModelWords) -> ModelWords:
    """The model with the text of its file, where that is one that can be read: what a recipe says does not change with
    the file. What cannot be read is left to the library, which says why."""
    if words.file is None or words.text is not None:
        return words
    path = os.path.join(words.file, "config.json") if os.path.isdir(words.file) else words.file
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > _LARGEST_FILE:
            return words
        with open(path, encoding="utf-8") as file:
            read = file.read()
    except (OSError, ValueError):
        return words
    return words if "\0" in read else ModelWords(path, read)


def _create_recipe(words: RecipeWords, library: Library | None) -> Recipe:
    """The recipe of these words."""
    members = words._asdict()
    source = Struct("ropescope_recipe_source", **members.pop("model")._asdict(), **members)
    with raising(library):
        pointer = create(
            lib.ropescope_recipe_create,
            lib.ropescope_recipe_free,
            *(pointer_of(library), source.pointer),
            lender=lender_of(library),
        )
    return Recipe(pointer, library, words)


def recipe(
    model: Model | None = None,
    method: Method | None = None,
    *,
    layers: str | int | None = None,
    length: Length = None,
    tokens: Any = None,
    precision: Any = None,
    library: Library | None = None,
) -> Recipe:
    """The recipe of a model, or another method on it.

    `model` is a config.json (its path, its folder, its contents as a dict), a GGUF file (its path), the name of a preset, or a Recipe, of which
    all that is not said here stays; `method` is a name or a dict with parameters, or a Recipe whose method it is (None:
    what the model publishes, else plain RoPE); `layers` is a kind
    ("sliding_attention") or a number, where a model's layers differ; `length` is what it is for, in tokens (32768 or
    "32k"; None: the longest that the model is published for); `tokens` and `precision` are as those keys of a config.

    >>> import ropescope as rs
    >>> yarn = rs.recipe("llama-2-7b", {"name": "yarn", "factor": 8})
    >>> yarn.parameters["beta_fast"].value
    '32'
    >>> round(yarn.tables(32768).attention_factor, 4)
    1.2079
    """
    library = shared_library(library, model, method)
    words = RecipeWords(
        model=_text_of(model_words(model)),
        method=None if method is None else yaml(method, "method"),
        layers=layers_of(layers),
        length=tokens_of(length),
        tokens=None if tokens is None else yaml(tokens, "tokens"),
        precision=None if precision is None else yaml(precision, "precision"),
    )
    if isinstance(model, Recipe):
        words = model._words._replace(**{member: value for member, value in words._asdict().items() if value})
    return _create_recipe(words, library)


def frequencies(
    model: Model,
    length: Length = None,
    *,
    method: Method | None = None,
    layers: str | int | None = None,
    library: Library | None = None,
) -> Array:
    """The inverse frequencies (P,) in rad/token that a model or a Recipe turns its pairs by at a length; see `recipe`.

    >>> import ropescope as rs
    >>> plain = rs.frequencies("llama-2-7b")
    >>> divided = rs.frequencies("llama-2-7b", 16384, method={"name": "pi", "factor": 4})
    >>> (plain / divided).round(12).tolist() == [4.0] * 64
    True
    """
    return recipe(model, method, layers=layers, length=length, library=library).tables().inv_freq
