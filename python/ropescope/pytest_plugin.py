"""For pytest: the fixture `assert_inv_freq`, and --check-configs, which makes a test of every config.json."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("ropescope").addoption(
        "--check-configs",
        choices=["note", "warning", "error"],
        nargs="?",
        const="warning",
        help="check every config.json of a model; findings of this severity fail (default: warning)",
    )


@pytest.fixture
def assert_inv_freq() -> Callable[..., None]:
    """ropescope.testing.assert_inv_freq."""
    from .testing import assert_inv_freq as function

    return function


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> pytest.Collector | None:
    if file_path.name != "config.json" or parent.config.getoption("check_configs") is None:
        return None
    return ConfigFile.from_parent(parent, path=file_path)


class ConfigFile(pytest.File):
    """A config.json; one that names no model type has no test."""

    def collect(self) -> Iterator[pytest.Item]:
        try:
            config: Any = json.loads(self.path.read_text(encoding="utf-8"))
        except ValueError:
            config = {"model_type": "unreadable"}
        if isinstance(config, dict) and "model_type" in config:
            yield ConfigItem.from_parent(self, name="check")


class ConfigItem(pytest.Item):
    """`ropescope check` of one file."""

    def runtest(self) -> None:
        from . import check

        found = check(self.path).at_least(self.config.getoption("check_configs"))
        if found:
            pytest.fail("\n".join(describe(finding) for finding in found), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"check: {self.path}"


def describe(finding: Any) -> str:
    """A finding on one line."""
    fix = f" Fix: {finding.fix}" if finding.fix else ""
    return f"line {finding.line}: {finding.severity} {finding.code}: {finding.text}{fix}"
