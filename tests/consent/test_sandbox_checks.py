"""The doctor says whether the sandbox for runs works, and what else is available."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.cards import sandbox
from ghp_agents.consent import sandbox_checks
from ghp_agents.core.finding import Finding, Level
from ghp_agents.wiring import App
from tests.support.consent import mine
from tests.support.fake_container import IMAGE, FakeContainers
from tests.support.git import commit

CARD = "---\npermissions:\n  - tool: read_file\n---\n"


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeContainers:
    """Neither podman nor docker works, and bubblewrap does."""
    containers = FakeContainers(tmp_path / "bin", tmp_path)
    for name in ("podman", "docker"):
        containers.install(name)
        (containers.programs / name).write_text(f"#!/bin/sh\necho {name} is broken. >&2\nexit 1\n")
    monkeypatch.setenv("PATH", f"{containers.programs}:{os.environ['PATH']}")
    monkeypatch.setattr(sandbox, "trouble", lambda _: "")
    return containers


def findings(repo: Path, runs: Mapping[str, Any]) -> list[Finding]:
    mine({"agents": {"runs": runs}})
    return list(sandbox_checks.check(App(repo, os.environ).ws))


@pytest.mark.usefixtures("fakes")
def test_without_a_sandbox_cards_with_permissions_could_have_one(repo: Path) -> None:
    assert findings(repo, {}) == findings(repo, {"sandbox": "none"}) == []
    commit(repo, {".ghp/agents/reader.md": CARD})
    (finding,) = findings(repo, {})
    assert finding.text == "Runs are in bubblewrap (auto)."
    (finding,) = findings(repo, {"sandbox": "none"})
    assert (finding.level, finding.text) == (
        Level.INFO, "Runs of `agent-work` have no sandbox. Available here: bubblewrap.",
    )  # fmt: skip


@pytest.mark.slow
def test_bubblewrap_works_or_not(
    repo: Path, fakes: FakeContainers, monkeypatch: pytest.MonkeyPatch
) -> None:
    (finding,) = findings(repo, {"sandbox": "auto"})
    assert (finding.level, finding.text) == (Level.OK, "Runs are in bubblewrap (auto).")
    monkeypatch.setattr(sandbox, "trouble", lambda _: "no namespaces")
    (finding,) = findings(repo, {"sandbox": "auto"})
    assert (finding.level, finding.text) == (
        Level.WARNING,
        "Runs cannot use bubblewrap: no namespaces. "
        "Neither bubblewrap nor podman nor docker works here.",
    )
    fakes.install("docker", "[]")
    (finding,) = findings(repo, {"sandbox": "auto", "image": IMAGE})
    assert finding.text == f"Runs are in containers of docker, image {IMAGE}."
    (finding,) = findings(repo, {"sandbox": "bwrap"})
    assert (finding.level, finding.text) == (
        Level.ERROR, "Runs cannot use bubblewrap: no namespaces. Available here: docker.",
    )  # fmt: skip


@pytest.mark.slow
def test_a_container_works_or_not(repo: Path, fakes: FakeContainers) -> None:
    runs = json.loads(f'{{"sandbox": "container", "image": "{IMAGE}"}}')
    (finding,) = findings(repo, runs)
    assert (finding.level, finding.text) == (
        Level.ERROR,
        "The setting `runs.sandbox` is container, but no container can be started: podman: podman "
        "is broken; docker: docker is broken. Available here: bubblewrap.",
    )
    fakes.install("docker", "[]")
    (finding,) = findings(repo, runs)
    assert (finding.level, finding.text) == (
        Level.OK, f"Runs are in containers of docker, image {IMAGE}.",
    )  # fmt: skip
