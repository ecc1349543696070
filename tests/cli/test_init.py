"""`agent-init` as people call it: what it says, makes, asks and takes away, with real git."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import hosts
from tests.support.ghp import CHECKOUT, invoke
from tests.support.git import commit, git, refs

Clones = Callable[[int], list[Path]]
AS = {"GHP_AGENT": "worker-1"}

MADE = """\
✓ Made the private repository .git/ghp/state.git.
✓ Wrote the view .ghp/agent-status.json, kept out of git by .git/info/exclude.
"""


def shared(address: object, namespace: str = "refs/ghp/", readers: str = "") -> str:
    """What is said before anything is done."""
    width = max(len(namespace) + 7, 20)
    return f"""\
Clones meet at origin ({address}). What is pushed there:
  {namespace + "clone/*":{width}}  what is said here, on a ref of this clone's own
  {namespace + "lease/*":{width}}  who holds which right
  {"refs/heads/ghp-state":{width}}  a page for people, only with `ghp agent-sync --publish`
In it: agents' names, status and branches; questions, answers, issues; handoffs, with the \
uncommitted work that they save; people's names as git knows them. No paths, no hosts.
Who can read it: {readers or "whoever can read the repository."}
To keep everything in this clone: "agents": {{"push": false}} in .ghp/config.json.
"""


def ours(clone: Path) -> list[str]:
    """What of ours a clone holds."""
    places = [
        clone / ".git/ghp",
        clone / ".git/ghp-agent",
        *clone.glob(".git/worktrees/*/ghp-agent"),
    ]
    found = [str(path.relative_to(clone)) for path in [*places, clone / ".ghp"] if path.exists()]
    excluded = "/.ghp/agent-status.json" in (clone / ".git/info/exclude").read_text().splitlines()
    return [*found, *(["exclude"] if excluded else [])]


@pytest.fixture(autouse=True)
def info_exclude(clone: Path, repo: Path) -> None:
    """As `git init` makes it for people, which the templates of these tests leave out."""
    for folder in (clone, repo):
        (folder / ".git/info").mkdir(exist_ok=True)
        (folder / ".git/info/exclude").write_text("*.swp\n")


# ------------------------------------------------------------------------------ making


def test_it_says_what_is_shared_and_each_thing_that_it_makes(clone: Path, remote: Path) -> None:
    assert invoke("agent-init", clone) == (
        0,
        "",
        f"{shared(remote)}{MADE}✓ origin takes our refs under refs/ghp/.\n",
    )
    assert ours(clone) == [".git/ghp", ".ghp", "exclude"]
    assert git(clone, "status", "--porcelain") == ""
    assert refs(remote).keys() == {"refs/heads/main"}, "the probe was deleted"


def test_a_second_run_has_nothing_to_do(clone: Path) -> None:
    invoke("agent-init", clone)
    again = invoke("agent-init --agent worker-1 --config", clone)
    assert again.err.splitlines()[-2:] == [
        "✓ Wrote .ghp/config.json, which is yours to edit and to commit.",
        "✓ Named this worktree's agent worker-1.",
    ]
    nothing = (0, "", "✓ Nothing to do: this repository is set up.\n")
    assert invoke("agent-init --agent worker-1 --config", clone) == nothing
    assert invoke("agent-init", clone) == nothing


def test_a_dry_run_says_what_would_be_done_and_does_nothing(clone: Path, remote: Path) -> None:
    assert invoke("agent-init --dry-run --config --agent worker-1", clone) == (
        0,
        "Would make the private repository .git/ghp/state.git.\n"
        "Would write the view .ghp/agent-status.json, kept out of git by .git/info/exclude.\n"
        "Would write .ghp/config.json, which is yours to edit and to commit.\n"
        "Would name this worktree's agent worker-1.\n"
        "Would ask the remote to take a ref, and delete it again.\n",
        shared(remote),
    )
    assert ours(clone) == []
    assert refs(remote).keys() == {"refs/heads/main"}


def test_without_a_remote_nothing_leaves_the_clone(repo: Path) -> None:
    said = "Nothing leaves this clone: there is no remote.\n"
    assert invoke("agent-init", repo) == (0, "", said + MADE)


def test_the_configuration_can_keep_everything_at_home(clone: Path, remote: Path) -> None:
    commit(clone, {".ghp/config.json": '{"agents": {"push": false, "view": false}}'})
    assert invoke("agent-init", clone) == (
        0,
        "",
        "Nothing leaves this clone: the configuration says so.\n"
        "✓ Made the private repository .git/ghp/state.git.\n",
    )
    assert refs(remote).keys() == {"refs/heads/main"}


def test_credentials_are_masked_and_a_public_host_is_named(clone: Path) -> None:
    git(clone, "remote", "set-url", "origin", "https://user:s3cret@github.com/o/r.git")
    assert invoke("agent-init --no-probe", clone) == (
        0,
        "",
        shared(
            "https://***@github.com/o/r.git",
            readers="whoever can read the repository; if it is public on github.com, everybody.",
        )
        + MADE,
    )


def test_where_is_pushed_to_is_what_is_shown(clone: Path, tmp_path: Path) -> None:
    git(clone, "config", "remote.origin.pushurl", "ssh://git@example.org/mine.git")
    assert invoke("agent-init --no-probe", clone).err.startswith(
        "Clones meet at origin (ssh://git@example.org/mine.git)."
    )


def test_the_configured_remote_is_the_one_that_is_asked(clone: Path, remote: Path) -> None:
    git(clone, "remote", "rename", "origin", "team")
    git(clone, "remote", "add", "origin", "/nonexistent")
    (clone / ".ghp").mkdir()
    (clone / ".ghp/config.json").write_text('{"agents": {"remote": "team"}}')
    done = invoke("agent-init", clone)
    assert done.err.startswith(f"Clones meet at team ({remote}).")
    assert done.err.endswith("✓ team takes our refs under refs/ghp/.\n")


def test_a_configured_remote_that_is_not_there_stops_it_before_anything_is_made(
    clone: Path,
) -> None:
    (clone / ".ghp").mkdir()
    (clone / ".ghp/config.json").write_text('{"agents": {"remote": "team"}}')
    assert invoke("agent-init", clone) == (
        1,
        "",
        "Error: The configured coordination remote 'team' is not a remote of this repository.\n"
        "Hint: Known are: origin. Correct `agents.remote` in the configuration, or add it with "
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
        "Warning: GHP_AGENT=worker-1 is set and wins over the worktree's name.\n"
        "Hint: Unset it, or set it to the same name.\n"
    )


def test_a_name_that_is_none_is_refused_before_anything_is_made(clone: Path) -> None:
    done = invoke(["agent-init", "--agent", "../../x"], clone)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: '../../x' is not a name for an agent.\n")
    assert ours(clone) == []


def test_a_configuration_that_is_there_is_left_as_it_is(clone: Path) -> None:
    commit(clone, {".ghp/config.json": '{"mainBranch": "dev"}'})
    invoke("agent-init --config", clone)
    assert (clone / ".ghp/config.json").read_text() == '{"mainBranch": "dev"}'
    assert git(clone, "status", "--porcelain") == ""


def test_a_view_that_is_tracked_is_the_users_and_stays(clone: Path) -> None:
    commit(clone, {".ghp/agent-status.json": "theirs"})
    assert invoke("agent-init", clone).err.splitlines()[-2:] == [
        "✓ Made the private repository .git/ghp/state.git.",
        "✓ origin takes our refs under refs/ghp/.",
    ]
    assert (clone / ".ghp/agent-status.json").read_text() == "theirs"
    assert ours(clone) == [".git/ghp", ".ghp"]


def test_a_bare_repository_has_no_view_and_is_set_up_all_the_same(
    remote: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(remote), "bare.git")
    assert invoke("agent-init", tmp_path / "bare.git").err.splitlines()[-2:] == [
        f"✓ Made the private repository {tmp_path}/bare.git/ghp/state.git.",
        "✓ origin takes our refs under refs/ghp/.",
    ]


def test_outside_of_a_repository_it_is_not_set_up(tmp_path: Path) -> None:
    done = invoke("agent-init", tmp_path)
    assert (done.code, done.out) == (5, "")
    assert done.err.startswith(f"Error: {tmp_path} is not inside a git repository.\n")


def test_a_place_that_cannot_be_written_is_said_with_a_way_out(clone: Path) -> None:
    (clone / ".git/ghp").write_text("in the way")
    done = invoke("agent-init", clone)
    assert (done.code, done.out) == (1, "")
    assert f"Error: {clone}/.git/ghp cannot be written: " in done.err
    assert "Hint: Give write access to it, or run this outside of the sandbox; " in done.err


# ------------------------------------------------------------------------------ asking the remote


def test_a_host_that_takes_only_branches_is_found_out_and_remembered(
    clone: Path, remote: Path
) -> None:
    hosts.hook(remote, "update", hosts.ONLY_BRANCHES)
    assert invoke("agent-init", clone).err.endswith(
        "✓ origin takes our refs under refs/heads/ghp/.\n"
    )
    assert refs(remote).keys() == {"refs/heads/main"}
    assert invoke("agent-init --dry-run --config", clone).err == shared(remote, "refs/heads/ghp/")


DELETES_NOTHING = """\
case "$3" in *[!0]*) exit 0;; esac
echo "nothing is deleted here" >&2
exit 1
"""
REFUSES = 'echo "nobody writes here" >&2\nexit 1\n'


def test_a_remote_that_refuses_everything_is_told_and_does_not_stop_it(
    clone: Path, remote: Path
) -> None:
    hosts.hook(remote, "pre-receive", REFUSES)
    done = invoke("agent-init", clone)
    assert done == (
        0,
        "",
        f"{shared(remote)}{MADE}"
        "Warning: origin refuses our refs: [remote rejected] (pre-receive hook declined) nobody "
        "writes here\n"
        "Hint: Everything works here, and other clones see none of it. Name a remote that takes "
        'it, such as a fork: "agents": {"remote": "fork"} in .ghp/config.json.\n',
    )
    (remote / "hooks/pre-receive").unlink()
    again = invoke("agent-init", clone)
    assert again.err == f"{shared(remote)}✓ origin takes our refs under refs/ghp/.\n", "asked again"


def test_a_contributor_who_may_only_fetch_is_told(clone: Path, remote: Path) -> None:
    hosts.behind_ssh(clone, remote, push=hosts.DENIED)
    assert invoke("agent-init", clone).err.splitlines()[-2] == (
        "Warning: origin refuses our refs: ERROR: Permission to owner/repo.git denied to somebody."
    )


def test_a_remote_that_hangs_is_left_after_the_configured_time(clone: Path, remote: Path) -> None:
    hosts.behind_ssh(clone, remote, push="exec sleep 60", fetch="exec sleep 60")
    (clone / ".ghp").mkdir()
    (clone / ".ghp/config.json").write_text('{"agents": {"timeout": 0.4}}')
    done = invoke("agent-init", clone)
    assert done.code == 0
    warning, hint = done.err.splitlines()[-2:]
    assert warning.startswith("Warning: origin could not be asked whether it takes our refs: `git ")
    assert warning.endswith(" did not end within 0.4 s.")
    assert hint == "Hint: Everything works here; ask again with `ghp agent-doctor --probe`."


def test_a_host_that_keeps_what_it_took_is_told_and_the_next_probe_uses_the_same_ref(
    clone: Path, remote: Path
) -> None:
    hosts.hook(remote, "update", DELETES_NOTHING)
    done = invoke("agent-init", clone)
    (probe,) = refs(remote, "refs/ghp")
    assert done.err.splitlines()[-1] == (
        f"✓ origin takes our refs under refs/ghp/ (it did not delete {probe}: [remote rejected] "
        f"(hook declined) nothing is deleted here error: hook declined to update {probe})."
    )
    first = refs(remote, "refs/ghp")
    invoke("agent-doctor --probe", clone)
    second = refs(remote, "refs/ghp")
    assert first.keys() == second.keys()
    assert first != second, "two probes never push the same commit"


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


# ------------------------------------------------------------------------------ taking away

LISTED = """\
To be removed in {clone}:
  .git/ghp: presence, outbox, the private repository, caches
  .git/ghp-agent: the name of a worktree's agent
  the view .ghp/agent-status.json and its line in .git/info/exclude
"""
STAY = "Our refs on origin stay; --remote-refs removes them, too.\n"
GONE = """\
✓ Removed .git/ghp: presence, outbox, the private repository, caches.
✓ Removed .git/ghp-agent: the name of a worktree's agent.
✓ Removed the view .ghp/agent-status.json and its line in .git/info/exclude.
"""
LIVING = """\
Warning: Still at work here: worker-1. The next beat begins anew.
Hint: Stop them first.
"""
NOTHING = (0, "", "✓ Nothing to do: there is nothing of ours here.\n")


@pytest.fixture
def used(clone: Path) -> Path:
    """A clone that was set up and synced."""
    invoke("agent-init --agent worker-1", clone)
    invoke("agent-sync", clone)
    return clone


def test_all_that_is_ours_is_taken_away_and_a_second_run_has_nothing_to_do(
    used: Path, remote: Path
) -> None:
    before = refs(remote)
    assert invoke("agent-init --remove --yes", used) == (
        0,
        "",
        f"{LISTED.format(clone=used)}{LIVING}{STAY}{GONE}",
    )
    assert ours(used) == []
    assert (used / ".git/info/exclude").read_text() == "*.swp\n"
    assert git(used, "status", "--porcelain") == ""
    assert refs(remote) == before
    assert invoke("agent-init --remove --yes", used) == NOTHING
    assert ours(used) == []


def test_a_clone_that_was_never_set_up_has_nothing_to_take_away(clone: Path, home: Path) -> None:
    (clone / ".ghp").mkdir()
    (clone / ".ghp/config.json").write_text('{"agents": {"throttle": 1}}')
    assert invoke("agent-init --remove", clone) == NOTHING
    assert invoke("agent-init --remove --remote-refs", clone) == NOTHING
    assert ours(clone) == [".ghp"]


def test_every_worktrees_name_and_the_spare_folders_go_and_the_configuration_stays(
    used: Path, worktree: Callable[[Path, str], Path], home: Path, tmp_path: Path
) -> None:
    linked = worktree(used, "147")
    invoke("agent-init --agent worker-2", linked)
    commit(used, {".ghp/config.json": '{"agents": {}}'})
    (used / ".git/ghp").rename(used / ".git/ghp-kept")
    (used / ".git/ghp").write_text("a sandbox, as far as we can see")
    sandbox = {"GHP_STATE_DIR": str(tmp_path / "sandbox")}
    for env in ({}, sandbox):
        assert invoke("agent-heartbeat --as worker-3 --status testing", used, env).code == 0
    (used / ".git/ghp").unlink()
    (used / ".git/ghp-kept").rename(used / ".git/ghp")
    spares = [*home.glob(".local/state/ghp/*"), *(tmp_path / "sandbox").glob("ghp/*")]
    assert len(spares) == 2

    done = invoke("agent-init --remove --yes", linked, sandbox)
    assert done.code == 0
    assert done.err.endswith(
        "✓ Removed .git/ghp: presence, outbox, the private repository, caches.\n"
        "✓ Removed .git/ghp-agent: the name of a worktree's agent.\n"
        "✓ Removed .git/worktrees/clone-1-147/ghp-agent: the name of a worktree's agent.\n"
        f"✓ Removed {spares[1]}: presence and records from where .git cannot be written.\n"
        f"✓ Removed {spares[0]}: presence and records from where .git cannot be written.\n"
        "✓ Removed the view .ghp/agent-status.json and its line in .git/info/exclude.\n"
        ".ghp/config.json stays: it is yours (tracked by git).\n"
    )
    assert ours(used) == [".ghp"]
    assert [path.name for path in (used / ".ghp").iterdir()] == ["config.json"]
    assert list(home.glob(".local/state/*")) == list((tmp_path / "sandbox").iterdir()) == []


def test_a_dry_run_of_removing_only_lists(used: Path, remote: Path) -> None:
    invoke("agent-escalate Why?", used)
    before = refs(remote), ours(used)
    done = invoke("agent-init --remove --dry-run", used)
    assert done == (
        0,
        LISTED.format(clone=used).replace("To be", "Would be"),
        "Warning: Only this clone has 1 record in the private repository (1 escalate).\n"
        "Hint: Send it first: ghp agent-sync\n",
    )
    assert (refs(remote), ours(used)) == before


def test_without_a_person_and_without_yes_it_refuses(used: Path) -> None:
    assert invoke("agent-init --remove", used) == (
        3,
        "",
        f"{LISTED.format(clone=used)}{LIVING}"
        "Error: Nothing was removed: nobody is there to ask.\n"
        "Hint: Read the list above, then give --yes.\n",
    )
    assert ours(used) == [".git/ghp", ".git/ghp-agent", ".ghp", "exclude"]


def test_what_was_never_sent_is_not_lost_without_force(used: Path) -> None:
    invoke("agent-escalate Why?", used)
    invoke("agent-issue new 'Build it'", used)
    assert invoke("agent-init --remove --yes", used) == (
        3,
        "",
        f"{LISTED.format(clone=used)}"
        "Error: Only this clone has 2 records in the private repository (1 escalate, 1 issue-new); "
        "removing would lose it.\n"
        "Hint: Send it first with `ghp agent-sync`, or give --force to lose it.\n",
    )
    invoke("agent-sync", used)
    assert invoke("agent-init --remove --yes", used).code == 0
    assert ours(used) == []


def test_force_loses_what_was_never_sent(repo: Path) -> None:
    invoke("agent-escalate Why?", repo, AS)
    refused = invoke("agent-init --remove --yes", repo)
    assert refused.code == 3
    assert refused.err.endswith(
        "Hint: There is no remote to send it to: copy the folder .git/ghp first, or give --force "
        "to lose it.\n"
    )
    assert invoke("agent-init --remove --yes --force", repo).code == 0
    assert ours(repo) == []


def test_records_that_wait_in_the_outbox_are_not_lost_either(used: Path) -> None:
    (used / ".git/ghp").rename(used / ".git/ghp-kept")
    (used / ".git/ghp").write_text("a sandbox, as far as we can see")
    assert invoke("agent-escalate Why?", used).code == 0
    (used / ".git/ghp").unlink()
    (used / ".git/ghp-kept").rename(used / ".git/ghp")
    refused = invoke("agent-init --remove --yes", used)
    assert refused.code == 3
    assert "Only this clone has 1 record in the outbox; removing would lose it.\n" in refused.err


def test_the_refs_on_the_remote_go_when_that_is_asked_for_and_the_users_branches_stay(
    clones: Clones, remote: Path
) -> None:
    here, there = clones(2)
    for clone, name in ((here, "worker-1"), (there, "worker-2")):
        invoke(f"agent-init --agent {name}", clone)
        invoke("agent-issue new 'Build it'", clone)
        invoke("agent-sync --publish", clone)
    git(
        here,
        "push",
        "--quiet",
        "origin",
        "main:refs/heads/ghp/147-mine",
        "main:refs/heads/ghp-mine",
    )
    mine, other = sorted(
        (ref.rpartition("/")[2] for ref in refs(remote, "refs/ghp/clone")),
        key=lambda clone: clone != (here / ".git/ghp/state.git/ghp-clone").read_text().strip(),
    )
    listed = "".join(
        f"  {line}\n"
        for line in sorted(
            (
                f"refs/ghp/clone/{mine}  this clone, last wrote 0 s ago",
                f"refs/ghp/clone/{other}  another clone, last wrote 0 s ago",
                f"{'refs/ghp/lease/numbers':{27}}  a right",
                f"{'refs/heads/ghp-state':{27}}  the published page",
            )
        )
    )
    done = invoke("agent-init --remove --remote-refs --yes", here)
    times = ("1 s ago", "2 s ago", "3 s ago", "4 s ago", "5 s ago")
    said = done.err
    for time in times:
        said = said.replace(time, "0 s ago")
    assert (done.code, done.out) == (0, "")
    assert said == (
        f"{LISTED.format(clone=here)}"
        f"On origin ({remote}), for everybody who works with it:\n{listed}{LIVING}"
        "✓ Removed 4 refs from origin.\n"
        f"Clones that are still used push theirs again with their next sync.\n{GONE}"
    )
    assert refs(remote).keys() == {
        "refs/heads/ghp/147-mine",
        "refs/heads/ghp-mine",
        "refs/heads/main",
    }
    assert invoke("agent-sync", there).code == 0
    assert refs(remote, "refs/ghp").keys() == {f"refs/ghp/clone/{other}"}


def test_a_branch_named_like_the_published_one_that_is_not_ours_stays(
    used: Path, remote: Path
) -> None:
    git(used, "push", "--quiet", "origin", "main:refs/heads/ghp-state")
    assert "the published page" not in invoke("agent-init --remove --remote-refs --yes", used).err
    assert refs(remote).keys() == {"refs/heads/ghp-state", "refs/heads/main"}


def test_our_refs_go_from_a_host_that_takes_only_branches_too(clone: Path, remote: Path) -> None:
    hosts.hook(remote, "update", hosts.ONLY_BRANCHES)
    invoke("agent-init --agent worker-1", clone)
    invoke("agent-sync", clone)
    assert len(refs(remote, "refs/heads/ghp/clone")) == 1
    git(clone, "push", "--quiet", "origin", "main:refs/heads/ghp/147-mine")
    done = invoke("agent-init --remove --remote-refs --yes", clone)
    assert "✓ Removed 1 ref from origin.\n" in done.err
    assert refs(remote).keys() == {"refs/heads/main", "refs/heads/ghp/147-mine"}


def test_a_remote_that_cannot_be_reached_leaves_everything_where_it_is(
    used: Path, remote: Path
) -> None:
    remote.rename(remote.with_name("moved.git"))
    done = invoke("agent-init --remove --remote-refs --yes", used)
    assert (done.code, done.out) == (4, "")
    assert done.err.startswith("Error: origin cannot be reached: fatal: ")
    assert ours(used) == [".git/ghp", ".git/ghp-agent", ".ghp", "exclude"]
    assert invoke("agent-init --remove --yes", used).code == 0, "this machine needs no remote"


def test_a_host_that_deletes_nothing_leaves_everything_where_it_is(
    used: Path, remote: Path
) -> None:
    hosts.hook(remote, "update", DELETES_NOTHING)
    (ref,) = refs(remote, "refs/ghp")
    done = invoke("agent-init --remove --remote-refs --yes", used)
    assert done.code == 1
    assert done.err.endswith(
        "Error: origin does not let us remove refs: [remote rejected] (hook declined) nothing is "
        f"deleted here error: hook declined to update {ref}.\n"
        "Hint: Ask somebody with the right to, or remove them on the host's own pages.\n"
    )
    assert ours(used) == [".git/ghp", ".git/ghp-agent", ".ghp", "exclude"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--yes", "--yes is only for --remove."),
        ("--force", "--force is only for --remove."),
        ("--remote-refs", "--remote-refs is only for --remove."),
        ("--remove --config", "--config is not for --remove."),
        ("--remove --agent worker-1", "--agent is not for --remove."),
    ],
)
def test_options_that_do_not_go_together_are_a_usage_error(
    clone: Path, words: str, message: str
) -> None:
    said = f"Error: {message}\nHint: See `ghp agent-init --help`.\n"
    assert invoke(f"agent-init {words}", clone) == (2, "", said)
    assert ours(clone) == []


# ------------------------------------------------------------------------------ on a terminal


def on_a_terminal(args: str, cwd: Path, answers: str) -> tuple[int, str]:
    """`ghp ARGS` with a terminal for all three streams, and `answers` typed ahead (so that the
    terminal echoes them first)."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "ghp_agents", *args.split()],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "TERM": "xterm", "NO_COLOR": "1"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    os.write(ours, answers.encode())
    said = b""
    while True:
        try:
            some = os.read(ours, 4096)
        except OSError:  # how Linux says that the last writer has gone
            break
        if not some:
            break
        said += some
    os.close(ours)
    return child.wait(timeout=60), said.decode().replace("\r\n", "\n")


def test_a_person_is_asked_and_no_is_no(used: Path) -> None:
    code, said = on_a_terminal("agent-init --remove", used, "n\n")
    assert code == 0
    assert "Remove this from this clone? [y/N]: Nothing was removed.\n" in said
    assert ours(used) == [".git/ghp", ".git/ghp-agent", ".ghp", "exclude"]


def test_a_person_is_asked_a_second_time_for_the_remote(used: Path, remote: Path) -> None:
    code, said = on_a_terminal("agent-init --remove", used, "y\nn\n")
    assert code == 0
    assert f"On origin ({remote}), for everybody who works with it:\n  refs/ghp/clone/" in said
    assert "Remove these from the remote, for everybody? [y/N]: ✓ Removed .git/ghp" in said
    assert len(refs(remote, "refs/ghp/clone")) == 1
    assert ours(used) == []


def test_a_person_who_says_yes_twice_has_the_remote_cleared_too(used: Path, remote: Path) -> None:
    code, said = on_a_terminal("agent-init --remove", used, "y\ny\n")
    assert code == 0
    assert "✓ Removed 1 ref from origin.\n" in said
    assert refs(remote).keys() == {"refs/heads/main"}
    assert ours(used) == []


def test_a_remote_that_is_away_is_no_reason_not_to_clear_this_machine(
    used: Path, remote: Path
) -> None:
    remote.rename(remote.with_name("moved.git"))
    code, said = on_a_terminal("agent-init --remove", used, "y\n")
    assert code == 0
    assert "Hint: Its refs stay; ask again with --remote-refs.\n" in said
    assert ours(used) == []
