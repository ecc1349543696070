"""A real client whose agent has a manifest: what it refuses, what the hook refuses, and that the
work is finished all the same."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ghp_agents.runs import folder
from tests.clients.steps import run
from tests.clients.test_work import FINISHES, KEY, Night
from tests.support.clients import Bench
from tests.support.consent import agree
from tests.support.fake_models import Call, Turn
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
