"""run.py ROOT [FOLDER]: runs the tests of the package and every example of its documentation, of the package in FOLDER
(a build folder's), or of the one that is installed. Without pytest, numpy or cffi it says so and ends with status 77,
"skipped"."""
import importlib.util
import os
import sys
from pathlib import Path


def main() -> int:
    missing = [name for name in ("pytest", "numpy", "cffi") if importlib.util.find_spec(name) is None]
    if missing:
        packages = " ".join("python3-" + name for name in missing)
        print(f"python: skipped: {sys.executable} has no {', '.join(missing)} (Debian: apt-get install {packages})")
        return 77

    root, *folder = (Path(argument).resolve() for argument in sys.argv[1:])
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.path[:0] = map(str, folder)

    import pytest

    found = importlib.util.find_spec("ropescope")
    if found is None:
        sys.exit(f"python: {sys.executable} has no ropescope")
    package = Path(found.origin).parent
    if folder and package.parent != folder[0]:
        sys.exit(f"python: ropescope is {package}, and not that of {folder[0]}")
    tests = root / "python" / "tests"
    arguments = ["-q", "-p", "no:cacheprovider", "--tb=short", f"--rootdir={root / 'python'}", "--doctest-modules"]
    arguments += ["--doctest-glob=python.md", "--doctest-continue-on-failure", f"--ignore={tests / 'run.py'}"]
    return pytest.main([*arguments, str(package), str(tests), str(root / "docs" / "python.md")])


if __name__ == "__main__":  # processes that a test starts import this file, too
    sys.exit(main())
