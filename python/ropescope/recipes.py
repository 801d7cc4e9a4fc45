"""Recipes, which are methods with their parameters on one model's layers, and the tables that they come to."""
from __future__ import annotations

from functools import cached_property
from typing import Any, Callable, NamedTuple

import numpy as np

from ._native import ffi, lib
from .errors import call, create, entries, text
from .methods import Library, lender_of, pointer_of, raising
from .words import Array, Length, Method, Model, name_model, Struct, tokens as tokens_of, yaml


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


class Recipe:
    """A method with its parameters, resolved for the layers of one model. Made by `recipe`."""

    def __init__(self, pointer: Any, library: Library | None):
        self._pointer = pointer
        self._library = library  # outlives the recipe

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
        return Tables(self, tokens_of(length))

    def __repr__(self) -> str:
        return f"<ropescope.Recipe {self.text} on {self.model} at {self.length} tokens>"


class Tables:
    """What a recipe comes to at one length. Arrays are float64 and read-only."""

    def __init__(self, recipe: Recipe, length: int):
        self.recipe = recipe
        with raising(recipe._library):
            self._pointer = create(
                lib.ropescope_tables_create,
                lib.ropescope_tables_free,
                *(recipe._pointer, length),
                lender=lender_of(recipe._library),
            )

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
        return copied(
            lib.ropescope_tables_positions, self._pointer, side_of(side), view, shape=(self.length, self.axes)
        )

    @cached_property
    def logit_scale(self) -> Array:
        """(L,) what the logits of each query are multiplied by."""
        return copied(lib.ropescope_tables_logit_scale, self._pointer)

    def cos_sin(
        self, begin: int = 0, end: int | None = None, *, side: str = "query", view: int = 0, head: int = 0
    ) -> tuple[Array, Array]:
        """Cosine and sine of tokens [begin, end), (end - begin, P) each, times the attention factor."""
        end = self.length if end is None else end
        cosine, sine = (np.empty((max(end - begin, 0), self.pairs)) for _ in range(2))
        call(
            lib.ropescope_tables_cos_sin,
            *(self._pointer, side_of(side), view, head, begin, end, doubles(cosine), doubles(sine)),
        )
        return cosine, sine

    @cached_property
    def slopes(self) -> Array:
        """(H,) nats/token; empty where the bias has no slopes."""
        return copied(lib.ropescope_tables_slopes, self._pointer)

    def bias(self, head: int, query: int, begin: int = 0, end: int | None = None) -> Array:
        """(end - begin,) nats that are added to the logits of a query with keys [begin, end), all up to it by default."""
        out = np.empty(max((query + 1 if end is None else end) - begin, 0))
        with raising(self.recipe._library):
            call(lib.ropescope_tables_bias, self._pointer, head, query, begin, begin + len(out), doubles(out))
        return out

    def embedding(self, begin: int = 0, count: int | None = None) -> Array:
        """(count, width) what is added to tokens [begin, begin + count)."""
        out = np.empty((self.length - begin if count is None else count, self.width))
        call(lib.ropescope_tables_embedding, self._pointer, begin, len(out), doubles(out))
        return out


def side_of(side: str) -> int:
    """The library's number for "query" or "key"."""
    sides = {"query": lib.ROPESCOPE_QUERY, "key": lib.ROPESCOPE_KEY}
    if side not in sides:
        raise ValueError(f'side is "query" or "key", not {side!r}')
    return sides[side]


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

    `model` is a config.json (its path, its folder, its contents as a dict) or the name of a preset; `method` is a
    name or a dict with parameters (None: what the model publishes, else plain RoPE); `layers` is a kind
    ("sliding_attention") or a number, where a model's layers differ; `length` is what it is for, in tokens (32768 or
    "32k"; None: the longest that the model is published for); `tokens` and `precision` are as those keys of a config.

    >>> import ropescope as rs
    >>> yarn = rs.recipe("llama-2-7b", {"name": "yarn", "factor": 8})
    >>> yarn.parameters["beta_fast"].value
    '32'
    >>> round(yarn.tables(32768).attention_factor, 4)
    1.2079
    """
    source = Struct("ropescope_recipe_source", layers=None if layers is None else str(layers))
    source.set("length", tokens_of(length))
    name_model(source, model)
    for member, value in (("method", method), ("tokens", tokens), ("precision", precision)):
        source.set(member, None if value is None else yaml(value))
    with raising(library):
        pointer = create(
            lib.ropescope_recipe_create,
            lib.ropescope_recipe_free,
            *(pointer_of(library), source.pointer),
            lender=lender_of(library),
        )
    return Recipe(pointer, library)


def frequencies(
    model: Model,
    length: Length = None,
    *,
    method: Method | None = None,
    layers: str | int | None = None,
    library: Library | None = None,
) -> Array:
    """The inverse frequencies (P,) in rad/token that a model turns its pairs by at a length; see `recipe`.

    >>> import ropescope as rs
    >>> plain = rs.frequencies("llama-2-7b")
    >>> divided = rs.frequencies("llama-2-7b", 16384, method={"name": "pi", "factor": 4})
    >>> (plain / divided).round(12).tolist() == [4.0] * 64
    True
    """
    return recipe(model, method, layers=layers, length=length, library=library).tables().inv_freq
