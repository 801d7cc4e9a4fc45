"""folder.py PREFIX DEFAULT: the folder below PREFIX where this Python looks for modules; DEFAULT where it looks at none.

Meson's own answer (DEFAULT) is right for /usr; below /usr/local Debian's Python reads another one.
"""
import site
import sys
from pathlib import Path

prefix, default = map(Path, sys.argv[1:])
folders = list(map(Path, site.getsitepackages()))
below = [folder for folder in folders if prefix in folder.parents]
print(default if default in below or not below else below[0])
