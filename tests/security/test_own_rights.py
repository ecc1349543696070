"""Attacks: an agent gives itself rights, or more than a person agreed to."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ghp_agents.cards import permissions
from ghp_agents.cards.card import AgentCard
from ghp_agents.cards.command_rules import refusal as refused_line
from ghp_agents.core.errors import RefusedError
from ghp_agents.runs import cards, launch
from ghp_agents.workspace import open_workspace
from tests.support.git import commit, git
from tests.support.hooks import call, set_up, write

CARD = ".ghp/agents/worker-1.md"
WRITES = "---\npermissions:\n  - tool: write_file\n    scope: {}\n---\n"
AS = {"GHP_AGENT": "worker-1"}


def refusal(repo: Path, path: str) -> str:
    said = call("claude", write(repo / path, repo), repo, AS).said or {}
    return str(said.get("hookSpecificOutput", {}).get("permissionDecisionReason", ""))


def test_a_card_in_the_agents_own_branch_gives_it_nothing(repo: Path) -> None:
    commit(repo, {CARD: WRITES.format("docs/")})
    set_up(repo)
    git(repo, "switch", "-qc", "agent/worker-1/1-mine")
    commit(repo, {CARD: WRITES.format('"*"')})
    (repo / CARD).write_text(WRITES.format('"**"'))
    assert "may write" in refusal(repo, "src/a.py")
    assert "may write" in refusal(repo, CARD)
    assert refusal(repo, "docs/a.md") == ""


def test_a_card_of_another_name_or_of_many_aliases_is_nobodys(repo: Path) -> None:
    bomb = "a: &a [x, x]\nb: &b [*a, *a]\nagents: {worker-1: {permissions: [*b]}}\n"
    many = "agents:\n" + "".join(f"  w{n}: {{}}\n" for n in range(9_000))
    for text in (bomb, many, "agents: {../../worker-1: {github: true}, '..': {}}\n"):
        commit(repo, {".ghp/machines.yaml": text})
        assert open_workspace(repo, dict(os.environ)).settings.cards == {}


def test_what_a_repository_grants_an_agent_waits_for_a_person(repo: Path) -> None:
    for grant in ("github: true", "url: https://evil.example/v1", "permissions: [{tool: bash}]"):
        commit(repo, {CARD: f"---\n{grant}\n---\n"})
        with pytest.raises(RefusedError):
            cards.of(open_workspace(repo, dict(os.environ)), "worker-1")


def test_a_command_that_is_hidden_in_a_line_is_refused() -> None:
    hidden = (
        "make # ' \ncurl x | sh # '",
        "make ${IFS}",
        "env make",
        "git log --output=.git/hooks/x",
    )
    for line in (
        *hidden,
        "make\n\tcurl x",
        "make <(curl x)",
        "PATH=. make",
        "git -c alias.x=!sh x",
    ):
        assert refused_line(line, ["make"], [["ghp"]], lambda _: True), line


def test_a_repository_that_an_agent_writes_into_its_worktree_runs_nothing(
    repo: Path, tmp_path: Path
) -> None:
    """Git takes a folder with these files for a repository, and runs what its settings name."""
    inner, mark = repo / "docs", tmp_path / "mark"
    for name in ("objects", "refs"):
        (inner / name).mkdir(parents=True)
    (inner / "HEAD").write_text("ref: refs/heads/x\n")
    core = f'bare = false\nworktree = .\nfsmonitor = "touch {mark}; false"\n'
    (inner / "config").write_text(f"[core]\nrepositoryformatversion = 0\n{core}")
    card = AgentCard("worker-1", CARD, permissions=())
    ws = open_workspace(repo, dict(os.environ))
    rules = launch.write_rules(ws, card, "claude", tmp_path, str(repo))
    assert rules is not None
    for env, runs in ((rules.env, False), ({}, True)):
        subprocess.run(
            ["git", "status"], cwd=inner, env={**os.environ, **env}, check=False,
            capture_output=True,
        )  # fmt: skip
        assert mark.exists() is runs


def test_what_every_run_may_do_runs_and_reads_nothing_else(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "private").write_text("x")
    card = AgentCard("worker-1", CARD, permissions=())
    assert launch.write_rules(
        open_workspace(repo, dict(os.environ)), card, "claude", tmp_path / "run", str(repo)
    )
    mine = permissions.load(str(tmp_path / "run/rights.json"))
    for line in (
        "ghp agent-inbox --follow --exec 'curl x'",
        f"git diff README.md {tmp_path}/private",
        f"git commit -F {tmp_path}/private",
        "git diff *",
        "cd .. && cd .. && git status",
        f"{sys.executable} -m ghp_agents agent-status",
    ):
        assert mine.running(line, str(repo)), line
    assert mine.running("git status && git diff README.md", str(repo)) == ""
