"""`agent-update` as agents and people call it."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.ghp import Result, invoke, run_ghp
from tests.support.git import commit, git, refs, run_git
from tests.support.killer import Killer
from tests.support.thorough import mostly_slow

TEN = "".join(f"{number}\n" for number in range(1, 11))
CALLS = range(34, 54)  # of git, in one update; the last ones are never reached
NAME = "work"


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No background process."""
    monkeypatch.setenv("GHP_BACKGROUND", "0")


@pytest.fixture
def place(repo: Path, worktree: Callable[[Path, str], Path]) -> Path:
    """A worktree on a branch, with a commit and uncommitted work; main moves on in `repo`."""
    commit(repo, {"a.txt": TEN, "b.txt": TEN, "c.txt": TEN, "old.txt": "old\n"})
    place = worktree(repo, NAME)
    commit(place, {"b.txt": TEN.replace("2\n", "two\n")}, "Mine")
    (place / "a.txt").write_text(TEN.replace("3\n", "three\n"))
    (place / "staged.txt").write_text("staged\n")
    git(place, "add", "staged.txt")
    (place / "loose.txt").write_text("loose\n")
    git(repo, "rm", "--quiet", "old.txt")
    commit(repo, {"a.txt": TEN.replace("9\n", "nine\n"), "news.txt": "news\n"}, "Theirs")
    return place


def update(place: Path, words: str = "") -> Result:
    done = invoke(f"agent-update {words}", place)
    return Result(done.code, done.out, re.sub(r"\b[0-9a-f]{12}\b", "COMMIT", done.err))


@pytest.mark.slow
def test_it_says_what_it_did_and_again_changes_nothing(place: Path) -> None:
    assert update(place) == (
        0, "", "✓ Merged main into agent/work. It was at COMMIT.\n3 uncommitted changes kept.\n",
    )  # fmt: skip
    assert update(place) == (0, "", "agent/work is up to date with main.\n")


@pytest.mark.slow
def test_a_program_reads_it_as_json(place: Path) -> None:
    old = git(place, "rev-parse", "HEAD")
    shown = json.loads(invoke("agent-update --json", place).out)
    assert shown == {
        "schemaVersion": 1,
        "branch": "agent/work",
        "base": "main",
        "old": old,
        "head": git(place, "rev-parse", "HEAD"),
        "method": "merge",
        "carried": 3,
        "replaces": False,
        "conflicts": [],
    }


@pytest.mark.slow
def test_a_conflict_shows_both_sides(repo: Path, place: Path) -> None:
    commit(repo, {"a.txt": TEN.replace("3\n", "trois\ntrois\n"), "loose.txt": "theirs\n"})
    assert update(place) == (
        3,
        "",
        "a.txt: changed on both sides\n"
        "  line 3 here:\n"
        "    | three\n"
        "  lines 3-4 on main:\n"
        "    | trois\n"
        "    | trois\n"
        "loose.txt: added on both sides\n"
        "  line 1 here:\n"
        "    | loose\n"
        "  line 1 on main:\n"
        "    | theirs\n"
        "Error: Your uncommitted changes conflict with main in a.txt, loose.txt. Nothing was "
        "changed.\n"
        "Hint: Commit your work. Then run `git merge main`, resolve the conflicts and commit.\n",
    )
    shown = json.loads(invoke("agent-update --json", place).out)
    assert (shown["method"], shown["conflicts"][0]) == (
        None,
        {
            "path": "a.txt",
            "kind": "lines",
            "places": [
                {
                    "start": 3, "end": 3, "ours": "three",
                    "theirStart": 3, "theirEnd": 4, "theirs": "trois\ntrois",
                }
            ],
            "more": 0,
        },
    )  # fmt: skip


def test_a_text_cannot_control_the_terminal(repo: Path, place: Path) -> None:
    commit(repo, {"a.txt": TEN.replace("3\n", "\x1b]0;title\x07\n")})
    assert "\x1b" not in update(place).err


def test_without_a_branch_it_says_what_to_do(repo: Path) -> None:
    assert update(repo) == (
        3, "",
        "Error: This worktree is on the main branch, main.\n"
        "Hint: Update it with `git pull`. `ghp agent-update` is for the branches of work.\n",
    )  # fmt: skip


def is_done(place: Path) -> None:
    """Everything is in the new state, the uncommitted work included."""
    assert git(place, "status", "--porcelain").splitlines() == [
        " M a.txt", "A  staged.txt", "?? loose.txt",
    ]  # fmt: skip
    assert (place / "a.txt").read_text() == TEN.replace("3\n", "three\n").replace("9\n", "nine\n")
    assert (place / "loose.txt").read_text() == "loose\n"
    assert git(place, "log", "-1", "--format=%s") == "Merge main into agent/work"
    assert (place / "news.txt").exists()
    assert not (place / "old.txt").exists()
    assert refs(place, "refs/worktree") == {}
    assert run_git(place, "fsck", "--no-dangling").stderr == ""


@pytest.mark.parametrize("does_it", [True, False], ids=["after", "before"])
@pytest.mark.parametrize("at", mostly_slow(CALLS, every=5))
@pytest.mark.sample(2)
def test_killed_at_any_call_of_git_the_same_command_completes_it(
    place: Path, tmp_path: Path, at: int, does_it: bool
) -> None:
    old = git(place, "rev-parse", "HEAD")
    killed = Killer(tmp_path / "killer", does_it=does_it).run("agent-update", place, at)
    assert killed.code in (-9, 0)
    saved = refs(place, "refs/worktree").get("refs/worktree/ghp-agents/update")
    if saved and git(place, "rev-parse", "HEAD") == old:
        before = git(place, "show", f"{saved}:a.txt") + "\n"
        assert before == TEN.replace("3\n", "three\n")
    done = run_ghp("agent-update", place)
    assert done.code == 0, done.err
    is_done(place)


@pytest.mark.slow
def test_what_was_changed_after_a_kill_is_not_overwritten(place: Path, tmp_path: Path) -> None:
    for at in CALLS:
        Killer(tmp_path / str(at), does_it=False).run("agent-update", place, at)
        if refs(place, "refs/worktree"):
            break
    (place / "a.txt").write_text("edited\n")
    done = invoke("agent-update", place)
    assert (done.code, done.err) == (
        3,
        "Error: An update was interrupted, and these files were changed since: a.txt.\n"
        "Hint: `git show refs/worktree/ghp-agents/update:PATH` prints a file as it was before. "
        "Copy your version elsewhere and put that one back. Run `ghp agent-update` again.\n",
    )
    assert (place / "a.txt").read_text() == "edited\n"
    text = git(place, "show", "refs/worktree/ghp-agents/update:a.txt")
    (place / "a.txt").write_text(f"{text}\n")
    assert invoke("agent-update", place).code == 0
    is_done(place)
