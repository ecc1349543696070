"""`agent-init` as people call it: what it says, makes, asks and takes away, with real git."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.hotpath import heartbeat as pulse
from tests.support import hosts
from tests.support.consent import mine
from tests.support.ghp import invoke
from tests.support.git import commit, git, refs
from tests.support.setup import give_exclude, ours

Clones = Callable[[int], list[Path]]
AS = {"GHP_AGENT": "worker-1"}

MADE = """\
✓ Created the private repository .git/ghp/state.git.
✓ Wrote the view .ghp/agent-status.json, kept out of git by .git/info/exclude.
"""


def shared(address: object, namespace: str = "refs/ghp/", readers: str = "") -> str:
    """What is said before anything is done."""
    width = max(len(namespace) + 7, 20)
    return f"""\
Clones share state through origin ({address}). What is pushed there:
  {namespace + "clone/*":{width}}  the records of this clone, on its own ref
  {namespace + "lease/*":{width}}  the locks and their holders
  {"refs/heads/ghp-state":{width}}  pages for people, only with `ghp agent-sync --publish`
It contains agents' names, status and branches, and the files and lines that they change. It \
also contains questions, answers, issues, leases, handoffs with uncommitted work, and people's \
names from git. Paths are relative to the repository. Absolute paths and host names appear only \
if somebody writes them.
Who can read it: {readers or "everybody who can read the repository."}
To keep everything in this clone, set "agents": {{"push": false}} in .ghp/config.json.
"""


@pytest.fixture(autouse=True)
def info_exclude(clone: Path, repo: Path) -> None:
    """A clone as people have it."""
    give_exclude(clone)
    give_exclude(repo)


# ------------------------------------------------------------------------------ making


def test_it_says_what_is_shared_and_each_thing_that_it_makes(clone: Path, remote: Path) -> None:
    assert invoke("agent-init", clone) == (
        0,
        "",
        f"{shared(remote)}{MADE}✓ origin accepts our refs under refs/ghp/.\n",
    )
    assert ours(clone) == [".git/ghp", ".ghp", "exclude"]
    assert git(clone, "status", "--porcelain") == ""
    assert refs(remote).keys() == {"refs/heads/main"}, "the probe was deleted"


@pytest.mark.slow
def test_a_second_run_has_nothing_to_do(clone: Path) -> None:
    invoke("agent-init", clone)
    again = invoke("agent-init --agent worker-1 --config", clone)
    assert again.err.splitlines()[-2:] == [
        "✓ Wrote .ghp/config.json (edit and commit it).",
        "✓ Named this worktree's agent worker-1.",
    ]
    nothing = (0, "", "✓ Nothing to do: this repository is set up.\n")
    assert invoke("agent-init --agent worker-1 --config", clone) == nothing
    assert invoke("agent-init", clone) == nothing


def test_a_dry_run_says_what_would_be_done_and_does_nothing(clone: Path, remote: Path) -> None:
    assert invoke("agent-init --dry-run --config --agent worker-1", clone) == (
        0,
        "Would create the private repository .git/ghp/state.git.\n"
        "Would write the view .ghp/agent-status.json, kept out of git by .git/info/exclude.\n"
        "Would write .ghp/config.json (edit and commit it).\n"
        "Would name this worktree's agent worker-1.\n"
        "Would push a test ref to the remote, and delete it again.\n",
        shared(remote),
    )
    assert ours(clone) == []
    assert refs(remote).keys() == {"refs/heads/main"}


def test_without_a_remote_nothing_leaves_the_clone(repo: Path) -> None:
    note = "Nothing leaves this clone: there is no remote.\n"
    assert invoke("agent-init", repo) == (0, "", note + MADE)


def test_the_configuration_can_keep_everything_at_home(clone: Path, remote: Path) -> None:
    commit(clone, {".ghp/config.json": '{"agents": {"push": false, "view": false}}'})
    assert invoke("agent-init", clone) == (
        0,
        "",
        "Nothing leaves this clone: `agents.push` is false.\n"
        "✓ Created the private repository .git/ghp/state.git.\n",
    )
    assert refs(remote).keys() == {"refs/heads/main"}


def test_credentials_are_masked_and_a_public_host_is_named(clone: Path) -> None:
    git(clone, "remote", "set-url", "origin", "https://user:s3cret@github.com/o/r.git")
    assert invoke("agent-init --no-probe", clone) == (
        0,
        "",
        shared(
            "https://***@github.com/o/r.git",
            readers="everybody who can read the repository; if it is public on github.com, "
            "everybody.",
        )
        + MADE,
    )


def test_where_is_pushed_to_is_what_is_shown(clone: Path, tmp_path: Path) -> None:
    git(clone, "config", "remote.origin.pushurl", "ssh://git@example.org/mine.git")
    assert invoke("agent-init --no-probe", clone).err.startswith(
        "Clones share state through origin (ssh://git@example.org/mine.git)."
    )


def test_the_configured_remote_is_the_one_that_is_asked(clone: Path, remote: Path) -> None:
    git(clone, "remote", "rename", "origin", "team")
    git(clone, "remote", "add", "origin", "/nonexistent")
    mine({"agents": {"remote": "team"}})
    done = invoke("agent-init", clone)
    assert done.err.startswith(f"Clones share state through team ({remote}).")
    assert done.err.endswith("✓ team accepts our refs under refs/ghp/.\n")


def test_a_configured_remote_that_is_not_there_stops_it_before_anything_is_made(
    clone: Path,
) -> None:
    mine({"agents": {"remote": "team"}})
    assert invoke("agent-init", clone) == (
        1,
        "",
        "Error: The configured remote 'team' does not exist in this repository.\nHint: "
        "Remotes: origin. Fix `agents.remote` in the configuration, or add the remote with "
        "`git remote add`.\n",
    )
    assert not (clone / ".git/ghp/state.git").exists()


def test_a_linked_worktree_names_its_own_agent(
    clone: Path, worktree: Callable[[Path, str], Path]
) -> None:
    linked = worktree(clone, "147")
    invoke("agent-init --agent worker-1", clone)
    assert invoke("agent-init --agent worker-2", linked).err.endswith(
        "✓ Named this worktree's agent worker-2.\n"
    )
    assert invoke("agent-whoami", clone).out == "worker-1\n"
    assert invoke("agent-whoami", linked).out == "worker-2\n"


def test_a_name_in_the_environment_wins_and_that_is_said(clone: Path) -> None:
    done = invoke("agent-init --no-probe --agent worker-2", clone, AS)
    assert done.err.endswith(
        "✓ Named this worktree's agent worker-2.\n"
        "Warning: GHP_AGENT=worker-1 is set and overrides the worktree's name.\n"
        "Hint: Unset it, or set it to the same name.\n"
    )


def test_a_name_that_is_none_is_refused_before_anything_is_made(clone: Path) -> None:
    done = invoke(["agent-init", "--agent", "../../x"], clone)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: '../../x' is not a valid agent name.\n")
    assert ours(clone) == []


def test_a_configuration_that_is_there_is_left_as_it_is(clone: Path) -> None:
    commit(clone, {".ghp/config.json": '{"mainBranch": "dev"}'})
    invoke("agent-init --config", clone)
    assert (clone / ".ghp/config.json").read_text() == '{"mainBranch": "dev"}'
    assert git(clone, "status", "--porcelain") == ""


def test_a_view_that_is_tracked_is_the_users_and_stays(clone: Path) -> None:
    commit(clone, {".ghp/agent-status.json": "theirs"})
    assert invoke("agent-init", clone).err.splitlines()[-2:] == [
        "✓ Created the private repository .git/ghp/state.git.",
        "✓ origin accepts our refs under refs/ghp/.",
    ]
    assert (clone / ".ghp/agent-status.json").read_text() == "theirs"
    assert ours(clone) == [".git/ghp", ".ghp"]


@pytest.mark.slow
def test_a_bare_repository_has_no_view_and_is_set_up_all_the_same(
    remote: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(remote), "bare.git")
    bare = tmp_path / "bare.git"
    assert invoke("agent-init", bare).err.splitlines()[-3:] == [
        f"✓ Created the private repository {bare}/ghp/state.git.",
        "✓ origin accepts our refs under refs/ghp/.",
        "This repository has no worktree. Issues, claims, questions and leases by --name work. "
        "To lease and check files, create a worktree (`git worktree add`).",
    ]
    assert invoke("agent-lease --name staging-db", bare, AS).code == 0
    refused = invoke("agent-lease a", bare, AS)
    assert refused == (
        5,
        "",
        "Error: This repository has no worktree, so there are no files to lease.\nHint: Lease "
        "files in a worktree (`git worktree list` shows them), or lease a named resource: "
        "--name staging-db.\n",
    )
    assert invoke("agent-check a", bare, AS).code == 5
    git(bare, "worktree", "add", "--quiet", str(tmp_path / "linked"), "main")
    assert invoke("agent-lease a", tmp_path / "linked", AS).code == 0


@pytest.mark.slow
def test_what_is_pushed_has_paths_of_the_repository_and_none_of_this_machine(
    clone: Path, remote: Path
) -> None:
    invoke("agent-init --agent worker-1", clone)
    (clone / "src").mkdir()
    (clone / "src/parser.py").write_text("x\n")
    for words in (
        ["agent-issue", "new", "Parser"],
        ["agent-claim", "1"],
        ["agent-lease", str(clone / "src/parser.py"), "--strict"],
        ["agent-lease", "src/other.py"],
        ["agent-escalate", "Which?", "--context", str(clone / "src/parser.py")],
        ["agent-handoff", "--checkpoint", "--note", "Go on"],
        ["agent-sync"],
        ["agent-sync", "--publish"],
    ):
        done = invoke(words, clone)
        assert done.code == 0, done.err
    pushed = ""
    for ref in git(
        remote, "for-each-ref", "--format=%(refname)", "refs/ghp", "refs/heads/ghp-state"
    ).split():
        pushed += git(remote, "log", "--format=%an%ae%cn%ce%B", "-p", ref)
    assert "src/parser.py" in pushed
    assert str(clone.parent) not in pushed
    assert pulse.process_space() not in pushed


def test_outside_of_a_repository_it_is_not_set_up(tmp_path: Path) -> None:
    done = invoke("agent-init", tmp_path)
    assert (done.code, done.out) == (5, "")
    assert done.err.startswith(f"Error: {tmp_path} is not inside a git repository.\n")


def test_a_place_that_cannot_be_written_is_said_with_a_way_out(clone: Path) -> None:
    (clone / ".git/ghp").write_text("in the way")
    done = invoke("agent-init", clone)
    assert (done.code, done.out) == (1, "")
    assert f"Error: {clone}/.git/ghp is not writable: " in done.err
    assert "Hint: Give write access to it, or run this outside the sandbox. " in done.err


# ------------------------------------------------------------------------------ asking the remote


def test_a_host_that_takes_only_branches_is_found_out_and_remembered(
    clone: Path, remote: Path
) -> None:
    hosts.hook(remote, "update", hosts.ONLY_BRANCHES)
    assert invoke("agent-init", clone).err.endswith(
        "✓ origin accepts our refs under refs/heads/ghp/.\n"
    )
    assert refs(remote).keys() == {"refs/heads/main"}
    assert invoke("agent-init --dry-run --config", clone).err == shared(remote, "refs/heads/ghp/")


DELETES_NOTHING = """\
case "$3" in *[!0]*) exit 0;; esac
echo "nothing is deleted here" >&2
exit 1
"""
REFUSES = 'echo "nobody writes here" >&2\nexit 1\n'


@pytest.mark.slow
def test_a_remote_that_refuses_everything_is_told_and_does_not_stop_it(
    clone: Path, remote: Path
) -> None:
    hosts.hook(remote, "pre-receive", REFUSES)
    done = invoke("agent-init", clone)
    assert done == (
        0,
        "",
        f"{shared(remote)}{MADE}Warning: origin rejects our refs: [remote rejected] (pre-receive "
        "hook declined) nobody writes here\n"
        "Hint: Works in this clone only; other clones will not see it. Name a remote that accepts "
        'them, such as a fork, in .ghp/config.json: "agents": {"remote": "fork"}.\n',
    )
    (remote / "hooks/pre-receive").unlink()
    again = invoke("agent-init", clone)
    assert again.err == f"{shared(remote)}✓ origin accepts our refs under refs/ghp/.\n", (
        "asked again"
    )


def test_a_contributor_who_may_only_fetch_is_told(clone: Path, remote: Path) -> None:
    hosts.behind_ssh(clone, remote, push=hosts.DENIED)
    assert invoke("agent-init", clone).err.splitlines()[-2] == (
        "Warning: origin rejects our refs: ERROR: Permission to owner/repo.git denied to somebody."
    )


def test_a_remote_that_hangs_is_left_after_the_configured_time(clone: Path, remote: Path) -> None:
    hosts.behind_ssh(clone, remote, push="exec sleep 60", fetch="exec sleep 60")
    (clone / ".ghp").mkdir()
    (clone / ".ghp/config.json").write_text('{"agents": {"timeout": 0.4}}')
    done = invoke("agent-init", clone)
    assert done.code == 0
    warning, hint = done.err.splitlines()[-2:]
    assert warning.startswith("Warning: Could not ask origin whether it accepts our refs: `git ")
    assert warning.endswith(" did not finish within 0.4 s.")
    assert hint == (
        "Hint: Everything works in this clone. Try again with `ghp agent-doctor --probe`."
    )


@pytest.mark.slow
def test_a_host_that_keeps_what_it_took_is_told_and_the_next_probe_uses_the_same_ref(
    clone: Path, remote: Path
) -> None:
    hosts.hook(remote, "update", DELETES_NOTHING)
    done = invoke("agent-init", clone)
    (probe,) = refs(remote, "refs/ghp")
    assert done.err.splitlines()[-1] == (
        f"✓ origin accepts our refs under refs/ghp/ (it did not delete {probe}: [remote rejected] "
        f"(hook declined) nothing is deleted here hook declined to update {probe})."
    )
    first = refs(remote, "refs/ghp")
    invoke("agent-doctor --probe", clone)
    second = refs(remote, "refs/ghp")
    assert first.keys() == second.keys()
    assert first != second, "two probes never push the same commit"


@pytest.mark.slow
def test_a_fresh_clone_of_a_repository_that_is_set_up_needs_none_of_this(
    clones: Clones, remote: Path, tmp_path: Path
) -> None:
    (here,) = clones(1)
    invoke("agent-init --agent worker-1", here)
    invoke("agent-status --set testing", here)
    invoke("agent-sync", here)
    git(tmp_path, "clone", "--quiet", str(remote), "fresh")
    fresh = tmp_path / "fresh"
    assert invoke("agent-status --set planning", fresh, {"GHP_AGENT": "worker-2"}).code == 0
    assert invoke("agent-sync", fresh).code == 0
    assert [line.split()[0] for line in invoke("agent-status", fresh).out.splitlines()] == [
        "AGENT",
        "worker-1",
        "worker-2",
    ]
