"""A review between three real sessions that rest: messages alone wake them, and nobody types.

The syncs are those of each clone's background process; the test makes them after each step of a
session, and lets the minute between two calls of a session pass.
"""

import contextlib
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.clients.steps import run, set_up, shell
from tests.clients.test_wake import codex_at_a_terminal
from tests.support.clients import Bench, ghp
from tests.support.consent import agree
from tests.support.fake_models import Request, Turn
from tests.support.git import git
from tests.support.road import Road
from tests.support.terminal import Terminal, terminal
from tests.support.thorough import IS_THOROUGH

pytestmark = pytest.mark.slow

ROUNDS = 300  # of syncs; about 30 are needed
PAUSE_S = 1.0  # seconds without a step, after which a sync calls again who then was in its turn
REQUEST = re.compile(r"Review (M-[0-9a-f]+) by agent worker-1")
FINISH = f"{ghp('agent-finish')} > /dev/null 2>&1"
WORK = f"mkdir src && echo tabs > src/parse.py && git add . && git commit -qm Parse && {FINISH}"
CHANGE = f"echo spaces > src/parse.py && git commit -qam Spaces && {FINISH}"
ASK = ghp("agent-send worker-2 'Review the parser' --kind review")
ASK_TWO = ghp("agent-send worker-2 worker-3 'Review the second version' --kind review")
MERGE = ghp("agent-merge 1 --unchecked")
REST = Turn("I rest now.")


def heard(line: Callable[[Request], Turn], step: threading.Event) -> Callable[[Request], Turn]:
    """The same line of a model, which also sets `step`."""

    def answer(request: Request) -> Turn:
        step.set()
        return line(request)

    return answer


def author() -> Callable[[Request], Turn]:
    """worker-1: works and asks, changes its work when it hears so, merges what is approved."""
    left = {
        "": f"{WORK} && {ASK}",
        "worker-2 requests changes to #2": f"{CHANGE} && {ASK_TWO}",
        "worker-3 has approved #2": MERGE,
    }

    def line(request: Request) -> Turn:
        due = next((heard for heard in left if heard in request.said), None)
        return REST if due is None else Turn(calls=[shell("claude", left.pop(due))])

    return line


def reviewer(client: str, *verdicts: str) -> Callable[[Request], Turn]:
    """A reviewer that does what it hears of, with one verdict after the other."""
    done: list[str] = []

    def line(request: Request) -> Turn:
        new = [each for each in REQUEST.findall(request.said) if each not in done]
        if not new:
            return REST
        done.append(new[0])
        verdict = verdicts[len(done) - 1]
        words = f"agent-inbox done {new[0]} --verdict {verdict} --result 'Read.'"
        return Turn(calls=[shell(client, ghp(words))])

    return line


@contextlib.contextmanager
def claude(bench: Bench, folder: Path, key: str) -> Iterator[Terminal]:
    """Claude Code at a terminal; it may use its shell."""
    command = [*bench.command("claude"), "--permission-mode", "acceptEdits"]
    env = bench.claude_environment(key)
    with terminal([*command, "--allowedTools", "Bash"], folder, env) as screen:
        screen.wait_for("accept edits")
        yield screen


def begin(screen: Terminal) -> None:
    """The one prompt of a session; then it rests."""
    screen.type("Begin")
    screen.wait_for("Begin")
    screen.type("\r")
    screen.wait_for("I rest now.")
    screen.read_on()


def sync(path: str, *clones: Path) -> None:
    """What the background process of each clone does, a minute later."""
    for clone in clones:
        for file in clone.glob(".git/ghp/cache/calls/*.json"):
            file.write_text(json.dumps({**json.loads(file.read_text()), "at": 0}))
        run("agent-sync", cwd=clone, env={"PATH": path})


@pytest.mark.long
@pytest.mark.skipif(not IS_THOROUGH, reason="THOROUGH=1 lets the three sessions rest, too")
def test_three_resting_sessions_review_and_merge_by_messages_alone(
    bench: Bench, clones: Callable[[int], list[Path]], worktree: Callable[[Path, str], Path]
) -> None:
    one, other = clones(2)
    Road(one).configure({"review": "required"})
    git(other, "pull", "--quiet")
    agree(other)
    run("agent-init", "--agent", "worker-1", "--hooks", "claude", cwd=one)
    run("agent-init", "--agent", "worker-2", "--hooks", "claude", cwd=other)
    third = worktree(other, "three")
    set_up(bench, third, "codex", agent="worker-3")
    run("agent-issue", "new", "Parse", "--as", "@me", cwd=one)
    run("agent-start", "1", cwd=one)
    path = f"{Path(bench.command('codex')[0]).parent}:{os.environ['PATH']}"
    sync(path, one, other, one)
    place = Path(run("agent-where", "1", cwd=one).strip())
    bench.welcome_claude("worker", place, other)
    step = threading.Event()
    for key, line in (
        ("a-worker", author()),
        ("b-worker", reviewer("claude", "changes", "approve")),
        ("c-worker", reviewer("codex", "approve")),
    ):
        bench.models.script(key, *[heard(line, step)] * 99)
    known = json.loads((bench.home / ".claude.json").read_text())
    known["customApiKeyResponses"]["approved"] = ["a-worker", "b-worker"]
    (bench.home / ".claude.json").write_text(json.dumps(known))
    with (
        codex_at_a_terminal(bench, third, "c-worker") as c,
        claude(bench, other, "b-worker") as b,
        claude(bench, place, "a-worker") as a,
    ):
        for screen in (c, b, a):
            begin(screen)
        for _ in range(ROUNDS):
            step.clear()
            sync(path, one, other)
            if "src/parse.py" in git(one, "ls-tree", "-r", "--name-only", "origin/main"):
                break
            step.wait(PAUSE_S)
    assert git(one, "show", "origin/main:src/parse.py") == "spaces"
    said = bench.models.requests("a-worker")[-1].said
    assert said.count("worker-2 requests changes to #2") == 1
    assert said.count("worker-3 has approved #2") == 1
