"""Writes _native.c: ropescope.h as a Python module (cffi).  Usage: native.py ropescope.h _native.c"""
import re
import sys
from pathlib import Path

from cffi import FFI

# What the library calls back. The functions are Python's (callbacks.py).
CALLBACKS = """
extern "Python" {
  void ropescope_python_progress(void *user, size_t done, size_t cells, double share);
  int ropescope_python_stop(void *user);
  ropescope_status ropescope_python_frequencies(void *user, const ropescope_method_call *call, double *inv_freq,
      double *attention_factor, double *logit_factor, char *message, size_t capacity);
  void ropescope_python_bias(void *user, const ropescope_method_call *call, size_t head, size_t query, size_t begin,
      size_t end, double *bias);
}
"""


def declarations(header: str) -> str:
    """The plain C between the header's two marks."""
    found = re.search(r"declarations begin -*\s*\*/(.*)/\* -*\s*declarations end", header, re.DOTALL)
    if found is None:
        raise SystemExit("native.py: the header has no lines that say where declarations begin and end")
    return found.group(1)


def main() -> None:
    header, out = sys.argv[1:]
    ffi = FFI()
    ffi.cdef(declarations(Path(header).read_text(encoding="utf-8")) + CALLBACKS)
    ffi.set_source("ropescope._native", '#include "ropescope.h"')
    ffi.emit_c_code(out)


if __name__ == "__main__":
    main()
