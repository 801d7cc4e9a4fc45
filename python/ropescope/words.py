"""Python's values as the library reads them: models, methods, structs of its own."""
from __future__ import annotations

import json
import math
import os
import re
from typing import Any, Mapping, Union

from numpy.typing import NDArray

from ._native import ffi, lib
from .errors import named

#: Numbers in numpy's form; shapes and units stand in the documentation.
Array = NDArray[Any]

#: A config.json (path, folder or its contents), the name of a preset, or what has `to_dict()` as transformers' configs.
Model = Union[str, "os.PathLike[str]", Mapping[str, Any], Any]
#: A method: its name, YAML ("{name: yarn, factor: 8}") or the same as a dict.
Method = Union[str, Mapping[str, Any]]


#: Tokens: 32768, or as configs have it, "32k"; None: as the model has it.
Length = Union[int, float, str, None]

_LENGTH = re.compile(r"[0-9.]+[kKM]")
_TOKENS = re.compile(r"([0-9]+(?:\.[0-9]+)?)([kKM]?)")


def plain(value: Any) -> Any:
    """Numbers and arrays of numpy as Python's, for JSON."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "to_dict"):
        return value.to_dict()
    raise TypeError(f"{type(value).__name__} is not a value of a config: {value!r}")


def yaml(value: Any) -> str:
    """A value as YAML: a text is YAML already, and anything else becomes its flow form."""
    return value if isinstance(value, str) else _flow(value)


def _flow(value: Any) -> str:
    """JSON, which is YAML, but for lengths as "4k", which are numbers where they have no quotes."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(key))}: {_flow(member)}" for key, member in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(member) for member in value) + "]"
    if isinstance(value, str) and _LENGTH.fullmatch(value):
        return value
    return json.dumps(value, default=plain)


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
        if value is None:
            return
        try:
            setattr(self.pointer, member, self.keep(value) if isinstance(value, str) else value)
        except (OverflowError, TypeError) as error:  # cffi's words name neither the argument nor the value
            raise type(error)(f"{member} = {value!r}: {error}") from None

    def keep(self, value: str) -> Any:
        """`value` as C has it."""
        if "\0" in value:
            raise ValueError(f"a text holds a NUL: {value!r}")
        kept = ffi.new("char[]", value.encode())
        self._kept.append(kept)
        return kept

    def hold(self, value: Any) -> Any:
        """Keeps `value` alive as long as the struct."""
        self._kept.append(value)
        return value


def name_model(struct: Struct, model: Model | None) -> None:
    """Sets file, text or preset of a struct that has them."""
    if model is None:
        return
    if hasattr(model, "to_dict"):
        model = model.to_dict()
    if isinstance(model, Mapping):
        struct.set("text", json.dumps(model, default=plain))
        struct.set("file", "config")
    elif not isinstance(model, (str, os.PathLike)):
        raise TypeError(
            f"model = {model!r}: must be the path of a config.json or of its folder, its contents as a dict, "
            f"or the name of a preset (presets() has them)"
        )
    elif isinstance(model, os.PathLike) or os.sep in model or model.endswith(".json") or is_folder(model):
        struct.set("file", os.fspath(model))
    elif model.lstrip().startswith("{"):
        struct.set("text", model)
        struct.set("file", "config")
    else:
        struct.set("preset", model)


def is_folder(name: str) -> bool:
    """Whether `name`, which is no preset's, is a folder that holds a config.json."""
    return name not in presets() and os.path.exists(os.path.join(name, "config.json"))
