"""ropescope.h as cffi has it; what comes from C has no types of Python's."""
from typing import Any

ffi: Any
lib: Any
