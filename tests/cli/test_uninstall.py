"""`agent-init --remove` as people call it: what it lists, asks, takes away and leaves."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.runs.boxes import enclosure
from ghp_agents.settings import agreement
from ghp_agents.wiring import App
from tests.support import hosts
from tests.support.doctor import at_once
from tests.support.ghp import CHECKOUT, invoke, succeed
from tests.support.git import commit, git, refs
from tests.support.runs import RUN
from tests.support.setup import give_exclude, ours

Clones = Callable[[int], list[Path]]
AS = {"GHP_AGENT": "worker-1"}

DELETES_NOTHING = """\
case "$3" in *[!0]*) exit 0;; esac
echo "nothing is deleted here" >&2
exit 1
"""


@pytest.fixture(autouse=True)
def info_exclude(clone: Path, repo: Path) -> None:
    """A clone as people have it."""
    give_exclude(clone)
    give_exclude(repo)


LISTED = """\
To be removed in {clone}:
  .git/ghp: presence, outbox, the private repository, caches
  {kept}: this clone's cached settings, policy and check results
  .git/ghp-agent: the name of a worktree's agent
  the view .ghp/agent-status.json and its line in .git/info/exclude
"""
STAY = (
    "Stays:\n  our refs on origin: others work with them; use --remote-refs to remove them, too\n"
)
GONE = """\
✓ Removed .git/ghp: presence, outbox, the private repository, caches.
✓ Removed {kept}: this clone's cached settings, policy and check results.
✓ Removed .git/ghp-agent: the name of a worktree's agent.
✓ Removed the view .ghp/agent-status.json and its line in .git/info/exclude.
"""
LIVING = """\
Warning: Still working here: worker-1. Their next heartbeat would set it up again.
Hint: Stop them first.
"""
NOTHING = (0, "", "✓ Nothing to do: ghp-agents has nothing here.\n")


def kept(clone: Path) -> str:
    """The folder in the home with what a clone believes."""
    return App(clone, os.environ).ws.home_folder


@pytest.fixture
def used(clone: Path) -> Path:
    """A clone that was set up and synced."""
    invoke("agent-init --agent worker-1", clone)
    invoke("agent-sync", clone)
    return clone


@pytest.mark.slow
def test_all_that_is_ours_is_taken_away_and_a_second_run_has_nothing_to_do(
    used: Path, remote: Path
) -> None:
    before = refs(remote)
    assert invoke("agent-init --remove --yes", used) == (
        0,
        "",
        f"{LISTED.format(clone=used, kept=kept(used))}{STAY}{LIVING}{GONE.format(kept=kept(used))}",
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


@pytest.mark.slow
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
        f"✓ Removed {kept(used)}: this clone's cached settings, policy and check results.\n"
        "✓ Removed .git/ghp-agent: the name of a worktree's agent.\n"
        "✓ Removed .git/worktrees/clone-1-147/ghp-agent: the name of a worktree's agent.\n"
        f"✓ Removed {spares[1]}: presence and records kept there while .git was not writable.\n"
        f"✓ Removed {spares[0]}: presence and records kept there while .git was not writable.\n"
        "✓ Removed the view .ghp/agent-status.json and its line in .git/info/exclude.\n"
    )
    assert "Stays:\n  .ghp/config.json: git tracks it, for all clones\n" in done.err
    assert ours(used) == [".ghp"]
    assert [path.name for path in (used / ".ghp").iterdir()] == ["config.json"]
    assert list(home.glob(".local/state/*")) == list((tmp_path / "sandbox").iterdir()) == []


@pytest.mark.slow
def test_a_dry_run_of_removing_only_lists(used: Path, remote: Path) -> None:
    invoke("agent-lease --name db", used)
    before = refs(remote), ours(used)
    done = invoke("agent-init --remove --dry-run", used)
    assert done == (
        0,
        LISTED.format(clone=used, kept=kept(used)).replace("To be", "Would be") + STAY,
        "Warning: Only this clone has 1 record in the private repository (1 lease).\n"
        f"Hint: First send it with `ghp agent-sync`.\n{LIVING}",
    )
    assert (refs(remote), ours(used)) == before


def test_without_a_person_and_without_yes_it_refuses(used: Path) -> None:
    assert invoke("agent-init --remove", used) == (
        3,
        "",
        f"{LISTED.format(clone=used, kept=kept(used))}{STAY}{LIVING}"
        "Error: Nothing was removed: there is no terminal to ask for confirmation.\n"
        "Hint: Read the list above, then use --yes.\n",
    )
    assert ours(used) == [".git/ghp", ".git/ghp-agent", ".ghp", "exclude"]


@pytest.mark.slow
def test_what_was_never_sent_is_not_lost_without_force(used: Path) -> None:
    invoke("agent-lease --name db", used)
    invoke("agent-issue new 'Build it'", used)
    assert invoke("agent-init --remove --yes", used) == (
        3,
        "",
        f"{LISTED.format(clone=used, kept=kept(used))}{STAY}"
        "Error: Only this clone has 2 records in the private repository (1 issue-new, 1 lease); "
        "removing would delete it.\n"
        "Hint: First send it with `ghp agent-sync`, or use --force to delete it.\n",
    )
    invoke("agent-sync", used)
    assert invoke("agent-init --remove --yes", used).code == 0
    assert ours(used) == []


def test_force_loses_what_was_never_sent(repo: Path) -> None:
    invoke("agent-escalate Why?", repo, AS)
    refused = invoke("agent-init --remove --yes", repo)
    assert refused.code == 3
    assert refused.err.endswith(
        "Hint: There is no remote to send it to: first copy the folder .git/ghp, or use --force "
        "to delete it.\n"
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
    assert "Only this clone has 1 record in the outbox; removing would delete it.\n" in refused.err


@pytest.mark.slow
def test_the_refs_on_the_remote_go_when_that_is_asked_for_and_the_users_branches_stay(
    clones: Clones, remote: Path
) -> None:
    here, second = clones(2)
    for clone, name in ((here, "worker-1"), (second, "worker-2")):
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
                f"{'refs/ghp/lease/numbers':{27}}  a lock",
                f"{'refs/heads/ghp-state':{27}}  the published page",
            )
        )
    )
    done = invoke("agent-init --remove --remote-refs --yes", here)
    others = (
        "Warning: Still working in other clones: worker-2. They lose what they claimed.\n"
        "Hint: Ask their people first.\n"
    )
    assert (done.code, done.out) == (0, "")
    assert at_once(done.err) == (
        f"{LISTED.format(clone=here, kept=kept(here))}"
        f"On origin ({remote}), for everybody who works with it:\n"
        f"{listed}{others}{LIVING}✓ Removed 4 refs from origin.\n"
        "Clones that are still in use push theirs again at their next sync.\n"
        f"{GONE.format(kept=kept(here))}"
    )
    assert refs(remote).keys() == {
        "refs/heads/ghp/147-mine",
        "refs/heads/ghp-mine",
        "refs/heads/main",
    }
    assert invoke("agent-sync", second).code == 0
    assert refs(remote, "refs/ghp").keys() == {
        f"refs/ghp/clone/{other}",
        "refs/ghp/lease/numbers",  # what the remote lost goes back
    }


@pytest.mark.slow
def test_a_branch_named_like_the_published_one_that_is_not_ours_stays(
    used: Path, remote: Path
) -> None:
    git(used, "push", "--quiet", "origin", "main:refs/heads/ghp-state")
    assert "the published page" not in invoke("agent-init --remove --remote-refs --yes", used).err
    assert refs(remote).keys() == {"refs/heads/ghp-state", "refs/heads/main"}


@pytest.mark.slow
def test_our_refs_go_from_a_host_that_takes_only_branches_too(clone: Path, remote: Path) -> None:
    hosts.hook(remote, "update", hosts.ONLY_BRANCHES)
    invoke("agent-init --agent worker-1", clone)
    invoke("agent-sync", clone)
    assert len(refs(remote, "refs/heads/ghp/clone")) == 1
    git(clone, "push", "--quiet", "origin", "main:refs/heads/ghp/147-mine")
    done = invoke("agent-init --remove --remote-refs --yes", clone)
    assert "✓ Removed 1 ref from origin.\n" in done.err
    assert refs(remote).keys() == {"refs/heads/main", "refs/heads/ghp/147-mine"}


@pytest.mark.slow
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
        "Error: origin refuses to delete refs: [remote rejected] (hook declined) nothing is "
        f"deleted here hook declined to update {ref}.\n"
        "Hint: Ask somebody with permission, or delete them on the host's website.\n"
    )
    assert ours(used) == [".git/ghp", ".git/ghp-agent", ".ghp", "exclude"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--yes", "--yes needs --remove."),
        ("--force", "--force needs --remove."),
        ("--remote-refs", "--remote-refs needs --remove."),
        ("--remove --config", "--config cannot be used with --remove."),
        ("--remove --agent worker-1", "--agent cannot be used with --remove."),
    ],
)
def test_options_that_do_not_go_together_are_a_usage_error(
    clone: Path, words: str, message: str
) -> None:
    error = f"Error: {message}\nHint: See `ghp agent-init --help`.\n"
    assert invoke(f"agent-init {words}", clone) == (2, "", error)
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
    output = b""
    while True:
        try:
            some = os.read(ours, 4096)
        except OSError:  # how Linux says that the last writer has gone
            break
        if not some:
            break
        output += some
    os.close(ours)
    return child.wait(timeout=60), output.decode().replace("\r\n", "\n")


@pytest.mark.slow
def test_a_person_is_asked_and_no_is_no(used: Path) -> None:
    code, output = on_a_terminal("agent-init --remove", used, "n\n")
    assert code == 0
    assert "Remove this from this clone? [y/N]: Nothing was removed.\n" in output
    assert ours(used) == [".git/ghp", ".git/ghp-agent", ".ghp", "exclude"]


@pytest.mark.slow
def test_nothing_is_asked_about_the_remote_without_the_option(used: Path, remote: Path) -> None:
    code, output = on_a_terminal("agent-init --remove", used, "y\n")
    assert code == 0
    assert STAY in output
    assert "Remove this from this clone? [y/N]: ✓ Removed .git/ghp" in output
    assert len(refs(remote, "refs/ghp/clone")) == 1
    assert ours(used) == []


@pytest.mark.slow
def test_with_the_option_a_person_is_asked_once_for_both(used: Path, remote: Path) -> None:
    code, output = on_a_terminal("agent-init --remove --remote-refs", used, "n\n")
    question = "Remove this from this clone and from origin, for everybody? [y/N]: "
    assert code == 0
    assert f"On origin ({remote}), for everybody who works with it:\n  refs/ghp/clone/" in output
    assert f"{question}Nothing was removed.\n" in output
    assert len(refs(remote, "refs/ghp/clone")) == 1
    code, output = on_a_terminal("agent-init --remove --remote-refs", used, "y\n")
    assert code == 0
    assert f"{question}✓ Removed 1 ref from origin.\n" in output
    assert refs(remote).keys() == {"refs/heads/main"}
    assert ours(used) == []


@pytest.mark.slow
def test_a_remote_that_is_away_is_no_reason_not_to_clear_this_machine(
    used: Path, remote: Path
) -> None:
    remote.rename(remote.with_name("moved.git"))
    code, output = on_a_terminal("agent-init --remove", used, "y\n")
    assert code == 0
    assert STAY in output
    assert ours(used) == []


@pytest.mark.slow
def test_an_agent_that_has_stopped_is_not_warned_of(used: Path) -> None:
    invoke("agent-heartbeat --status stopped --as worker-1", used)
    invoke("agent-sync", used)
    done = invoke("agent-init --remove --yes", used)
    assert (done.code, "Still working" in done.err) == (0, False)


# ----------------------------------------------------------------------------------- the home


@pytest.mark.slow
def test_what_a_person_agreed_to_goes_and_that_of_other_clones_stays(
    clones: Callable[[int], list[Path]], home: Path
) -> None:
    one, other = clones(2)
    for clone in (one, other):
        commit(clone, {".ghp/config.json": '{"agents": {"checks": ["true"]}}'})
        assert invoke("agent-trust --yes", clone).code == 0
    kept = agreement.place({"HOME": str(home)}, other / ".git")
    assert invoke("agent-init --remove --yes", one).code == 0
    assert [*kept.parent.iterdir()] == [kept]
    assert invoke("agent-init --remove --yes", other).code == 0
    assert not kept.parent.exists()


@pytest.mark.slow
def test_the_homes_of_containers_go_and_hooks_for_all_repositories_stay(
    used: Path, home: Path
) -> None:
    homes = enclosure.home(App(used, os.environ).ws, RUN)
    assert homes.is_dir()
    assert invoke("agent-init --hooks claude --user", used).code == 0
    done = invoke("agent-init --remove --yes", used)
    assert not homes.parent.exists()
    assert (
        "  the hooks in ~/.claude/settings.json: they serve all repositories; "
        "`ghp agent-init --remove --hooks claude --user`\n"
    ) in done.err


@pytest.mark.slow
def test_what_agents_of_this_clone_still_hold_is_named_with_the_command_that_frees_it(
    used: Path,
) -> None:
    succeed(used, "agent-issue new Parse --as @me", "agent-claim 1 --as worker-1", "agent-sync")
    line = (
        "Stays:\n  claims on the remote (#1 of worker-1): for others to take them, first "
        "`ghp agent-release 1 --as @me`\n"
    )
    assert line in invoke("agent-init --remove --dry-run", used).out
    assert line not in invoke("agent-init --remove --remote-refs --dry-run", used).out
    succeed(used, "agent-release 1 --as @me")
    assert "claims on the remote" not in invoke("agent-init --remove --dry-run", used).out
