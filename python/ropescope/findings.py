"""Is a config.json right?"""
from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Tuple

from ._native import ffi, lib
from .errors import create, entries, text
from .words import Model, encoded, json_text, one_of, path_of, word

_SEVERITIES = {lib.ROPESCOPE_NOTE: "note", lib.ROPESCOPE_WARNING: "warning", lib.ROPESCOPE_ERROR: "error"}


class Finding(NamedTuple):
    """One thing that was found. Lines and columns count from 1; 0: of the file as a whole."""

    code: str
    rule: str
    severity: str
    line: int
    column: int
    key: str
    text: str
    fix: str


class Findings(Tuple[Finding, ...]):
    """What was found, by line."""

    name: str

    def __new__(cls, name: str, found: Any) -> Findings:
        made = super().__new__(cls, found)
        made.name = name
        return made

    def __getnewargs__(self) -> Any:
        return self.name, tuple(self)

    def at_least(self, severity: str) -> list[Finding]:
        """Those that are at least a "note", a "warning" or an "error"."""
        ranks = list(_SEVERITIES.values())
        least = ranks.index(one_of(severity, ranks, "severity"))
        return [finding for finding in self if ranks.index(finding.severity) >= least]

    def __repr__(self) -> str:
        return str(self) or f"<ropescope.Findings: nothing in {self.name}>"

    def __str__(self) -> str:
        lines = []
        for f in self:
            place = f"{self.name}:{f.line}:{f.column}" if f.line else self.name
            lines.append(f"{place}: {f.severity}: {f.text} [{f.code}]" + (f"\n    fix: {f.fix}" if f.fix else ""))
        return "\n".join(lines)


def check(config: Model, engines: str | None = None) -> Findings:
    """What is wrong in a config.json: its path, its folder, its contents as a dict or JSON; or in a GGUF file.

    `engines` names what it is to be read by ("vllm, transformers@4.52"); None: any.

    >>> import ropescope as rs
    >>> found = rs.check({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
    ...                   "max_position_embeddings": 8192, "rope_theta": 10000.0,
    ...                   "rope_scaling": {"rope_type": "linear", "factor": 0.5}})
    >>> [(finding.code, finding.key) for finding in found.at_least("error")]
    [('RS203', 'rope_scaling.factor')]
    """
    name, words = "config", None
    if hasattr(config, "to_dict") or isinstance(config, Mapping):
        words = json_text(config, "config", indent=2)
    elif isinstance(config, str) and config.lstrip().startswith("{"):
        words = config
    else:
        name = path_of(config, "config")
    text_bytes = (words or "").encode()
    pointer = create(
        lib.ropescope_check,
        lib.ropescope_findings_free,
        ffi.NULL if words is None else text_bytes,
        len(text_bytes),
        encoded(name, "config"),
        ffi.NULL if engines is None else encoded(word(engines, "engines"), "engines"),
    )
    found = (
        Finding(text(f.code), text(f.rule), _SEVERITIES[f.severity], f.line, f.column, text(f.key), text(f.text), text(f.fix))
        for f in entries(lib.ropescope_findings_at, pointer)
    )
    return Findings(name, found)
