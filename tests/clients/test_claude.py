"""The real Claude Code, hooked by `agent-init --hooks claude`, with a model that says its lines."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clients.steps import OTHER, checkpoints, run, set_up, states
from tests.support.clients import Bench, end, ghp
from tests.support.fake_models import Call, Request, Turn
from tests.support.git import commit, git

pytestmark = pytest.mark.slow

FILES = {"free.py": "free\n", "src/parser.py": "old\n", "src/other.py": "old\n", "docs/a.md": "a\n"}


@pytest.fixture
def here(bench: Bench, repo: Path) -> Path:
    """A repository with some files, hooked, whose agent is worker-1; worker-2 is about, too."""
    commit(repo, FILES, "Files")
    set_up(bench, repo, "claude")
    return repo


def write(path: Path, content: str = "new\n") -> Call:
    return Call("Write", {"file_path": str(path), "content": content})


def bash(command: str) -> Call:
    return Call("Bash", {"command": command, "description": "Run it"})


# ------------------------------------------------------------------------------ the guard


def test_edits_of_what_others_hold_are_refused_and_the_model_told_why_its_subagent_as_well(
    bench: Bench, here: Path
) -> None:
    body = "Rewrite it.\n\n## Scope\n\n- docs/**\n"
    run("agent-issue", "new", "Docs", "--body", body, cwd=here)
    run("agent-claim", "1", cwd=here, env=OTHER)
    run("agent-lease", "src/", "--reason", "new parser", cwd=here, env=OTHER)
    edit = {"file_path": str(here / "src/parser.py"), "old_string": "old", "new_string": "new"}
    helper = {"description": "Help", "prompt": "Help me.", "subagent_type": "general-purpose"}
    bench.models.script(
        "one",
        Turn("I read.", [Call("Read", {"file_path": str(here / "src/parser.py")})]),
        Turn("I edit.", [Call("Edit", edit), write(here / "src/new.py"), write(here / "mine.py")]),
        Turn(calls=[write(here / "docs/b.md")]),
        Turn(calls=[Call("Agent", helper)]),
        Turn("I stop."),
    )
    bench.models.script("one", Turn(calls=[write(here / "src/helped.py")]), prompt="Help me.")
    ended = end(bench.claude(here, "one"))
    assert ended.code == 0, ended.err
    assert git(here, "status", "--porcelain", "--untracked-files=all") == "?? mine.py"
    denied = [
        each["tool_input"]["file_path"]
        for event in ended.events
        if event["type"] == "result"  # of the turn, and of what it heard from its subagent
        for each in event["permission_denials"]
    ]
    names = ("src/parser.py", "src/new.py", "docs/b.md", "src/helped.py")
    assert denied == [str(here / name) for name in names]
    said = bench.models.requests("one")[-1].said
    reason = (
        r"is leased by worker-2 since [^(]*\(L-[0-9a-f]+\)\. "
        r"worker-2 gave this reason: «new parser»\.\nNext: "
    )
    assert re.search("PreToolUse:Edit hook error: src/parser.py " + reason, said), said
    assert re.search("PreToolUse:Write hook error: src/new.py " + reason, said), said
    assert re.search(r"PreToolUse:Write hook error: docs/b\.md .*#1.*worker-2", said), said
    assert "src/helped.py is leased by worker-2" in bench.models.said("one")


def test_what_another_session_has_begun_to_edit_is_refused_until_that_ends(
    bench: Bench, here: Path, worktree: Callable[[Path, str], Path]
) -> None:
    there = worktree(here, "two")
    set_up(bench, there, "claude", agent="worker-3")
    heard: list[str] = []

    def third(request: Request) -> Turn:
        """While the first session is at its second turn, the second one tries the same file."""
        bench.models.script("two", Turn(calls=[write(there / "free.py")]))
        ended = end(bench.claude(there, "two"))
        heard.append(bench.models.requests("two")[-1].said)
        assert ended.code == 0, ended.err
        return Turn("I stop.")

    bench.models.script("one", Turn(calls=[write(here / "free.py", "mine\n")]), third)
    ended = end(bench.claude(here, "one"))
    assert ended.code == 0, ended.err
    assert "File created successfully" not in heard[0]
    assert re.search(
        r"PreToolUse:Write hook error: This edit of free\.py would conflict at your line 1\. "
        r"worker-1 has been editing it in another worktree since ",
        heard[0],
    ), heard
    assert (there / "free.py").read_text() == "free\n"
    # The session is over, and its agent waits for nothing: the file is free again.
    bench.models.script("three", Turn(calls=[write(there / "free.py", "theirs\n")]))
    assert end(bench.claude(there, "three")).code == 0
    assert (there / "free.py").read_text() == "theirs\n"


# ------------------------------------------------------------------------ what it is told


def test_a_session_is_told_what_it_needs_and_seen_by_others_from_its_begin_to_its_checkpoint(
    bench: Bench, here: Path
) -> None:
    run("agent-issue", "new", "Parse tabs", "--assign", "worker-1", cwd=here)
    run("agent-handoff", "--issue", "1", "--to", "worker-1", "--note", "The lexer is next.",
        cwd=here, env=OTHER)  # fmt: skip
    git(here, "checkout", "--quiet", "-b", "agent/worker-1/1-tabs")
    seen: list[tuple[str, str]] = []

    def step(*calls: Call) -> Callable[[Request], Turn]:
        def line(_: Request) -> Turn:
            mine = states(here)["worker-1"]
            seen.append((mine["status"], mine["lastAction"]))
            return Turn(calls=calls)

        return line

    def answered(request: Request) -> Turn:
        found = re.search(r"E-[0-9a-f]{4,}", request.said)
        assert found, request.said
        run("agent-answer", found[0], "A tab is eight columns.", "--as", "@me", cwd=here)
        return Turn(calls=[Call("Read", {"file_path": str(here / "free.py")})])

    assert states(here)["worker-1"]["status"] == "idle"
    bench.models.script(
        "one",
        step(write(here / "free.py", "half done\n")),
        step(bash("git status")),
        step(bash(f"echo $GHP_AGENT; {ghp('agent-whoami')}")),
        step(bash(ghp("agent-escalate", "'How wide is a tab?'"))),
        answered,
        Turn("I stop."),
    )
    ended = end(bench.claude(here, "one"))
    assert ended.code == 0, ended.err
    requests = [request.said for request in bench.models.requests("one")]

    # It begins with who it is and where the last one stopped.
    assert "SessionStart hook additional context: ghp-agents coordinates" in requests[0]
    for told in ("agent `worker-1`", "Parse tabs", "The lexer is next."):
        assert told in requests[0]
    # The commands that it runs know who they are.
    assert re.search(r"^worker-1\nworker-1\b", requests[-1], re.MULTILINE)
    # An answer that comes meanwhile is context at the next batch.
    before, after = requests[-2:]
    assert "A tab is eight columns." not in before
    assert "PostToolBatch hook additional context: ghp-agents has news" in after
    assert after.count("A tab is eight columns.") == 1
    # Its presence moves with its tools and stops.
    assert [status for status, _ in seen] == ["implementing"] * 4
    assert [action for _, action in seen[1:3]] == ["Edited free.py", "Ran git status"]
    ended_as = states(here)["worker-1"]
    assert (ended_as["status"], ended_as["kind"]) == ("stopped", "claude")
    assert ended_as["session"]
    # Its checkpoint is there for the next.
    (logged,) = checkpoints(here)
    assert (logged["actor"], logged["issue"], logged["text"]) == (
        "worker-1", 1, "1 uncommitted file",
    )  # fmt: skip
    git(here, "checkout", "--quiet", "--", ".")
    run("agent-resume", "--issue", "1", "--apply", cwd=here, env=OTHER)
    assert (here / "free.py").read_text() == "half done\n"


def test_a_session_without_a_name_is_named_after_itself(bench: Bench, repo: Path) -> None:
    run("agent-init", "--hooks", "claude", cwd=repo)
    present: list[list[str]] = [list(states(repo))]

    def first(request: Request) -> Turn:
        present.append([*states(repo)])
        return Turn(calls=[bash("echo I am $GHP_AGENT.")])

    bench.models.script("one", first)
    ended = end(bench.claude(repo, "one"))
    name = f"claude-{ended.result['session_id'][-4:]}"
    assert present == [[], [name]]
    assert f"I am {name}." in bench.models.said("one")
    assert states(repo)[name]["status"] == "stopped"


def test_what_is_compacted_is_written_down_before_and_told_again_after(
    bench: Bench, here: Path
) -> None:
    run("agent-issue", "new", "Parse tabs", "--assign", "worker-1", cwd=here)
    git(here, "checkout", "--quiet", "-b", "agent/worker-1/1-tabs")
    bench.models.script("one", Turn("Hello."))
    first = end(bench.claude(here, "one"))
    (here / "free.py").write_text("half done\n")
    again = ("--resume", first.result["session_id"])
    assert end(bench.claude(here, "one", *again, prompt="/compact")).code == 0
    assert [logged["text"] for logged in checkpoints(here)][-1:] == ["1 uncommitted file"]
    bench.models.script("two", Turn("I know."))
    assert end(bench.claude(here, "two", *again)).code == 0
    assert "Parse tabs" in bench.models.requests("two")[0].said


# ------------------------------------------------------------------ when we are the trouble


@pytest.mark.parametrize("trouble", ["the package is gone", "the interpreter is gone"])
def test_a_hook_that_cannot_run_never_stops_a_session(
    bench: Bench, here: Path, trouble: str
) -> None:
    run("agent-lease", "src/", cwd=here, env=OTHER)
    alone = here.parent / "python"
    if trouble == "the package is gone":
        alone.write_text('#!/bin/sh\nshift\nexec "$0.real" -I -S "$@"\n')
        alone.with_name("python.real").symlink_to(Path(sys.executable).resolve())
        alone.chmod(0o755)
    for settings in (here / ".claude").glob("settings*.json"):
        text = settings.read_text()
        assert sys.executable in text
        settings.write_text(text.replace(sys.executable, str(alone)))
    bench.models.script("one", Turn(calls=[write(here / "src/parser.py")]), Turn("I stop."))
    ended = end(bench.claude(here, "one"))
    assert (ended.code, ended.result["result"]) == (0, "I stop.")
    assert (here / "src/parser.py").read_text() == "new\n"


def test_where_the_program_was_never_set_up_its_hooks_keep_still(
    bench: Bench, repo: Path, here: Path
) -> None:
    stranger = repo.parent / "stranger"
    git(repo.parent, "init", "--quiet", str(stranger))
    bench.models.script("one", Turn(calls=[write(stranger / "a.py")]))
    settings = next((here / ".claude").glob("settings*.json"))
    ended = end(bench.claude(stranger, "one", "--settings", str(settings)))
    assert ended.code == 0
    assert "ghp-agents" not in bench.models.said("one")
    assert not (stranger / ".git/ghp").exists()
