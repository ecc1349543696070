"""A tour: two clones, three agents, one person, from the first issue to the last handoff.

Read it from top to bottom. Every command is one that you can type; it runs on real repositories.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.ghp import invoke
from tests.support.git import commit, git


def ghp(folder: Path, *args: str) -> str:
    """`ghp ARGS` in a folder; its standard output."""
    result = invoke(args, folder)
    assert result.code == 0, result.err
    return result.out


@pytest.mark.background
@pytest.mark.slow
def test_a_day_with_agents(
    clones: Callable[[int], list[Path]], worktree: Callable[[Path, str], Path]
) -> None:
    # Dana has a repository with a remote, and so has Kim. Nothing needs to be set up.
    dana, kim = clones(2)

    # Dana writes three issues. The last one needs the first.
    ghp(dana, "agent-issue", "new", "Parse the input", "--priority", "high")
    ghp(dana, "agent-issue", "new", "Write the manual", "--priority", "low")
    ghp(dana, "agent-issue", "new", "Format the output", "--blocked-by", "1")

    # What can be taken now is ordered by priority, then age; #3 has an open blocker.
    ready = json.loads(ghp(dana, "agent-issues", "--ready", "--json"))
    assert [issue["number"] for issue in ready] == [1, 2]

    # An agent works in a worktree of its own, and has a name there.
    desk = worktree(dana, "desk-1")
    ghp(desk, "agent-whoami", "--set", "worker-1")
    ghp(desk, "agent-issue", "assign", "1", "worker-1")
    git(desk, "checkout", "--quiet", "-b", "agent/worker-1/1-parse")

    # It beats after every step; a hook of its client does that. A beat prints nothing.
    beat = ("agent-heartbeat", "--status", "implementing", "--issue", "1")
    assert ghp(desk, *beat, "--action", "Reading the grammar") == ""

    # It meets a question that only a person can decide.
    question = "Is a tab one column or eight?"
    asked = ghp(desk, "agent-escalate", question, "--option", "one", "--option", "eight").strip()
    ghp(desk, "agent-sync")

    # Kim, in another clone, sees who is at work and what is asked, and answers.
    ghp(kim, "agent-sync")
    assert "worker-1" in ghp(kim, "agent-status")
    (escalation,) = json.loads(ghp(kim, "agent-escalations", "--open", "--json"))
    assert escalation["question"] == question
    ghp(kim, "agent-answer", asked, "eight")
    ghp(kim, "agent-sync")

    # The answer reaches the agent at its next look around.
    ghp(desk, "agent-sync")
    assert "eight" in ghp(desk, "agent-status")
    assert "eight" not in ghp(desk, "agent-status"), "an answer is told once"

    # It commits a part, leaves the rest uncommitted, and hands over to an agent in Kim's clone.
    commit(desk, {"parser.py": "TAB = 8\n"}, "Read tabs")
    git(desk, "push", "--quiet", "origin", "HEAD")
    (desk / "lexer.py").write_text("unfinished = True\n")
    (desk / "table.bin").write_bytes(bytes(range(256)))
    ghp(desk, "agent-handoff", "--to", "worker-2", "--note", "The lexer is half done.")
    ghp(desk, "agent-sync")

    # The other agent finds the issue assigned to it, and what it needs to go on.
    desk_2 = worktree(kim, "desk-2")
    ghp(desk_2, "agent-whoami", "--set", "worker-2")
    ghp(desk_2, "agent-sync")
    (mine,) = json.loads(ghp(desk_2, "agent-issues", "--mine", "--json"))
    assert (mine["number"], mine["title"]) == (1, "Parse the input")
    git(desk_2, "fetch", "--quiet", "origin")
    git(
        desk_2,
        "checkout",
        "--quiet",
        "-b",
        "agent/worker-2/1-parse",
        "origin/agent/worker-1/1-parse",
    )
    brief = ghp(desk_2, "agent-resume", "--issue", "1")
    for part in (
        "The lexer is half done.",
        "Read tabs",
        question,
        "eight",
        "uncommitted work (2 files)",
    ):
        assert part in brief

    # The work that was never committed comes back, to the byte.
    ghp(desk_2, "agent-resume", "--issue", "1", "--apply")
    assert (desk_2 / "lexer.py").read_text() == "unfinished = True\n"
    assert (desk_2 / "table.bin").read_bytes() == bytes(range(256))

    # It finishes. Now the blocked issue is ready, in every clone.
    ghp(desk_2, "agent-issue", "close", "1", "--message", "Tabs are eight columns wide.")
    ghp(desk_2, "agent-status", "--set", "done")
    ghp(desk_2, "agent-sync")
    ghp(dana, "agent-sync")
    ready = json.loads(ghp(dana, "agent-issues", "--ready", "--json"))
    assert [issue["number"] for issue in ready] == [3, 2]

    # Both clones tell the same, and both tell the whole story in one order.
    assert ghp(dana, "agent-status", "--json") == ghp(kim, "agent-status", "--json")
    logs = [
        json.loads(ghp(folder, "agent-log", "--issue", "1", "--json")) for folder in (dana, kim)
    ]
    assert logs[0] == logs[1]
    story = [
        entry["event"] for entry in logs[0] if entry["event"] not in ("presence", "issue-comment")
    ]
    assert story == ["issue-new", "issue-assign", "escalate", "answer", *HANDED_OVER, "issue-close"]

    # And nobody's own repository was touched: no commit, no branch, no file of ours.
    for folder in (dana, kim):
        assert git(folder, "log", "--format=%s", "main") == "Begin"
        assert git(folder, "status", "--porcelain") == ""


HANDED_OVER = ("handoff", "issue-assign", "resume-apply")
