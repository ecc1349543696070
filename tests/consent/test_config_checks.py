"""The doctor on the configuration files."""

import os
from collections.abc import Iterator
from pathlib import Path

from ghp_agents.consent import config_checks
from ghp_agents.core.finding import Finding, Level, ok
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock


def at(folder: Path, name: str | None = "worker-1", **environ: str) -> Workspace:
    return open_workspace(folder, {**os.environ, **environ}, ManualClock(), name)


def one(findings: Iterator[Finding]) -> Finding:
    (finding,) = findings
    return finding


def test_thresholds_in_the_wrong_order_are_a_warning(repo: Path) -> None:
    (repo / ".ghp").mkdir()
    (repo / ".ghp/config.json").write_text('{"agents": {"staleAfter": 99, "deadAfter": 9}}')
    first, second = config_checks.check(at(repo))
    assert (first.level, first.code) == (Level.WARNING, "config")
    assert "≤ `goneAfter`" in first.text
    assert second == ok("config", f"Settings: {repo}/.ghp/config.json")


def test_without_configuration_the_defaults_are_named(repo: Path) -> None:
    assert one(config_checks.check(at(repo))) == ok(
        "config", "Settings: the defaults (there is no .ghp/config.json)"
    )
