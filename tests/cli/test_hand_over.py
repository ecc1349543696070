"""After a hand-over to another clone everything is the other's: branch, work, leases, authority."""

import json
import os
from pathlib import Path

import pytest

from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.wiring import App
from tests.support import hosts
from tests.support.ghp import Result, invoke
from tests.support.git import commit, git
from tests.support.hooks import call, write
from tests.support.repos import Restored, Site
from tests.support.rulesets import rule
from tests.support.thorough import mostly_slow

ONE, TWO = {"GHP_AGENT": "worker-1"}, {"GHP_AGENT": "worker-2"}
SECRET = "qz_" + "Abx" * 11 + "c"
FILES = ("src/done.py", "src/begun.py", "README.md")


def run(line: str, folder: Path, env: dict[str, str] | None = None) -> Result:
    done = invoke(line, folder, env)
    assert done.code == 0, (line, done)
    return done


def place(folder: Path) -> Path:
    """The worktree of the issue in a clone."""
    return Path(run("agent-where 1", folder).out.strip())


@pytest.fixture
def begun(restored: Restored) -> tuple[Path, Path, Path]:
    """Two clones, and worker-1's worktree in the first: a commit, more work, a lease."""
    one, other = restored(work_begun).clones
    return one, other, place(one)


@pytest.fixture
def remote(begun: tuple[Path, Path, Path]) -> Path:
    """The remote of the clones."""
    return begun[0].parent / "remote.git"


def work_begun(site: Site) -> None:
    one, _ = site.make_clones()
    run("agent-init", one)
    run("agent-issue new Parse --body '### Scope\n\nsrc/'", one)
    run("agent-sync", one)
    run("agent-start 1", one, ONE)
    mine = place(one)
    commit(mine, {"src/done.py": "1\n"}, "Begin to parse")
    (mine / "src/begun.py").write_bytes(b"\x00\xff half")
    (mine / "README.md").write_text("# Changed\n")
    run("agent-lease README.md", mine, ONE)


@pytest.mark.slow
def test_everything_goes_along(begun: tuple[Path, Path, Path]) -> None:
    one, other, mine = begun
    handed = run("agent-handoff --to worker-2 --note 'Go on.'", mine, ONE)
    assert "✓ Pushed agent/worker-1/1-parse.\n" in handed.err
    assert "✓ worker-2 has your leases now: README.md.\n" in handed.err
    run("agent-sync", one)
    run("agent-init", other)
    run("agent-sync", other)
    assert "\nbranch: agent/worker-1/1-parse\n" in run("agent-issue show 1", other).out
    run("agent-start 1", other, TWO)
    theirs = place(other)
    run("agent-resume --apply", theirs, TWO)
    assert git(theirs, "rev-parse", "--abbrev-ref", "HEAD") == "agent/worker-1/1-parse"
    for name in FILES:
        assert (theirs / name).read_bytes() == (mine / name).read_bytes()
        assert invoke(f"agent-check {name}", theirs, TWO).code == 0, name
        assert invoke(f"agent-check {name}", mine, ONE).code == 3, name


@pytest.mark.background
@pytest.mark.slow
def test_a_start_just_after_a_sync_has_the_handoff_that_the_claim_names(
    begun: tuple[Path, Path, Path],
) -> None:
    _, other, mine = begun
    run("agent-init", other)
    run("agent-sync", other)
    handed = run("agent-handoff --to worker-2 --note 'Read me first.'", mine, ONE)
    name = next(word.strip(".,") for word in handed.err.split() if word.startswith("H-"))
    started = run("agent-start 1", other, TWO)  # too soon for another sync
    assert f"Agent worker-1 handed over to worker-2 ({name}, " in started.out
    assert "Read me first." in started.out
    assert "is not here yet" not in started.err


@pytest.mark.slow
def test_what_no_lease_and_no_scope_covers_is_refused_on_the_branch_that_went_along(
    begun: tuple[Path, Path, Path],
) -> None:
    one, other, mine = begun
    (mine / "notes.md").write_text("x\n")
    run("agent-handoff --to worker-2", mine, ONE)
    refused = call("claude", write(mine / "notes.md", mine), mine, ONE).out.decode()
    assert "You handed #1 over: worker-2 has held it since " in refused
    assert invoke("agent-check notes.md", mine, ONE).code == 3
    assert invoke("agent-check notes.md --as @me", mine).code == 0
    git(mine, "checkout", "--quiet", "-b", "other")
    run("agent-heartbeat", mine, ONE)
    assert invoke("agent-check notes.md", mine, ONE).code == 0, "other work"
    git(mine, "checkout", "--quiet", BRANCH)
    run("agent-sync", one)
    continue_in(other)
    run("agent-handoff --to worker-1 --no-push", place(other), TWO)
    run("agent-sync", one)
    run("agent-start 1", one, ONE)
    assert invoke("agent-check notes.md", mine, ONE).code == 0, "it came back"


@pytest.mark.slow
def test_in_one_clone_the_worktree_goes_over(begun: tuple[Path, Path, Path]) -> None:
    one, _, mine = begun
    hooked = call("claude", write(mine / "notes.md", mine), mine, ONE)
    assert (hooked.code, hooked.out) == (0, b"")
    (mine / "notes.md").write_text("x\n")
    run("agent-heartbeat --status idle", one, TWO)
    assert invoke("agent-check notes.md", mine, TWO).code == 3
    run("agent-handoff --to worker-2", mine, ONE)
    run("agent-start 1", one, TWO)
    assert place(one) == mine
    for name in (*FILES, "notes.md"):
        assert invoke(f"agent-check {name}", mine, TWO).code == 0, name
        assert invoke(f"agent-check {name}", mine, ONE).code == 3, name


# The branch cannot be pushed, or nobody wants to: then its commits travel with the handoff.
ONLY_OURS = """\
while read old new ref; do
  case "$ref" in refs/heads/agent/*) exit 1;; esac
done
"""
BRANCH = "agent/worker-1/1-parse"


def work(mine: Path) -> None:
    """Commit every kind of change, and leave every kind uncommitted."""
    names = ("gone", "moved", "tool", "later-gone", "later-moved", "later-tool")
    commit(mine, {f"src/{name}": f"{name}\n" * 20 for name in names}, "Begin")
    for prefix in ("", "later-"):
        (mine / f"src/{prefix}gone").unlink()
        (mine / f"src/{prefix}moved").rename(mine / f"src/{prefix}new place")
        (mine / f"src/{prefix}tool").chmod(0o755)
        (mine / f"src/{prefix}link").symlink_to("tool")
        (mine / f"src/{prefix}data").write_bytes(bytes(range(256)))
        if not prefix:
            git(mine, "add", "--all", "src")
            git(mine, "commit", "--quiet", "-m", "Go on")


def tree(folder: Path) -> dict[str, tuple[str, bytes]]:
    """Every file of a worktree: its kind and its content."""
    contents = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            contents[name] = ("link", bytes(path.readlink()))
        elif path.is_file() and name != ".git" and not name.startswith(".ghp/"):
            contents[name] = (oct(path.stat().st_mode), path.read_bytes())
    return contents


def continue_in(other: Path) -> Path:
    """Worker-2 starts in the other clone, and restores the work."""
    run("agent-init", other)
    run("agent-sync", other)
    started = run("agent-start 1", other, TWO)
    assert f"for {BRANCH}, the branch of earlier work on this issue." in started.err
    theirs = place(other)
    run("agent-resume --apply", theirs, TWO)
    return theirs


@pytest.mark.slow
@pytest.mark.parametrize("road", mostly_slow(["stored", "pushed", "refused"], every=3))
def test_a_hand_over_is_whole(begun: tuple[Path, Path, Path], remote: Path, road: str) -> None:
    one, other, mine = begun
    work(mine)
    if road == "refused":
        hosts.hook(remote, "pre-receive", ONLY_OURS)
    option = "--no-push" if road == "stored" else ""
    run(f"agent-handoff --to worker-2 --note 'Go on.' {option}", mine, ONE)
    run("agent-sync", one)
    theirs = continue_in(other)
    assert tree(theirs) == tree(mine)
    assert git(theirs, "rev-parse", "HEAD") == git(mine, "rev-parse", "HEAD")
    assert git(theirs, "rev-parse", "--abbrev-ref", "HEAD") == BRANCH
    assert git(theirs, "fsck", "--strict", "--no-dangling") == ""
    names = git(theirs, "diff", "--name-only", "--no-renames", "origin/main").splitlines()
    for name in {*names, *git(theirs, "ls-files", "--others", "--exclude-standard").splitlines()}:
        assert invoke(["agent-check", name], theirs, TWO).code == 0, name
        assert invoke(["agent-check", name], mine, ONE).code == 3, name
    is_pushed = BRANCH in git(remote, "branch", "--list", "--format=%(refname:short)")
    assert is_pushed == (road == "pushed")


@pytest.mark.background
@pytest.mark.slow
def test_what_is_stored_comes_back_to_the_first_clone(begun: tuple[Path, Path, Path]) -> None:
    one, other, mine = begun
    run("agent-handoff --to worker-2 --no-push", mine, ONE)
    git(mine, "stash", "--include-untracked", "--quiet")
    run("agent-sync", one)
    theirs = continue_in(other)
    head = commit(theirs, {"src/more.py": "2\n"}, "Go on")
    run("agent-handoff --to worker-1 --no-push", theirs, TWO)
    run("agent-sync", other)
    run("agent-sync", one)
    run("agent-start 1", one, ONE)
    assert place(one) == mine
    assert git(mine, "rev-parse", "HEAD") == head


@pytest.mark.slow
def test_what_is_stored_adds_to_what_is_pushed(begun: tuple[Path, Path, Path]) -> None:
    one, other, mine = begun
    git(mine, "push", "--quiet", "origin", "HEAD")
    head = commit(mine, {"src/more.py": "2\n"}, "Go on")
    run("agent-handoff --to worker-2 --no-push", mine, ONE)
    run("agent-sync", one)
    theirs = continue_in(other)
    assert git(theirs, "rev-parse", "HEAD") == head
    assert git(theirs, "rev-parse", "--abbrev-ref", "HEAD") == BRANCH


@pytest.mark.slow
def test_a_branch_with_other_commits_is_not_overwritten(begun: tuple[Path, Path, Path]) -> None:
    one, other, mine = begun
    handed = run("agent-handoff --to worker-2 --no-push", mine, ONE)
    name = handed.err.split("Recorded ")[1].split()[0]
    run("agent-sync", one)
    run("agent-init", other)
    run("agent-sync", other)
    git(other, "checkout", "--quiet", "-b", BRANCH)
    own = commit(other, {"src/own.py": "1\n"}, "My own")
    git(other, "checkout", "--quiet", "main")
    started = run("agent-start 1", other, TWO)
    assert (
        f"Warning: {BRANCH} here lacks commits of {name}, by worker-1: {BRANCH} has other commits "
        "here.\n"
    ) in started.err
    assert git(other, "rev-parse", BRANCH) == own


@pytest.mark.slow
def test_a_pack_that_was_changed_starts_nothing(begun: tuple[Path, Path, Path]) -> None:
    one, other, mine = begun
    handed = run("agent-handoff --to worker-2 --no-push", mine, ONE)
    name = handed.err.split("Recorded ")[1].split()[0]
    path = f".ghp/patches/{name.removeprefix('H-')}/commits.pack"
    forged = Record(
        "handoff", Actor("mallory"), name, "0123456789ab", Timestamp("2026-01-02T03:04:05Z"), 1,
        ((path, b"\xff" * 100),), issue=1,
    )  # fmt: skip
    run("agent-init", other)
    transact(App(other, dict(os.environ)).store, lambda snapshot: (None, [forged]))
    run("agent-sync", one)
    run("agent-sync", other)
    refused = invoke("agent-start 1", other, TWO)
    assert refused.code == 4
    assert refused.err.endswith(
        f"Error: worker-1 handed #1 over on branch {BRANCH} ({name}), which neither this clone nor "
        "the remote has: the stored pack does not match its checksum.\n"
        f"Hint: In the clone of worker-1: `git push origin {BRANCH}`. To begin without that work: "
        "`git branch agent/1-anew main`, then start again.\n"
    )
    assert git(other, "branch", "--list", "agent/*") == ""


@pytest.mark.slow
def test_a_branch_that_nobody_can_get_is_not_begun_anew(begun: tuple[Path, Path, Path]) -> None:
    one, other, mine = begun
    commit(mine, {"src/key": f"ghp_{'a1B2' * 9}\n"}, "A secret")
    handed = run("agent-handoff --to worker-2 --note 'Go on.' --no-push", mine, ONE)
    name = handed.err.split("Recorded ")[1].split()[0]
    run("agent-sync", one)
    run("agent-init", other)
    run("agent-sync", other)
    refused = invoke("agent-start 1", other, TWO)
    assert refused.code == 4
    assert refused.err.endswith(
        f"Error: worker-1 handed #1 over on branch {BRANCH} ({name}), which "
        "neither this clone nor the remote has.\n"
        "Hint: In the clone of worker-1: `git push origin agent/worker-1/1-parse`. To begin "
        "without that work: `git branch agent/1-anew main`, then start again.\n"
    )
    assert git(other, "branch", "--list", "agent/*") == ""
    git(mine, "push", "--quiet", "origin", "HEAD")
    run("agent-start 1", other, TWO)
    assert (place(other) / "src/done.py").exists()


@pytest.mark.slow
def test_or_it_is_begun_without_that_work(begun: tuple[Path, Path, Path]) -> None:
    one, other, mine = begun
    run("agent-handoff --to worker-2 --note 'Go on.' --no-push", mine, ONE)
    run("agent-sync", one)
    run("agent-init", other)
    run("agent-sync", other)
    git(other, "branch", "agent/1-anew", "main")
    run("agent-start 1", other, TWO)
    assert git(place(other), "rev-parse", "--abbrev-ref", "HEAD") == "agent/1-anew"


@pytest.mark.slow
def test_decisions_go_along_and_later_answers_are_news(begun: tuple[Path, Path, Path]) -> None:
    one, other, mine = begun
    first = run("agent-escalate 'Which format?' --issue 1", mine, ONE).out.strip()
    second = run("agent-escalate 'Which colour?' --issue 1", mine, ONE).out.strip()
    run(f"agent-answer {first} TOML", one)
    run("agent-handoff --to worker-2", mine, ONE)
    run("agent-sync", one)
    theirs = continue_in(other)
    resumed = run("agent-resume", theirs, TWO).out
    assert f"## Decisions\n\n- {first}, «Which format?»: «TOML» (person " in resumed
    assert f"{second}, asked by worker-1 " in resumed
    run(f"agent-answer {second} Blue", one)
    run("agent-sync", one)
    run("agent-sync", other)
    news = run("agent-resume", theirs, TWO).out
    assert f"answered {second}, worker-1's question about #1" in news
    assert f"- {second}, «Which colour?»: «Blue» (person " in news
    assert "\n> Blue\n" in run("agent-resume --issue 1", mine, ONE).out


@pytest.mark.slow
def test_a_handoff_that_the_remote_refuses_gives_nothing_away(
    begun: tuple[Path, Path, Path], remote: Path
) -> None:
    one, _, mine = begun
    run("agent-sync", one)
    rule(remote)
    (mine / "src/begun.py").write_text(f"key = '{SECRET}'\n")
    done = invoke("agent-handoff --to worker-2", mine, ONE)
    assert done.code == 3
    assert ": nothing was handed over. #1 is still yours.\nHint: `ghp agent-sync --refused R-" in (
        done.err
    )
    assert json.loads(run("agent-issues --json", one).out)[0]["assignees"] == ["worker-1"]
    assert "README.md" in run("agent-leases", one).out


@pytest.mark.slow
def test_a_handoff_for_nobody_says_that_the_issue_stays(begun: tuple[Path, Path, Path]) -> None:
    _, _, mine = begun
    stays = "#1 is still yours. To free it for others: `ghp agent-release 1`.\n"
    assert stays in run("agent-handoff --note Later", mine, ONE).err
    assert stays not in run("agent-handoff --checkpoint --note Later", mine, ONE).err
