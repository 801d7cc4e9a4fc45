"""Python's values as the library reads them: models, methods, structs of its own."""
from __future__ import annotations

import json
import math
import operator
import os
import re
import reprlib
from typing import Any, Iterable, Iterator, Mapping, NamedTuple, Union

from numpy.typing import NDArray

from ._native import ffi, lib
from .errors import named

#: Numbers in numpy's form; shapes and units stand in the documentation.
Array = NDArray[Any]

#: A config.json (path, folder or its contents), a GGUF file (path), the name of a preset, what has `to_dict()` as transformers' configs, or
#: a Recipe.
Model = Union[str, "os.PathLike[str]", Mapping[str, Any], Any]
#: A method: its name, YAML ("{name: yarn, factor: 8}"), the same as a dict, or a Recipe.
Method = Union[str, Mapping[str, Any], Any]


#: Tokens: 32768, or as configs have it, "32k"; None: as the model has it.
Length = Union[int, float, str, None]

_LENGTH = re.compile(r"[0-9.]+[kKM]")
_TOKENS = re.compile(r"([0-9]+(?:\.[0-9]+)?)([kKM]?)")


# ---- arguments of the wrong type -------------------------------------------------------------------------------------


def wrong(value: Any, name: str, wanted: str) -> TypeError:
    """The exception for an argument that is of none of its types."""
    return TypeError(f"{name} = {reprlib.repr(value)}: must be {wanted}")


def word(value: Any, name: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise wrong(value, name, "a text")
    return value


def integer(value: Any, name: str) -> int:
    """An integer from 0 on."""
    try:
        number = operator.index(value)
    except TypeError:
        raise wrong(value, name, "an integer") from None
    if number < 0 or number >= 1 << 63:
        raise ValueError(f"{name} = {value!r}: must be an integer from 0 to 2^63 - 1")
    return number


def real(value: Any, name: str) -> float:
    """A number."""
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise wrong(value, name, "a number")


def one_of(value: Any, choices: Iterable[Any], name: str) -> Any:
    """One of the texts (or None) in `choices`."""
    known = list(choices)
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in known):
        words = ", ".join("None" if choice is None else f'"{choice}"' for choice in known)
        raise ValueError(f"{name} = {reprlib.repr(value)}: must be one of {words}")
    return value


def path_of(value: Any, name: str) -> str:
    """A path as a text."""
    if isinstance(value, (str, bytes, os.PathLike)):
        return os.fsdecode(value)
    raise wrong(value, name, "a path")


def encoded(value: str, name: str) -> bytes:
    """A text or path as C has it, without its NUL."""
    made = os.fsencode(value)
    if b"\0" in made:
        raise ValueError(f"{name}: a text holds a NUL: {value!r}")
    return made


def owned(pointer: Any, maker: str) -> Any:
    """An object of the library's, which nobody makes but `maker`."""
    if not isinstance(pointer, ffi.CData):
        raise TypeError(f"this class has no constructor of its own: {maker} makes its objects")
    return pointer


class Unpicklable:
    """What stands in the memory of the library alone."""

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be pickled or copied; its arrays can")


# ---- models and methods in words -------------------------------------------------------------------------------------


class ModelWords(NamedTuple):
    """A model as ropescope_recipe_source has it."""

    file: str | None = None
    text: str | None = None
    preset: str | None = None


class RecipeWords(NamedTuple):
    """What a recipe is made of."""

    model: ModelWords
    method: str | None
    layers: str | None
    length: int
    tokens: str | None
    precision: str | None


class Worded:
    """A Recipe, as far as others read it: what it was made of, and its method as configs have it."""

    _words: RecipeWords
    _library: Any

    def _method_text(self) -> str:
        raise NotImplementedError

    def _only_method(self, name: str) -> str:
        """The method, for arguments that take nothing else of a recipe."""
        for key in ("tokens", "precision"):
            if getattr(self._words, key) is not None:
                raise ValueError(f"{name}: the recipe has {key} = {getattr(self._words, key)}, which no method has")
        return self._method_text()


def recipes_in(value: Any) -> Iterator[Worded]:
    """The recipes in a config or an argument."""
    if isinstance(value, Worded):
        yield value
    elif isinstance(value, (Mapping, list, tuple)):
        for member in value.values() if isinstance(value, Mapping) else value:
            yield from recipes_in(member)


def shared_library(library: Any, *values: Any) -> Any:
    """The one Library of an argument and of the recipes in others; None: the built-in methods alone."""
    found = {id(one): one for one in [library, *(r._library for v in values for r in recipes_in(v))] if one is not None}
    if len(found) > 1:
        raise ValueError("library: the recipes have methods of another Library; make all of them with one")
    return next(iter(found.values()), None)


def plain(value: Any) -> Any:
    """Numbers and arrays of numpy as Python's, for JSON."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "to_dict"):
        return value.to_dict()
    raise TypeError(f"{type(value).__name__} is not a value of a config: {value!r}")


def json_text(value: Any, name: str, indent: int | None = None) -> str:
    """A value as JSON."""
    try:
        return json.dumps(value, default=plain, indent=indent)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from None


def yaml(value: Any, name: str = "config") -> str:
    """A value as YAML: a text is YAML already, a Recipe its method, and anything else becomes its flow form; `name` is
    the argument's, for messages."""
    return value if isinstance(value, str) else _flow(value, name)


def _flow(value: Any, name: str) -> str:
    """JSON, which is YAML, but for lengths as "4k", which are numbers where they have no quotes."""
    if isinstance(value, Worded):
        return value._only_method(name)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(k))}: {_flow(v, f'{name}.{k}')}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(member, f"{name}[{i}]") for i, member in enumerate(value)) + "]"
    if isinstance(value, str) and _LENGTH.fullmatch(value):
        return value
    return json_text(value, name)


def tokens(value: Any, name: str = "length") -> int:
    """A length as configs have it: 8192, "8k", "1M"; None: 0."""
    if value is None:
        return 0
    if isinstance(value, str):
        match = _TOKENS.fullmatch(value.strip())
        number = float(match[1]) * {"": 1, "k": 1 << 10, "K": 1 << 10, "M": 1 << 20}[match[2]] if match else math.nan
    else:
        number = value
    try:
        if number == int(number) and 0 <= number < 1 << 63:
            return int(number)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f'{name} = {value!r}: must be a number of tokens, as 8192, "8k" or "1M" (k: 1024, M: 1024k)')


def presets() -> list[str]:
    """The names of the built-in models."""
    return [name for name, _, _ in named(lib.ropescope_preset_at)]


class Struct:
    """A struct of the library's with its `size` set; texts that it borrows live as long as it does."""

    def __init__(self, name: str, /, **members: Any):
        self.pointer = ffi.new(name + " *")
        self.pointer.size = ffi.sizeof(name)
        self._kept: list[Any] = []
        for member, value in members.items():
            self.set(member, value)

    def set(self, member: str, value: Any) -> None:
        """Sets a member; NULL or 0 for None. `member` is what users know the argument by."""
        if value is None:
            return
        try:
            setattr(self.pointer, member, self.keep(value, member) if isinstance(value, str) else value)
        except (OverflowError, TypeError) as error:
            fields = dict(ffi.typeof(self.pointer).item.fields)
            kind = fields[member].type.cname
            wanted = "a text" if kind == "char *" else "a number" if kind == "double" else "an integer from 0 on"
            told = wrong(value, member, wanted)
            raise (ValueError(str(told)) if isinstance(error, OverflowError) else told) from None

    def keep(self, value: str, name: str) -> Any:
        """`value` as C has it."""
        kept = ffi.new("char[]", encoded(word(value, name), name))
        self._kept.append(kept)
        return kept

    def hold(self, value: Any) -> Any:
        """Keeps `value` alive as long as the struct."""
        self._kept.append(value)
        return value


def layers_of(layers: Any) -> str | None:
    """Layers by kind or number."""
    if layers is None or isinstance(layers, str):
        return layers
    return str(integer(layers, "layers"))


def model_words(model: Any) -> ModelWords:
    """A model by file, text or preset; the file is not read. None: no model."""
    if model is None:
        return ModelWords()
    if isinstance(model, Worded):
        return model._words.model
    if hasattr(model, "to_dict"):
        model = model.to_dict()
    if isinstance(model, Mapping):
        return ModelWords("config", json_text(model, "model"))
    if not isinstance(model, (str, os.PathLike)):
        raise wrong(
            model,
            "model",
            "the path of a config.json, of its folder or of a GGUF file, its contents as a dict, a Recipe, or the name of a preset "
            "(presets() has them)",
        )
    if isinstance(model, os.PathLike) or os.sep in model or model.endswith((".json", ".gguf")) or is_folder(model):
        return ModelWords(os.fsdecode(model))
    if model.lstrip().startswith("{"):
        return ModelWords("config", model)
    return ModelWords(preset=model)


def name_model(struct: Struct, model: Model | None) -> None:
    """Sets file, text or preset of a struct that has them."""
    for member, value in model_words(model)._asdict().items():
        struct.set(member, value)


def is_folder(name: str) -> bool:
    """Whether `name`, which is no preset's, is a folder that holds a config.json."""
    return name not in presets() and os.path.exists(os.path.join(name, "config.json"))
