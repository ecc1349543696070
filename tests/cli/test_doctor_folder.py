"""`agent-doctor` on the folder of the clone: the private repository, locks, permissions."""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.doctor import clone_id, doctor, finding, findings, in_use, lines, old
from tests.support.ghp import CHECKOUT, Result, invoke
from tests.support.git import git
from tests.support.hosts import executable

Clones = Callable[[int], list[Path]]


@pytest.fixture
def used(clone: Path) -> Path:
    """A clone that was set up, where an agent has beaten, and that was synced."""
    return in_use(clone)


# ------------------------------------------------------------------------ the private repository


@pytest.mark.slow
def test_what_killed_processes_left_is_removed_once_it_is_old(used: Path) -> None:
    state = used / ".git/ghp/state.git"
    left = [
        state / "packed-refs.lock",
        state / f"refs/ghp/clone/{clone_id(used)}.lock",
        state / "fast_import_crash_123",
        state / "objects/pack/tmp_pack_abc",
        used / ".git/ghp/agents/worker-1.json.99.tmp",
        used / ".git/ghp/cache/.sync.json.12345678.tmp",
        used / ".git/ghp/touched/00ff.99.tmp",
    ]
    for path in left:
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    (used / ".git/ghp/.state.0123.tmp/objects").mkdir(parents=True)
    (used / ".git/ghp.removed-0123").mkdir()
    assert "left-over" not in findings(used), "somebody may be at work on them"
    for path in (*left, used / ".git/ghp/.state.0123.tmp", used / ".git/ghp.removed-0123"):
        old(path)
    young = state / "HEAD.lock"
    young.write_text("")
    assert findings(used)["left-over"] == [
        finding(
            "warning",
            "Killed processes left 9 files behind: .git/ghp/.state.0123.tmp, "
            ".git/ghp/agents/worker-1.json.99.tmp, .git/ghp/cache/.sync.json.12345678.tmp, ….",
            "`ghp agent-doctor --fix` removes them.",
            fixable=True,
        )
    ]
    assert lines(doctor(used, "--fix").out, "✓ Fixed: Killed") != []
    assert not any(path.exists() for path in left)
    assert not (used / ".git/ghp/.state.0123.tmp").exists()
    assert not (used / ".git/ghp.removed-0123").exists()
    assert young.exists()
    assert findings(used) == {}


@pytest.mark.slow
def test_a_private_repository_that_lost_its_name_gets_it_back(used: Path) -> None:
    invoke("agent-escalate Why?", used)
    name = used / ".git/ghp/state.git/ghp-clone"
    content = name.read_text()
    name.unlink()
    assert findings(used)["state"] == [
        finding(
            "error",
            ".git/ghp/state.git is incomplete: it does not name its clone.",
            "`ghp agent-doctor --fix` restores or replaces it.",
            fixable=True,
        )
    ]
    assert doctor(used, "--fix").code == 0
    assert name.read_text() == content
    assert "Why?" in invoke("agent-escalations", used).out


@pytest.mark.slow
def test_a_private_repository_that_cannot_be_named_is_put_aside_and_kept(used: Path) -> None:
    state = used / ".git/ghp/state.git"
    shutil.rmtree(state)
    state.mkdir()
    (state / "precious").write_text("kept")
    done = doctor(used, "--fix")
    assert done.code == 0
    (aside,) = (used / ".git/ghp").glob("state.git.aside-*")
    assert (aside / "precious").read_text() == "kept"
    assert (
        f"• .git/ghp/{aside.name} was moved aside because it was incomplete.\n"
        f"  → When nothing is missing: rm -r {aside}\n"
    ) in done.out
    assert invoke("agent-sync", used).code == 0
    assert "worker-1" in invoke("agent-status", used).out


@pytest.mark.slow
def test_a_damaged_private_repository_is_told_with_the_way_back(used: Path) -> None:
    invoke("agent-escalate Why?", used)
    invoke("agent-sync", used)
    state = used / ".git/ghp/state.git"
    tree = git(state, "rev-parse", f"refs/ghp/clone/{clone_id(used)}^{{tree}}")
    (state / "objects" / tree[:2] / tree[2:]).unlink()
    (finding,) = findings(used)["state"]
    assert finding["level"] == "error"
    assert str(finding["text"]).startswith(".git/ghp/state.git is damaged: ")
    assert finding["remedy"] == (
        f"Keep it and start again: mv {state} {state}.damaged, then `ghp agent-sync`; it "
        "restores all that was sent."
    )
    state.rename(f"{state}.damaged")
    invoke("agent-sync", used)
    assert "Why?" in invoke("agent-escalations", used).out


@pytest.mark.slow
def test_what_a_writer_adds_during_the_check_is_no_damage(used: Path, tmp_path: Path) -> None:
    real, met = shutil.which("git"), tmp_path / "met"
    executable(
        tmp_path / "bin/git",
        f"""case "$*" in *" fsck "*) [ -e {met} ] || {{ touch {met}; exit 2; }} ;; esac\n"""
        f'exec {real} "$@"\n',
    )
    by_code = findings(used, env={"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"})
    assert met.exists()
    assert "state" not in by_code


@pytest.mark.slow
def test_a_private_repository_that_is_due_is_packed(used: Path) -> None:
    state = used / ".git/ghp/state.git"
    git(state, "repack", "-q", "-a", "-d")
    (pack,) = (state / "objects/pack").glob("*.pack")
    for number in range(21):
        for suffix in ("pack", "idx"):
            copy = f"pack-{number:040x}.{suffix}"
            shutil.copy(pack.with_suffix(f".{suffix}"), pack.with_name(copy))
    (finding,) = findings(used)["growth"]
    assert (finding["level"], finding["fixable"]) == ("info", True)
    assert doctor(used, "--fix").code == 0
    assert len(list((state / "objects/pack").glob("*.pack"))) == 1
    assert findings(used) == {}


# ------------------------------------------------------------------------ locks and permissions


HOLD = """\
import fcntl, sys
held = open(sys.argv[1], "w")
fcntl.flock(held, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
def test_a_lock_that_stays_held_names_its_holder(used: Path) -> None:
    lock = used / ".git/ghp/state.lock"
    command = [sys.executable, "-c", HOLD, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdout.readline()
        (finding,) = findings(used)["lock"]
        child.stdin.close()
    assert finding["level"] == "warning"
    assert str(finding["text"]).startswith("state.lock is held by ")
    assert str(finding["text"]).endswith(" for longer than a commit takes.")
    if _locks_are_listed(lock):
        assert f"process {child.pid} ({sys.executable} -c import fcntl" in str(finding["text"])
        assert finding["remedy"] == (f"If it hangs: kill {child.pid} (nothing is lost).")


def _locks_are_listed(lock: Path) -> bool:
    """Whether this machine's /proc/locks tells of a lock that this process holds."""
    with lock.open("r") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        listed = Path("/proc/locks").read_text() if Path("/proc/locks").exists() else ""
        return f":{lock.stat().st_ino} " in listed


@pytest.mark.slow
def test_a_sync_under_way_is_no_reason_to_worry(used: Path) -> None:
    with (used / ".git/ghp/sync.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        (finding,) = findings(used)["lock"]
    assert finding["level"] == "info"
    assert str(finding["text"]).endswith(": a sync is under way.")


def as_its_owner(args: str, cwd: Path, env: dict[str, str]) -> Result:
    """`ghp ARGS` by a process that cannot write where the owner may not, even if it is root's."""
    powers = "--bounding-set=-dac_override,-dac_read_search"
    bound = ["setpriv", powers] if os.getuid() == 0 else []
    done = subprocess.run(
        [*bound, sys.executable, "-m", "ghp_agents", *args.split()],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), **env},
        capture_output=True,
        encoding="utf-8",
    )
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.mark.slow
@pytest.mark.skipif(
    os.getuid() == 0 and shutil.which("setpriv") is None,
    reason="root may write everywhere, and there is no setpriv to take that away",
)
def test_a_folder_that_cannot_be_written_is_told_with_where_things_go(
    used: Path, home: Path, tmp_path: Path
) -> None:
    ours, closed = used / ".git/ghp", tmp_path / "closed"
    closed.mkdir()
    spare = {"GHP_STATE_DIR": str(closed)}
    try:
        for folder in (ours, closed):
            folder.chmod(0o555)
        kept = as_its_owner("agent-doctor", used, {})
        nowhere = as_its_owner("agent-doctor", used, spare)
    finally:
        for folder in (ours, closed):
            folder.chmod(0o755)
    assert kept.code == 0
    assert lines(kept.out, "⚠ .git/ghp is not writable; presence and records are kept in ") != []
    assert f"  → Run `ghp agent-sync` where it is writable, or: chmod -R u+rwX {ours}\n" in kept.out
    assert nowhere.code == 1
    assert lines(nowhere.out, f"✗ .git/ghp is not writable, and neither is {closed}/ghp/") != []
    assert (
        f"  → chmod -R u+rwX {ours} (or set GHP_STATE_DIR to a writable folder)\n"
    ) in nowhere.out
