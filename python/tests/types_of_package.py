"""types_of_package.py ROOT: mypy reads the package, strictly, and a program that uses it. Status 77: no mypy here."""
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """
from typing import List

import numpy as np
import ropescope as rs

tables: rs.Tables = rs.recipe("llama-2-7b", {"name": "yarn", "factor": 8}, length="32k").tables()
q = np.zeros((2, 8, 64), np.float32)
entropy: np.ndarray = rs.statistics(q, q, method="rope", queries=[1, 2]).entropy
results: rs.Results = rs.run({"model": "gpt2"}, progress=lambda done, cells, share: None)
one: rs.Picture = rs.plot(results, "decay")
every: rs.Pictures = rs.plot(results)
lines: List[int] = [finding.line for finding in rs.check("config.json").at_least("error")]
base: float = rs.solve("base", length=4096, model="gpt2", criterion="ntk_aware").value
numbers: List[str] = [solution.number for solution in rs.solve("base", length="4k", model="gpt2").values()]
rs.testing.assert_inv_freq("gpt2", [1.0])
"""
MISTAKE = "rs.run(threads='two')\n"


def main() -> int:
    if importlib.util.find_spec("mypy") is None:
        print(f"types: skipped: {sys.executable} has no mypy (Debian: mypy)")
        return 77
    root = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "mypy", "--config-file", root / "pyproject.toml", "--cache-dir", f"{folder}/cache"]
        program, wrong = Path(folder, "program.py"), Path(folder, "wrong.py")
        program.write_text(PROGRAM)
        wrong.write_text(PROGRAM + MISTAKE)
        subprocess.run([*command, root / "python" / "ropescope"], check=True)
        loose, environment = ["--allow-any-generics"], {"MYPYPATH": str(root / "python"), "PATH": "/usr/bin:/bin"}
        subprocess.run([*command, *loose, program], check=True, env=environment)
        told = subprocess.run([*command, *loose, wrong], env=environment, capture_output=True, text=True)
        if told.returncode != 1 or "threads" not in told.stdout:
            print(f"types: a mistake was not found: {told.stdout}{told.stderr}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
