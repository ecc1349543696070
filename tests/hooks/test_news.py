"""What happens in one clone reaches a session in another one, after at most one exchange."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.ghp import invoke, succeed
from tests.support.git import commit, git
from tests.support.hooks import SESSION, SILENT, Hooked, call, context, payload, set_up
from tests.support.news import LEAD, PERSON, step
from tests.support.repos import Restored, Site
from tests.support.terminal import terminal

SHOW = "`ghp agent-issue show 1` shows all."


@pytest.fixture
def two(restored: Restored) -> tuple[Path, Path]:
    """worker-1 has a session in the second clone and holds #1; worker-2 is in the first."""
    return restored(both_work).clones


def both_work(site: Site) -> None:
    one, other = site.make_clones()
    succeed(one, "agent-init --agent worker-2", "agent-issue new Parse --as @me")
    succeed(one, "agent-issue new Write --as @me", "agent-sync")
    succeed(other, "agent-init --agent worker-1", "agent-sync")
    assert call("claude", payload("claude-SessionStart-startup", other), other).code == 0
    succeed(other, "agent-claim 1", "agent-lease notes.md", "agent-sync")
    succeed(one, "agent-sync")
    assert step(other) == ""


CASES = {
    "commented": (
        ["agent-issue comment 1 'Dark mode only?' --as @me"],
        f"{PERSON} commented on #1: «Dark mode only?». {SHOW}",
    ),
    "assigned": (
        ["agent-issue assign 2 worker-1 --as @me"],
        f"{PERSON} assigned #2 «Write» to you. Run `ghp agent-start 2`.",
    ),
    "closed": (["agent-issue close 1 --as @me"], f"{PERSON} closed #1, which you hold. {SHOW}"),
    "its claim ended": (
        ["agent-release 1 --reason 'Not needed' --as @me"],
        "Your claim of #1 was released; nobody holds it. Reason given: «Not needed». Stop working "
        "on #1. Hand over unpushed work with `ghp agent-handoff --issue 1`. `ghp agent-claim "
        "--next` finds other work.",
    ),
    "its lease ended": (
        ["agent-release notes.md --reason Mine --as @me"],
        f"{PERSON} ended your lease of notes.md. Reason given: «Mine».",
    ),
    "given": (
        ["agent-claim 2", "agent-release 2 --to worker-1 --reason Tired"],
        "worker-2 gave #2 to you. Reason given: «Tired». Run `ghp agent-start 2`.",
    ),
    "handed over": (
        ["agent-claim 2", "agent-handoff --issue 2 --to worker-1 --note 'Go on.'"],
        "worker-2 handed #2 over to you: «Go on.». Read `ghp agent-resume --issue 2`, then run "
        "`ghp agent-start 2`.",
    ),
    "unblocked": (
        ["agent-issue block 1 --by 2 --as @me", "agent-issue close 2 --as @me"],
        f"{PERSON} changed #1: «blocked by #2». {SHOW}\n"
        f"{PERSON} closed #2, which blocked your #1. Nothing else blocks it: continue.",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "heard"),
    [
        pytest.param(*case, marks=[] if name == "given" else [pytest.mark.slow], id=name)
        for name, case in CASES.items()
    ],
)
def test_a_session_hears_at_its_next_step(
    two: tuple[Path, Path], lines: Sequence[str], heard: str
) -> None:
    one, other = two
    succeed(one, *lines, "agent-sync")
    assert step(other) == ""
    succeed(other, "agent-sync")
    assert step(other) == LEAD + heard
    assert step(other) == ""


@pytest.mark.slow
@pytest.mark.parametrize("command", ["agent-status", "agent-resume"])
def test_a_lost_claim_that_its_own_command_showed_is_no_news(
    two: tuple[Path, Path], command: str
) -> None:
    one, other = two
    succeed(one, "agent-release 1 --reason 'Not needed' --as @me", "agent-sync")
    succeed(other, "agent-sync")
    shown = invoke(command, other, {"CLAUDE_CODE_SESSION_ID": SESSION})
    assert "Your claim of #1 was released" in shown.out
    succeed(other, "agent-sync")
    assert step(other) == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("agent-issue comment 1 Hm --as @me", "commented on #1"),
        ("agent-release 1 --reason x --as @me", "Your claim of #1 was released"),
    ],
)
def test_a_person_who_looks_into_its_worktree_takes_no_news_away(
    two: tuple[Path, Path], line: str, words: str
) -> None:
    one, other = two
    succeed(one, line, "agent-sync")
    succeed(other, "agent-sync")
    command = [sys.executable, "-P", "-m", "ghp_agents", "agent-status", "--offline"]
    with terminal(command, other, {**os.environ, "PAGER": "cat"}, 200) as screen:
        screen.wait_for(words)
    assert words in step(other)
    assert step(other) == ""


@pytest.mark.slow
def test_a_session_reads_what_a_reviewer_in_another_clone_wants(two: tuple[Path, Path]) -> None:
    one, other = two
    git(other, "checkout", "--quiet", "-b", "agent/worker-1/1-parse")
    head = commit(other, {"notes.md": "One\n"})
    succeed(other, "agent-finish", "agent-sync")
    succeed(one, "agent-sync", "agent-review 3 --request-changes 'Add a `test`'", "agent-sync")
    succeed(other, "agent-sync")
    assert step(other) == (
        f"{LEAD}worker-2 commented on #1: «Requested changes to pull request #3 at {head[:12]}. "
        f"Add a 'test'». {SHOW}"
    )
    assert step(other) == ""


def waited(repo: Path) -> str:
    """A session asks, and a command of its own waits until the question is answered; what that
    prints."""
    set_up(repo)
    session = {"CLAUDE_CODE_SESSION_ID": SESSION}
    call("claude", payload("claude-SessionStart-startup", repo), repo)
    name = invoke("agent-escalate 'Which database?'", repo, session).out.split()[0]
    invoke(["agent-answer", name, "SQLite", "--as", "@me"], repo)
    done = invoke("agent-escalate 'Which database?' --wait", repo, session)
    assert done.code == 0
    return done.err + done.out


def stepped(repo: Path, response: str) -> Hooked:
    """After a step of the model with a shell command."""
    tool = {"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_response": response}
    return call("claude", payload("claude-PostToolBatch", repo, tool_calls=[tool]), repo)


def test_what_a_waiting_command_printed_before_the_model_is_no_news(repo: Path) -> None:
    printed = waited(repo)
    assert " was answered by " in printed
    assert stepped(repo, printed) == SILENT
    assert call("claude", payload("claude-UserPromptSubmit", repo), repo) == SILENT


def test_what_a_waiting_command_printed_in_the_background_is_told_once(repo: Path) -> None:
    waited(repo)
    text = context(stepped(repo, "Command running in background with ID: b1"))
    assert text.count("SQLite") == 1
    assert stepped(repo, "") == SILENT
    assert call("claude", payload("claude-UserPromptSubmit", repo), repo) == SILENT
