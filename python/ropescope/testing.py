"""Checks for the tests of engines."""
from __future__ import annotations

from typing import Any

import numpy as np

from .answers import compare
from .recipes import recipe
from .words import Array, Length, Model, real, wrong


def assert_inv_freq(
    model: Model,
    inv_freq: Any,
    attention_factor: float | None = None,
    *,
    length: Length = None,
    layers: str | int | None = None,
    tolerance: float = 1e-6,
) -> None:
    """Fails unless an engine turns the pairs of a model as its config.json says.

    `inv_freq` is what the engine computed, (P,) rad/token; `attention_factor` what it multiplies cos and sin by (None:
    not asked); `length` the length it was computed for (None: the longest that the model is published for). Float32 is
    good to 1e-6. The message says which pairs differ and which mistake makes the same numbers.

    >>> import ropescope as rs
    >>> rs.testing.assert_inv_freq("llama-2-7b", rs.frequencies("llama-2-7b").astype("float32"))
    >>> rs.testing.assert_inv_freq("llama-2-7b", rs.frequencies("llama-2-7b") / 4)
    Traceback (most recent call last):
    AssertionError: 64 of 64 inverse frequencies differ from llama-2-7b's {name: rope} ...
    """
    tables = recipe(model, layers=layers, length=length).tables()
    got, tolerance = _numbers(inv_freq), real(tolerance, "tolerance")
    wanted = tables.inv_freq
    title = f"{tables.recipe.model}'s {tables.recipe.text} at {tables.length} tokens"
    if got.shape != wanted.shape:
        raise AssertionError(f"inv_freq has shape {got.shape}; {title} has {wanted.shape}")
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.where(got == wanted, 0, np.abs(got - wanted) / np.abs(wanted))
    error = np.where(np.isnan(error), np.inf, error)
    bad = np.flatnonzero(error > tolerance)
    if len(bad) == 0:
        _assert_factor(attention_factor, tables.attention_factor, title, tolerance)
        return
    lines = [f"{len(bad)} of {len(wanted)} inverse frequencies differ from {title} by up to {error.max():.3g}:"]
    lines += [f"  pair {j}: {got[j]:.9g}, and not {wanted[j]:.9g}" for j in bad[:5]]
    lines += [f"  and {len(bad) - 5} more"] if len(bad) > 5 else []
    if np.isfinite(got).all():
        causes = compare(model, got, layers=layers, length=length, tolerance=tolerance).causes
        lines += [f"  {cause.text.replace('B is A', 'they are its', 1)}" for cause in causes[:1]]
    raise AssertionError("\n".join(lines))


def _numbers(given: Any) -> Array:
    """An array or tensor, on whatever device, as float64."""
    for step in ("detach", "cpu", "float"):
        given = getattr(given, step)() if hasattr(given, step) else given
    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise wrong(given, "inv_freq", "an array of numbers (P,)") from None


def _assert_factor(got: float | None, wanted: float, title: str, tolerance: float) -> None:
    number = wanted if got is None else real(got, "attention_factor")
    if not abs(number - wanted) <= tolerance * abs(wanted):
        raise AssertionError(f"cos and sin are multiplied by {number:.9g}, and not by {wanted:.9g}, under {title}")
