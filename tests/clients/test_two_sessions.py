"""Two real sessions of Claude Code in two clones: what happens in one is read in the other."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.clients.live import LiveSession, Reading
from tests.clients.steps import run, states
from tests.support.clients import Bench, ghp
from tests.support.git import git
from tests.support.hooks import log

pytestmark = pytest.mark.slow

NEWS = "hook additional context: ghp-agents has news for this agent:\n"
STEP, PROMPT = f"PostToolBatch {NEWS}", f"UserPromptSubmit {NEWS}"
BEFORE_IT_STOPS = (
    "Stop hook additional context: Before this turn ends, ghp-agents has news for this agent:\n"
)
PERSON = "«Test Person» (a person)"
NOTHING = Reading()
TIMES = re.compile(r"\d{4}-\d\d-\d\dT[\d:]+Z|\d\d:\d\d UTC")
IDS = re.compile(r"\b([EHL])-[0-9a-f]+")

Join = Callable[[Path, Path], tuple[LiveSession, LiveSession]]


@pytest.fixture
def two(clones: Callable[[int], list[Path]]) -> Iterator[tuple[Path, Path]]:
    """Two clones: worker-1 is in the first, worker-2 in the second. There are two issues. In the
    end, no hook has failed."""
    one, other = clones(2)
    run("agent-init", "--agent", "worker-1", "--hooks", "claude", cwd=one)
    run("agent-issue", "new", "Parse", "--body", "## Scope\n\n- src/**\n", "--as", "@me", cwd=one)
    run("agent-issue", "new", "Write", "--as", "@me", cwd=one)
    run("agent-init", "--agent", "worker-2", "--hooks", "claude", cwd=other)
    exchange(one, other)
    yield one, other
    assert [log(one), log(other)] == [[], []]


@pytest.fixture
def join(bench: Bench) -> Iterator[Join]:
    """`join(FOLDER, FOLDER)` starts a session of worker-1 and one of worker-2."""
    with ExitStack() as stack:

        def start(one: Path, other: Path) -> tuple[LiveSession, LiveSession]:
            first, second = (
                stack.enter_context(closing(LiveSession(bench, folder, agent)))
                for folder, agent in ((one, "worker-1"), (other, "worker-2"))
            )
            return first, second

        yield start


def exchange(one: Path, other: Path) -> None:
    """What is new in the first clone comes to the second."""
    for folder in (one, other):
        run("agent-sync", cwd=folder)


def worktree(clone: Path, issue: int) -> Path:
    """Where an issue is worked on."""
    return Path(run("agent-where", str(issue), cwd=clone).strip())


def tree(folder: Path) -> dict[str, bytes]:
    """The files that git sees in a worktree."""
    names = git(folder, "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    return {name: (folder / name).read_bytes() for name in names}


def bare(text: str) -> str:
    """A text without the times and the ids in it."""
    return IDS.sub(r"\1-ID", TIMES.sub("TIME", text))


def test_work_that_a_person_gives_is_read_at_the_next_step_or_the_next_prompt(
    two: tuple[Path, Path], join: Join
) -> None:
    one, other = two
    run("agent-claim", "1", cwd=one)
    a, b = join(one, other)
    assert (a.begin().results, b.begin().results) == ((), ())

    run("agent-issue", "assign", "2", "worker-2", "--as", "@me", cwd=one)
    exchange(one, other)
    assert b.look().context == (
        f"{STEP}{PERSON} assigned #2 «Write» to you. Run `ghp agent-start 2`."
    )
    assert b.rest() == NOTHING  # it is idle from here on

    give = "agent-release 1 --to worker-2 --reason Tired --as @me"
    run(*give.split(), cwd=one)
    exchange(one, other)
    assert b.prompt("Go on.").context == (
        f"{PROMPT}{PERSON} gave #1 to you. Reason given: «Tired». Run `ghp agent-start 1`."
    )
    started = b.ghp("agent-start 1")
    given = "You hold #1 «Parse»: «Test Person» gave it to you at TIME.\n"
    assert bare(started.results[0]).startswith(given)
    assert (started.context, b.rest()) == ("", NOTHING)

    refused = a.write(one / "src/a.py")
    assert bare(refused.results[0]) == (
        "PreToolUse:Write hook error: Your claim of #1 was taken: worker-2 has held it since TIME. "
        "Reason given: «given by Test Person: Tired».\nNext: Stop working on #1. Hand over "
        "unpushed work with `ghp agent-handoff --issue 1`. `ghp agent-claim --next` finds other "
        "work."
    )
    assert (refused.context, a.rest()) == ("", NOTHING)
    assert not (one / "src").exists()


def test_the_merge_of_a_blocker_sends_the_blocked_session_on(
    two: tuple[Path, Path], join: Join
) -> None:
    one, other = two
    run("agent-issue", "block", "2", "--by", "1", "--as", "@me", cwd=one)
    run("agent-start", "1", cwd=one)
    exchange(one, other)
    run("agent-claim", "2", cwd=other)
    for status in ("testing", "blocked"):
        run("agent-heartbeat", "--status", status, cwd=other)
        run("agent-sync", cwd=other)
    place = worktree(one, 1)
    a, b = join(place, other)
    assert "\n1. Blocked by #1: wait until it is closed.\n" in b.begin().context
    a.begin()

    finish = [ghp("agent-finish"), ghp("agent-merge", "1", "--unchecked")]
    commit = "mkdir src && echo new > src/parse.py && git add . && git commit -qm Parse"
    merged = a.shell(" && ".join([commit, *finish]))
    assert "\n✓ Closed #1 «Parse».\n" in merged.results[0]
    assert merged.context == ""
    exchange(one, other)
    assert b.look().context == (
        f"{STEP}worker-1 closed #1, which blocked your #2. Nothing else blocks it: continue."
    )
    assert states(other)["worker-2"]["status"] == "testing"
    assert (b.rest(), a.rest()) == (NOTHING, NOTHING)


def test_a_comment_a_decision_and_an_order_to_stop_are_read_where_they_are_for(
    two: tuple[Path, Path], join: Join
) -> None:
    """A comment before the turn ends, too; a decision by both sessions, and it holds for both."""
    one, other = two
    run("agent-claim", "1", cwd=one)
    run("agent-claim", "2", cwd=other)
    run("agent-lease", "docs/", cwd=other)
    exchange(other, one)
    a, b = join(one, other)
    a.begin()
    b.begin()

    assert a.ghp("agent-issue comment 2 'Mind the tabs.'").context == ""
    exchange(one, other)
    shows = "`ghp agent-issue show 2` shows all."
    assert b.look().context == f"{STEP}worker-1 commented on #2: «Mind the tabs.». {shows}"
    run("agent-issue", "comment", "2", "And the spaces.", "--as", "@me", cwd=one)
    exchange(one, other)
    assert b.rest().context == (
        f"{BEFORE_IT_STOPS}{PERSON} commented on #2: «And the spaces.». {shows}"
    )

    refused = a.write(one / "docs/a.md")
    advised = re.search(r"`ghp (agent-escalate --file \S+)`", refused.results[0])
    assert advised, refused
    question = a.ghp(advised[1]).results[0].split()[-1]
    exchange(one, other)
    run("agent-answer", question, "yes", "--as", "@me", cwd=other)
    exchange(other, one)
    decided = (
        f"{STEP}{PERSON} decided E-ID: «worker-1 may change docs/a.md. The lease L-ID of worker-2 "
        "for docs/ now leaves out docs/a.md.»"
    )
    assert bare(a.look().context) == decided
    assert bare(b.look().context) == decided
    written = a.write(one / "docs/a.md")
    assert (written.context, (one / "docs/a.md").read_text()) == ("", "new\n")
    refused = b.write(other / "docs/a.md")
    assert bare(refused.results[0]) == (
        "PreToolUse:Write hook error: docs/a.md is leased by worker-1 since TIME (L-ID).\n"
        "Next: Work on something else, wait for it with `ghp agent-lease docs/a.md --wait`, or "
        "ask: `ghp agent-escalate --file docs/a.md`."
    )
    assert refused.context == ""

    run("agent-stop", "worker-2", "--reason", "Wrong approach", "--as", "@me", cwd=one)
    run("agent-sync", cwd=other)
    assert b.look().context == (
        f"{STEP}{PERSON} told you to stop. Reason given: «Wrong approach». Change nothing more, "
        "for edits are refused, and end your turn. Your issues are free again, and the next "
        f"agent continues your work.\n{PERSON} ended your lease of docs/, !/docs/a.md. Reason "
        "given: «worker-2 was stopped»."
    )
    refused = b.write(other / "src/a.py")
    assert refused.results == (
        f"PreToolUse:Write hook error: {PERSON} told worker-2 to stop. Reason given: «Wrong "
        "approach».\nNext: End your turn. Only a person or an orchestrator can let you continue.",
    )
    assert not (other / "src").exists()
    assert (refused.context, b.rest()) == ("", NOTHING)

    exchange(other, one)
    claimed = a.ghp("agent-claim 2")
    waits = r"The handoff H-[0-9a-f]+ waits for you: `ghp agent-resume --issue 2`\."
    assert re.fullmatch(f"2\n✓ Claimed #2 «Write»\\.\n{waits}", claimed.results[0])
    assert (len(claimed.results), claimed.context) == (1, "")
    assert a.rest() == NOTHING
    found = states(one)
    assert (found["worker-2"]["status"], found["worker-2"]["issue"]) == ("stopped", None)


def test_work_that_is_handed_over_goes_on_in_the_other_session(
    two: tuple[Path, Path], join: Join
) -> None:
    one, other = two
    run("agent-start", "1", cwd=one)
    here = worktree(one, 1)
    a, b = join(here, other)
    a.begin()
    b.begin()

    a.shell(
        "mkdir src && echo new > src/parse.py && git add . && git commit -qm Parse && "
        "echo more >> src/parse.py && printf 'a\\0b' > src/lexer && "
        + ghp("agent-handoff", "--to", "worker-2", "--note", "'The lexer is next.'")
    )
    assert a.rest() == NOTHING
    exchange(one, other)
    assert b.look().context == (
        f"{STEP}worker-1 handed #1 over to you: «The lexer is next.». Read `ghp agent-resume "
        "--issue 1`, then run `ghp agent-start 1`. To restore uncommitted work: `ghp agent-resume "
        "--apply`."
    )
    resumed, started = b.ghp("agent-resume --issue 1", "agent-start 1").results
    restore = "Restore the uncommitted work (2 files): `ghp agent-resume --issue 1 --apply`.\n"
    # The first is typed on main, which lacks the commits.
    for text, number in ((resumed, 2), (started, 1)):
        assert "\nAgent worker-1 handed over to worker-2 (H-ID, " in bare(text)
        assert "\n> The lexer is next.\n" in text
        assert f"\n{number}. {restore}" in text
    there = worktree(other, 1)
    assert f"\nWork in {there}\n" in started
    applied = b.shell(f"cd {there} && {ghp('agent-resume --issue 1 --apply')}")
    assert "\n1. Continue with #1.\n" in applied.results[0]
    assert applied.context == ""
    assert tree(there) == tree(here)
    assert set(tree(here)) == {"README.md", "src/lexer", "src/parse.py"}

    assert a.prompt("Go on.") == NOTHING
    refused = a.write(here / "src/lexer")
    assert bare(refused.results[0]) == (
        "PreToolUse:Write hook error: You handed #1 over: worker-2 has held it since TIME.\n"
        "Next: Work on another branch. `ghp agent-claim --next` finds other work."
    )
    assert (refused.context, a.rest(), b.rest()) == ("", NOTHING, NOTHING)
