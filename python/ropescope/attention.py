"""Statistics of given queries and keys under a recipe."""
from __future__ import annotations

import sys
from functools import cached_property
from typing import Any, Mapping, Sequence

import numpy as np

from ._native import ffi, lib
from .errors import create
from .frames import Frame, table
from .methods import Library, lender_of, raising
from .recipes import Recipe, copied, recipe
from .words import Array, Method, Model, Struct, Unpicklable, one_of, owned, real, integer, wrong, yaml

_MASKS = {
    None: lib.ROPESCOPE_MASK_OF_LAYER,
    "causal": lib.ROPESCOPE_MASK_CAUSAL,
    "bidirectional": lib.ROPESCOPE_MASK_BIDIRECTIONAL,
    "window": lib.ROPESCOPE_MASK_WINDOW,
    "window_sinks": lib.ROPESCOPE_MASK_WINDOW_SINKS,
    "cross": lib.ROPESCOPE_MASK_CROSS,
    "chunks": lib.ROPESCOPE_MASK_CHUNKS,
    "band": lib.ROPESCOPE_MASK_BAND,
}
_DTYPES = {"float64": lib.ROPESCOPE_F64, "float32": lib.ROPESCOPE_F32, "float16": lib.ROPESCOPE_F16}


def as_rows(given: Any, name: str) -> tuple[Array, int]:
    """An array where it stands, or, where that cannot be read, a copy; and the library's number for its type.

    Takes numpy's arrays, torch's tensors on the CPU (bfloat16 too), and whatever has `__array__` or `__dlpack__`.
    """
    given = given.detach() if hasattr(given, "detach") else given
    bfloat16 = str(getattr(given, "dtype", "")).endswith("bfloat16")
    if bfloat16 and "torch" in sys.modules and isinstance(given, sys.modules["torch"].Tensor):
        given = given.view(sys.modules["torch"].int16)
    try:
        by_dlpack = hasattr(given, "__dlpack__") and not hasattr(given, "__array__")
        array = np.from_dlpack(given) if by_dlpack else np.asarray(given)
    except Exception as error:  # of whatever library the value is
        raise TypeError(f"{name} is no array of numbers: {error}") from error
    if bfloat16:
        array = array.view(np.uint16)
    elif array.dtype.name not in _DTYPES:
        raise TypeError(f"{name} holds {array.dtype.name}; float64, float32, float16 and bfloat16 are read")
    size = array.itemsize
    if any(stride % size for stride in array.strides) or not array.flags.aligned or not array.dtype.isnative:
        array = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    return array, lib.ROPESCOPE_BF16 if bfloat16 else _DTYPES[array.dtype.name]


def _of_heads(array: Array, layout: str, name: str) -> Array:
    """A view (H, L, D) of rows."""
    if array.ndim == 2:
        return array[None]
    if array.ndim != 3:
        raise ValueError(f"{name} has shape {array.shape}: (L, D), or (H, L, D), or (L, H, D) with layout='lhd'")
    return array if layout == "hld" else array.transpose(1, 0, 2)


def _set_rows(place: Any, array: Array, dtype: int) -> None:
    size = array.itemsize
    place.data = ffi.cast("const void *", array.ctypes.data)
    place.dtype = dtype
    place.head_stride, place.token_stride, place.dim_stride = (stride // size for stride in array.strides)


class Statistics(Unpicklable):
    """What was observed of each query: arrays (H, Q), read-only; positions and counts are int64. Weights are those of
    the softmax. `query` says which positions the queries have."""

    def __init__(self, pointer: Any, recipe: Recipe, first_query: int):
        self._pointer = owned(pointer, "ropescope.statistics()")
        self.recipe = recipe  #: the recipe that they are under
        self.first_query = first_query  #: the position of the first token of q: by default q are the last tokens of k

    def __repr__(self) -> str:
        heads, queries = (lib.ropescope_statistics_heads(self._pointer), lib.ropescope_statistics_queries(self._pointer))
        places = f"at positions {self.query[0, 0]} to {self.query[0, -1]}"
        return f"<ropescope.Statistics of {queries} queries {places} in {heads} heads under {self.recipe!r}>"

    def _values(self, observable: int, dtype: Any = np.float64) -> Array:
        heads = lib.ropescope_statistics_heads(self._pointer)
        out = np.stack(
            [copied(lib.ropescope_statistics_values, self._pointer, head, observable) for head in range(heads)]
        ).astype(dtype)
        out.flags.writeable = False
        return out

    @cached_property
    def query(self) -> Array:
        """Positions of the queries, int64."""
        return self._values(lib.ROPESCOPE_QUERY_POSITION, np.int64)

    @cached_property
    def keys(self) -> Array:
        """How many keys each sees, int64."""
        return self._values(lib.ROPESCOPE_KEYS, np.int64)

    @cached_property
    def max_logit(self) -> Array:
        """nats."""
        return self._values(lib.ROPESCOPE_MAX_LOGIT)

    @cached_property
    def log_sum_exp(self) -> Array:
        """nats."""
        return self._values(lib.ROPESCOPE_LOG_SUM_EXP)

    @cached_property
    def entropy(self) -> Array:
        """nats."""
        return self._values(lib.ROPESCOPE_ENTROPY)

    @cached_property
    def argmax(self) -> Array:
        """The position of the key with the largest logit, int64."""
        return self._values(lib.ROPESCOPE_ARGMAX, np.int64)

    @cached_property
    def first_weight(self) -> Array:
        """The weight of the first keys together."""
        return self._values(lib.ROPESCOPE_FIRST_WEIGHT)

    @cached_property
    def learned_weight(self) -> Array:
        """The weight of the learned sink."""
        return self._values(lib.ROPESCOPE_LEARNED_WEIGHT)

    @cached_property
    def target_distance(self) -> Array:
        """Tokens to the key that is sought; this and the next three are NaN where none is, or it is not seen."""
        return self._values(lib.ROPESCOPE_TARGET_DISTANCE)

    @cached_property
    def target_logit(self) -> Array:
        """nats."""
        return self._values(lib.ROPESCOPE_TARGET_LOGIT)

    @cached_property
    def target_weight(self) -> Array:
        """The weight of that key."""
        return self._values(lib.ROPESCOPE_TARGET_WEIGHT)

    @cached_property
    def target_rank(self) -> Array:
        """Keys with a larger logit."""
        return self._values(lib.ROPESCOPE_TARGET_RANK)

    @cached_property
    def edges(self) -> Array:
        """(bins + 1,) tokens, int64: bin i has edges[i] <= |m - n| < edges[i + 1]."""
        out = copied(lib.ropescope_statistics_edges, self._pointer).astype(np.int64)
        out.flags.writeable = False
        return out

    @cached_property
    def mass(self) -> Array:
        """(H, Q, bins) the weight of the keys in each bin of distances; asked for by `by_distance=True`."""
        shape = self.query.shape[1], lib.ropescope_statistics_bins(self._pointer)
        if lib.ropescope_statistics_mass(self._pointer, 0, ffi.NULL, 0) != shape[0] * shape[1]:
            raise ValueError("the weight by distance was not kept: statistics(..., by_distance=True)")
        out = np.stack(
            [
                copied(lib.ropescope_statistics_mass, self._pointer, head, shape=shape)
                for head in range(len(self.query))
            ]
        )
        out.flags.writeable = False
        return out

    @property
    def summary(self) -> dict[str, Any]:
        """The numbers of the metrics that were asked for."""
        pointer = lib.ropescope_statistics_summary(self._pointer)
        if pointer == ffi.NULL:
            return {}
        frame = Frame(pointer, self)
        return {c.name: frame[c.name][0].item() for c in frame.columns}

    @property
    def curves(self) -> dict[str, Any]:
        """The curves of these metrics, by metric: a DataFrame where pandas is there, else a structured array."""
        out, index = {}, 0
        while (pointer := lib.ropescope_statistics_curve(self._pointer, index)) != ffi.NULL:
            name = ffi.string(lib.ropescope_statistics_curve_name(self._pointer, index)).decode()
            out[name] = table(Frame(pointer, self))
            index += 1
        return out


def statistics(
    q: Any,
    k: Any,
    recipe: Recipe | Model | None = None,
    *,
    model: Model | None = None,
    method: Method | None = None,
    layers: str | int | None = None,
    layout: str = "hld",
    mask: str | None = None,
    window: int | None = None,
    sinks: int | None = None,
    queries: Sequence[int] | int | None = None,
    first_query: int | None = None,
    targets: Sequence[int | None] | None = None,
    softmax_scale: float = 0,
    soft_cap: float = 0,
    learned_sinks: Sequence[float] | None = None,
    first_keys: int = 0,
    bins_per_octave: int = 0,
    exact: bool = False,
    by_distance: bool = False,
    metrics: Any = None,
    seed: int = 0,
    threads: int = 0,
    library: Library | None = None,
) -> Statistics:
    """What attention makes of queries and keys before rotation, (L, D), (H, L, D), or (L, H, D) with layout="lhd".

    Arrays are read where they are: no (L, L) array is ever made, nor a copy of q or k. Where q has fewer tokens than k
    they are the last ones, as in a step of decoding; `first_query` says another position for the first of them.

    The recipe is one that `recipe` has made, or a model as that takes one (the name of a preset), with `method` on it;
    without any of these, a Llama with as many heads, trained at this length with base 10000. `mask` is "causal",
    "bidirectional", "window" (with `window`), "window_sinks" (with `sinks`, too), "cross", "chunks" or "band"; None: as
    the layers of the model have it. `queries` are positions, or how many of the last ones; `targets` are positions of
    the keys that they seek, or None. `exact` has all logits in doubles; `by_distance` keeps the weight of each query by
    distance (`mass`). `metrics` names metrics ("[entropy]", or a list), whose numbers are then in `summary` and
    `curves`.

    >>> import numpy as np, ropescope as rs
    >>> q, k = np.random.default_rng(1).standard_normal((2, 4, 512, 64))
    >>> seen = rs.statistics(q, k, method="rope", queries=8)
    >>> seen.entropy.shape, bool((seen.entropy < np.log(512)).all())
    ((4, 8), True)
    """
    one_of(layout, ("hld", "lhd"), "layout")
    one_of(mask, _MASKS, "mask")
    (q, q_type), (k, k_type) = as_rows(q, "q"), as_rows(k, "k")
    q, k = _of_heads(q, layout, "q"), _of_heads(k, layout, "k")
    if q.shape[2] != k.shape[2]:
        raise ValueError(f"q has {q.shape[2]} numbers a token and k has {k.shape[2]}")
    first = _first_query(first_query, q.shape[1], k.shape[1])
    chosen = _recipe_of(q.shape, k.shape, recipe, model, method, layers, library)
    job = Struct("ropescope_attention", recipe=chosen._pointer, mask=_MASKS[mask])
    _set_rows(job.pointer.q, q, q_type)
    _set_rows(job.pointer.k, k, k_type)
    sizes = {"heads": q.shape[0], "kv_heads": k.shape[0], "length": k.shape[1], "head_dim": q.shape[2]}
    sizes.update(query_tokens=q.shape[1], first_query=first, first_keys=first_keys, window=window, sinks=sinks)
    for member, value in {**sizes, "bins_per_octave": bins_per_octave, "seed": seed, "threads": threads}.items():
        job.set(member, value)
    for member, number in {"softmax_scale": softmax_scale, "soft_cap": soft_cap}.items():
        job.set(member, number)
    job.set("exact", bool(exact))
    job.set("by_distance", bool(by_distance))
    observed = _positions(queries, first, q.shape[1])
    if observed is not None:
        job.set("queries", job.hold(ffi.new("size_t[]", observed)))
        job.set("query_count", len(observed))
    if targets is not None:
        count = len(observed) if observed is not None else q.shape[1]
        targets = listed(targets, "targets")
        if len(targets) != count:
            raise ValueError(f"{len(targets)} targets of {count} observed queries")
        no_target = ffi.cast("size_t", -1)
        places = [no_target if t is None else integer(t, "targets") for t in targets]
        job.set("targets", job.hold(ffi.new("size_t[]", places)))
    if learned_sinks is not None:
        learned_sinks = listed(learned_sinks, "learned_sinks")
        if len(learned_sinks) != q.shape[0]:
            raise ValueError(f"{len(learned_sinks)} learned sinks of {q.shape[0]} heads")
        job.set("learned_sinks", job.hold(ffi.new("double[]", [real(s, "learned_sinks") for s in learned_sinks])))
    metrics = [metrics] if isinstance(metrics, Mapping) else metrics
    job.set("metrics", None if metrics is None else yaml(metrics, "metrics"))
    with raising(chosen._library):
        made = create(
            lib.ropescope_statistics_create,
            lib.ropescope_statistics_free,
            job.pointer,
            lender=lender_of(chosen._library),
        )
    return Statistics(made, chosen, first)


def listed(value: Any, name: str) -> list[Any]:
    """A list, an array, or whatever else can be gone through."""
    try:
        if not isinstance(value, (str, bytes)):
            return list(value)
    except TypeError:
        pass
    raise wrong(value, name, "a list")


def _first_query(first_query: int | None, rows: int, length: int) -> int:
    """The position of the first token of q."""
    if rows > length:
        raise ValueError(f"q has {rows} tokens and k has {length}: queries are among the tokens that the keys are of")
    last = length - rows
    first = last if first_query is None else integer(first_query, "first_query")
    if first > last:
        raise ValueError(f"first_query = {first}: {rows} queries from there are not among {length} tokens: at most {last}")
    return first


def _positions(queries: Sequence[int] | int | None, first: int, count: int) -> list[int] | None:
    if queries is None:
        return None
    if isinstance(queries, (int, np.integer)):
        return list(range(first + max(count - integer(queries, "queries"), 0), first + count))
    return [integer(position, "queries") for position in listed(queries, "queries")]


def _recipe_of(
    q: tuple[int, ...],
    k: tuple[int, ...],
    given: Recipe | Model | None,
    model: Model | None,
    method: Method | None,
    layers: str | int | None,
    library: Library | None,
) -> Recipe:
    if given is not None and model is not None:
        raise ValueError("model stands beside recipe: one of them names the model")
    if isinstance(given, Recipe) and method is None and layers is None and library in (None, given._library):
        return given
    model = model if given is None else given
    if model is None:
        model = {
            "model_type": "llama",
            "num_attention_heads": q[0],
            "num_key_value_heads": k[0],
            "hidden_size": q[0] * q[2],
            "head_dim": q[2],
            "rope_theta": 10000.0,
            "max_position_embeddings": k[1],
        }
    return recipe(model, method, layers=layers, length=k[1], library=library)
