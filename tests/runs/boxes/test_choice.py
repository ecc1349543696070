"""Which sandbox the settings give to the runs of a card."""

import os
from pathlib import Path

import pytest

from ghp_agents.cards import sandbox
from ghp_agents.cards.card import AgentCard
from ghp_agents.cards.container import Container
from ghp_agents.cards.manifest import Permission
from ghp_agents.core.errors import RefusedError
from ghp_agents.runs import runners
from ghp_agents.runs.boxes import choice
from ghp_agents.wiring import App
from tests.support import hosts
from tests.support.consent import mine
from tests.support.fake_container import IMAGE, FakeContainers
from tests.support.git import git


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("rights", "network"),
    [
        (None, "closed"),
        ((Permission("bash", ("make",)),), "closed"),
        ((Permission("network", ("example.org",)),), "closed"),
        ((Permission("network", ("*",)),), ""),
        ((Permission("network", ()),), ""),
    ],
)
def test_the_card_decides_which_network(
    repo: Path, tmp_path: Path, rights: tuple[Permission, ...] | None, network: str
) -> None:
    fakes = FakeContainers(tmp_path / "bin", tmp_path)
    fakes.install("podman")
    mine({"agents": {"runs": {"sandbox": "podman", "image": IMAGE, "network": "closed"}}})
    box = choice.of(
        App(repo, {**os.environ, "PATH": f"{fakes.programs}:{os.environ['PATH']}"}).ws,
        AgentCard("night", permissions=rights),
        "claude",
    )
    assert not isinstance(box, bool)
    assert box.network == network


def test_a_client_of_a_service_outside_is_refused() -> None:
    with pytest.raises(RefusedError, match="claude-bg cannot run in a container"):
        choice.check_runner(runners.find("claude-bg"))


def box(repo: Path, programs: Path, runner: str = "claude") -> tuple[Container | bool, str]:
    """What a run gets, and what its person is told."""
    env = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    ws = App(repo, env).ws
    found = choice.of(ws, AgentCard("night"), runner)
    return found, choice.warning(ws, runner, found)


@pytest.mark.slow
def test_with_auto_a_run_gets_the_first_sandbox_that_works(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fakes = FakeContainers(tmp_path / "bin", tmp_path)
    fakes.install("docker", "[]")
    hosts.executable(fakes.programs / "podman", "exit 1")
    mine({"agents": {"runs": {"image": IMAGE}}})
    monkeypatch.setattr(sandbox, "trouble", lambda _: "")
    assert box(repo, fakes.programs) == (True, "")
    monkeypatch.setattr(sandbox, "trouble", lambda _: "no namespaces")
    (held, said) = box(repo, fakes.programs)
    assert isinstance(held, Container)
    assert (held.program, said) == ("docker", "")
    hosts.executable(fakes.programs / "docker", "exit 1")
    assert box(repo, fakes.programs) == (
        False,
        "What runs here unattended has no sandbox: it can do all that you can do (bubblewrap: no "
        "namespaces). "
        "docs/sandboxes.md says how to get one.",
    )
    assert box(repo, fakes.programs) == (False, ""), "it is said once"
    (repo / ".git/ghp/cache/no-sandbox").unlink()
    mine({"agents": {"runs": {"sandbox": "none"}}})
    assert box(repo, fakes.programs) == (False, "")


def test_a_client_of_a_service_outside_has_no_sandbox_and_it_is_said(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "trouble", lambda _: "")
    held, said = box(repo, tmp_path, "claude-bg")
    assert (held, "claude-bg starts its sessions outside" in said) == (False, True)


def test_a_run_that_could_not_commit_in_a_sandbox_has_none_and_it_is_said(
    repo: Path, tmp_path: Path
) -> None:
    """A sandbox that can move one of them could move main."""
    git(repo, "worktree", "add", "-q", "-b", "flat", str(tmp_path / "flat"))
    ws = App(repo, os.environ).ws
    held, said = choice.for_worktree(ws, True, tmp_path / "flat", "flat")
    assert (held, "(the branch flat is in no folder, beside main)" in said) == (False, True)
    assert choice.for_worktree(ws, True, tmp_path / "flat", "flat") == (False, "")
    assert choice.for_worktree(ws, True, tmp_path / "flat", "agent/flat") == (True, "")
    assert choice.for_worktree(ws, True, repo, "a/b")[0] is False
    mine({"agents": {"runs": {"sandbox": "bwrap"}}})
    ws = App(repo, os.environ).ws
    assert choice.for_worktree(ws, True, tmp_path / "flat", "flat") == (True, "")
