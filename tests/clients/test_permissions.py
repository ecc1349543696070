"""Real clients whose agent has a manifest: what they refuse, and what our hook refuses, which each
of them asks before every tool, also where nobody installed our hooks."""

import json
import os
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ghp_agents.cards import sandbox
from ghp_agents.runs import folder
from tests.clients.steps import READS, edit, run, shell
from tests.clients.test_work import FINISHES, KEY, Night
from tests.support.client_starts import GEMINI_TRUST, STARTS
from tests.support.clients import Bench
from tests.support.consent import agree, mine
from tests.support.fake_models import Call, Request, Turn
from tests.support.git import commit

pytestmark = pytest.mark.slow

CARD = """\
---
permissions:
  - tool: write_file
    scope: "*.txt"
  - tool: bash
    scope: [echo]
---
You write one file.
"""


@pytest.fixture
def night(bench: Bench, repo: Path) -> Iterator[Night]:
    commit(repo, {".ghp/agents/night.md": CARD})
    agree(repo, bench.home)
    made = Night(bench, repo, "claude")
    made.args = []
    yield made
    made.shift.end_all()


def test_claude_code_is_refused_what_its_card_does_not_allow(night: Night) -> None:
    tree = night.shift.repo
    calls = (
        night.call("touch evil"),
        night.call("echo $HOME"),
        Call("Write", {"file_path": str(tree / "outside.txt"), "content": "x"}),
        night.call(FINISHES[1].replace("git add . && ", "")),
    )
    turns = [Turn("I try.", (each,)) for each in calls]
    night.bench.models.script(KEY, *turns, Turn("I stop."))
    code, lines = night.work("--once", "--tries", "1")
    assert code == 1, lines
    place = folder.of(night.shift.app().ws, night.shift.last().id)
    assert folder.refused(place) == [
        "Bash: touch evil: `touch evil` is not among the commands that it may run",
        "Bash: echo $HOME: it has a variable or a substitution; write the values themselves",
        f"Write: {tree}/outside.txt: it writes outside of its worktree",
    ]
    assert not (tree / "outside.txt").exists()
    said = night.bench.models.said(KEY)
    assert "You write one file." in said
    assert ".ghp/agents/night.md on main says what this agent may do." in said
    shown = run("agent-logs", "night", cwd=tree)
    assert "refused: Bash: touch evil" in shown
    night.nothing_is_left()


SECRET = "the secret"
SCOPED = CARD.replace("[echo]\n", "[echo]\n  - tool: read_file\n    scope: docs/\n")


class Other(Night):
    """Supervisors of a client that our hooks were never installed for."""

    def __init__(self, bench: Bench, repo: Path, client: str) -> None:
        super().__init__(bench, repo, client)
        # Its model is named, so that it does not ask another one which it should be, for 90 s.
        self.args = ["-m", "gemini-2.5-pro"] if client == "gemini" else []
        program = bench.home / "bin" / client
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec {shlex.join(bench.command(client))} "$@"\n')
        program.chmod(0o755)
        self.env["PATH"] = f"{program.parent}{os.pathsep}{os.environ['PATH']}"

    def _environment(self) -> dict[str, str]:
        if self.client == "codex":
            return self.bench.codex_environment(KEY)
        start = STARTS[self.client](self.bench.models.url, KEY, "")
        for name, content in start.files.items():
            if name == GEMINI_TRUST:  # its user trusts no folder: the runs must do without
                continue
            path = self.bench.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(content))
        return {**os.environ, **start.env}

    def tree(self) -> Path:
        """The worktree of the run."""
        return Path(self.shift.last().path)

    def read(self, name: str) -> Call:
        """The client's call of the tool that reads a file."""
        if self.client == "codex":
            return shell("codex", f"cat {name}")
        tool, where = READS[self.client]
        return Call(tool, {where: str(self.tree() / name)})


@pytest.fixture(params=["codex", "gemini", "opencode"])
def other(request: pytest.FixtureRequest, bench: Bench, repo: Path) -> Iterator[Other]:
    files = {".ghp/agents/night.md": SCOPED, "secret.txt": f"{SECRET}\n", "docs/a.md": "A page\n"}
    commit(repo, files)
    agree(repo, bench.home)
    made = Other(bench, repo, request.param)
    yield made
    made.shift.end_all()


def test_every_client_asks_us_before_each_tool(other: Other) -> None:
    def attempt(make: Callable[[], Call]) -> Callable[[Request], Turn]:
        return lambda _: Turn("I try.", (make(),))

    tries: list[Callable[[], Call]] = [
        lambda: shell(other.client, "touch evil"),
        lambda: shell(other.client, "ghp agent-inbox --follow --exec 'touch evil'"),
        lambda: edit(other.client, other.tree() / "evil.md"),
        lambda: other.read("secret.txt"),
        lambda: other.read("docs/a.md"),
        lambda: edit(other.client, other.tree() / "good.txt"),
    ]
    other.bench.models.script(KEY, *map(attempt, tries), Turn("I stop."))
    other.work("--once", "--tries", "1")
    refused = "\n".join(folder.refused(folder.of(other.shift.app().ws, other.shift.last().id)))
    said = other.bench.models.said(KEY)
    assert "`touch evil` is not among the commands that it may run" in refused, said[-3000:]
    assert "evil.md: it is not among the files that it may write" in refused
    assert (other.tree() / "good.txt").exists()
    assert SECRET not in said
    assert ("A page" in said) is (other.client != "codex")  # it has no tool to read with
    assert [path for path in other.tree().rglob("evil*")] == []
    other.nothing_is_left()


def test_gemini_works_in_bubblewrap_and_asks_us_there(bench: Bench, repo: Path) -> None:
    """Its home is in the run's folder, which cannot be written but for that."""
    trouble = sandbox.trouble(os.environ)
    if trouble:
        pytest.skip(f"bubblewrap cannot be used here: {trouble}")
    commit(repo, {".ghp/agents/night.md": SCOPED, "secret.txt": f"{SECRET}\n"})
    agree(repo, bench.home)
    mine({"agents": {"runs": {"sandbox": "bwrap"}}}, bench.home)
    other = Other(bench, repo, "gemini")
    program = repo / ".git/bin/gemini"  # the tests' home is hidden in there
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(bench.command("gemini"))} "$@"\n')
    program.chmod(0o755)
    other.env["PATH"] = f"{program.parent}:{os.environ['PATH']}:/usr/bin:/bin"
    tries: list[Callable[[], Call]] = [
        lambda: edit("gemini", other.tree() / "evil.md"),
        lambda: other.read("secret.txt"),
        lambda: edit("gemini", other.tree() / "good.txt"),
    ]

    def attempt(make: Callable[[], Call]) -> Callable[[Request], Turn]:
        return lambda _: Turn("I try.", (make(),))

    bench.models.script(KEY, *map(attempt, tries), Turn("I stop."))
    other.work("--once", "--tries", "1")
    refused = "\n".join(folder.refused(folder.of(other.shift.app().ws, other.shift.last().id)))
    assert "evil.md: it is not among the files that it may write" in refused
    assert SECRET not in bench.models.said(KEY)
    assert (other.tree() / "good.txt").exists()
    assert not (other.tree() / "evil.md").exists()
    other.nothing_is_left()
    other.shift.end_all()
