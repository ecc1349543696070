"""Bad input: clear errors, the right exit code, nothing overwritten, nothing lost.

And one bad record never hides the others.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import GhpError
from ghp_agents.core.files import stays_below
from ghp_agents.state.git import sync_status as standing
from ghp_agents.state.join import SyncStatus
from ghp_agents.state.record import LAST
from tests.state import strangers
from tests.state.clones import AT, RECORDS, private, said, say, store, workspace, write_presence
from tests.state.strangers import GOOD, MESSAGE, STRANGE_DATES, STRANGE_MESSAGES, strange_trees
from tests.state.worker import CHECKOUT
from tests.support.consent import mine
from tests.support.ghp import invoke
from tests.support.git import git, refs
from tests.support.hosts import behind_ssh, hook
from tests.support.hosts import workspace as impatient
from tests.support.mounts import MOUNTING
from tests.support.thorough import mostly_slow

Clones = Callable[[int], list[Path]]
COMMANDS = (
    "agent-status", "agent-status --json", "agent-status --at 2100-01-01", "agent-log",
    "agent-log --json", "agent-issues", "agent-issues --json", "agent-escalations",
    "agent-escalations --json", "agent-sync", "agent-doctor --json",
)  # fmt: skip


def pretend(remote: Path, commit: str, name: str = "eve") -> None:
    """Put something on the ref of a clone that is none of ours."""
    git(remote, "update-ref", f"refs/ghp/clone/{name}", commit)


def hear(clones: Clones) -> tuple[Path, Path]:
    """Two clones of ours that have synced with the stranger's remote, and know of each other."""
    one, other = clones(2)
    for folder, name in ((one, "one"), (other, "other")):
        say(folder, name)
        write_presence(folder, f"worker-{name}", {"status": "idle", "epoch": 1, "seq": 1}, 1.75e9)
    for folder in (one, other, one):
        assert store(folder).sync().trouble is None
    return one, other


def is_well(one: Path, other: Path) -> None:
    """Whatever the stranger said: our two clones go on, and every command works."""
    say(one, "later")
    for folder in (one, other):
        assert store(folder).sync().trouble is None
    notes = dict(store(one).snapshot().files(RECORDS))
    assert {f"{RECORDS}{name}" for name in ("one", "other", "later")} <= notes.keys()
    assert dict(store(other).snapshot().files(RECORDS)) == notes
    assert store(one).ledger() == store(other).ledger()
    assert {"worker-one", "worker-other"} <= store(other).snapshot().agents().keys()
    assert store(other).snapshot().clock < 10**18
    for command in COMMANDS:
        code, out, err = invoke(command, one, {"GHP_AGENT": "worker-one"})
        assert code in (0, 1) if command.startswith("agent-doctor") else code == 0, (command, err)
        assert "Unexpected" not in err
        assert "\x1b" not in out + err


# ------------------------------------------------------------------------------ another clone's ref


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_slow(strange_trees(), every=12))
def test_whatever_is_in_another_clones_tree_hides_nobody(
    clones: Clones, remote: Path, name: str
) -> None:
    files = strange_trees()[name]
    strange = strangers.commit(remote, strangers.tree(remote, files))
    pretend(remote, strange)
    one, other = hear(clones)
    files_read = dict(store(one).snapshot().files(".ghp/"))
    notes = {path: data for path, data in files.items() if path.startswith(".ghp/n")}
    readable = {path: data for path, data in notes.items() if stays_below(path)}
    assert readable.items() <= files_read.items()
    assert (notes.keys() - readable.keys()).isdisjoint(files_read)
    problems = [problem.place for problem in store(one).snapshot().problems()]
    broken = name.startswith("presence is")
    assert problems == (["clone eve: .ghp/agent-status.json"] if broken else [])
    is_well(one, other)
    assert refs(remote)["refs/ghp/clone/eve"] == strange, "what is theirs stays as it is"


@pytest.mark.slow
def test_a_tree_that_git_would_not_make_hides_nobody(clones: Clones, remote: Path) -> None:
    content = strangers.blob(remote, b"x")
    inner = strangers.raw_tree(
        remote,
        ("100644", b"..", content), ("120000", b"link", content), ("160000", b"module", content),
        ("100644", b"\xff\xfe", content), ("100644", b"a/b", content), ("100755", b"run", content),
    )  # fmt: skip
    notes = strangers.raw_tree(remote, ("40000", b"notes", inner))
    pretend(remote, strangers.commit(remote, strangers.raw_tree(remote, ("40000", b".ghp", notes))))
    one, other = hear(clones)
    assert store(one).snapshot().files(".ghp/notes/")[".ghp/notes/run"] == b"x"
    say(one, "later")
    assert store(one).sync().pushed
    assert store(other).sync().news == 1
    assert store(other).snapshot().files(".ghp/notes/")[".ghp/notes/later"] == b"later"


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_slow(STRANGE_MESSAGES, every=12))
def test_whatever_another_clones_message_says_the_ledger_is_there(
    clones: Clones, remote: Path, name: str
) -> None:
    strange = strangers.commit(remote, strangers.tree(remote, GOOD), STRANGE_MESSAGES[name])
    pretend(remote, strange)
    one, other = hear(clones)
    assert {entry.object for entry in store(one).ledger()} >= {"one", "other"}
    assert store(one).snapshot().agents()["eve"]["seq"] == 1
    say(one, "later")
    store(one).sync()
    store(other).sync()
    assert store(one).ledger() == store(other).ledger()
    assert invoke("agent-log", one)[0] == invoke("agent-status", other)[0] == 0
    assert "Unexpected" not in invoke("agent-doctor", one).err


@pytest.mark.slow
@pytest.mark.parametrize("where", ["message", "record"])
def test_wherever_another_clone_sets_its_clock_to_the_end_what_is_said_later_is_there(
    clones: Clones, remote: Path, where: str
) -> None:
    last = {"kind": "comment", "clock": LAST, "clone": "eve", "at": AT, "by": "eve", "body": "Hi"}
    path = ".ghp/issues/0123456789ab/0123456789ab.json"
    files = GOOD | ({path: json.dumps(last).encode()} if where == "record" else {})
    message = MESSAGE.replace("Clock: 5", f"Clock: {10**18 - 1}") if where == "message" else MESSAGE
    pretend(remote, strangers.commit(remote, strangers.tree(remote, files), message))
    one, other = hear(clones)
    for command in ("issue new First", "issue comment 1 Later", "lease src/", "sync"):
        assert invoke(f"agent-{command}", one, {"GHP_AGENT": "worker-one"}).code == 0
    store(other).sync()
    for folder in (one, other):
        assert "Later" in invoke("agent-issue show 1", folder).out
        leased = invoke("agent-leases", folder)
        assert "src/" in leased.out
        assert leased.err == ""
        assert store(folder).snapshot().clock < LAST


@pytest.mark.slow
@pytest.mark.parametrize("date", mostly_slow(STRANGE_DATES, every=3))
def test_whatever_another_clones_calendar_shows_the_state_is_there(
    clones: Clones, remote: Path, date: str
) -> None:
    pretend(remote, strangers.commit(remote, strangers.tree(remote, GOOD), when=date))
    one, other = hear(clones)
    assert "from-eve" in [path.rpartition("/")[2] for path in store(one).snapshot().files(".ghp/")]
    assert len(store(one).ledger()) == len(store(other).ledger())
    assert store(one).snapshot(4e9).agents().keys() >= {"worker-one", "worker-other"}
    for command in ("agent-log", "agent-status", "agent-sync", "agent-status --at 1h"):
        assert invoke(command, one)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", mostly_slow(["blob", "tree", "tag", "tag of a blob"], every=2))
def test_a_ref_that_is_no_commit_hides_nobody(clones: Clones, remote: Path, kind: str) -> None:
    content = strangers.blob(remote, b"x")
    head = git(remote, "rev-parse", "main")
    objects = {
        "blob": lambda: content,
        "tree": lambda: strangers.tree(remote, GOOD),
        "tag": lambda: git(remote, "mktag", stdin=_tag(head, "commit")),
        "tag of a blob": lambda: git(remote, "mktag", stdin=_tag(content, "blob")),
    }
    pretend(remote, objects[kind]())
    pretend(remote, head, "deep/er/eve")
    is_well(*hear(clones))


def _tag(oid: str, kind: str) -> str:
    who = "tagger eve <eve@host.invalid> 1750000000 +0000"
    return f"object {oid}\ntype {kind}\ntag x\n{who}\n\nx\n"


def test_a_field_and_a_record_from_a_newer_version_survive_in_its_own_clone(
    clones: Clones,
) -> None:
    """The newer program ran here yesterday, the older one runs today."""
    (folder,) = clones(1)
    say(folder, "one")
    store(folder).fold()
    state = private(folder)
    newer = {
        "schemaVersion": 2,
        "agents": {"worker-1": {"status": "idle", "epoch": 1, "seq": 1, "mood": {"now": "calm"}}},
        "teams": [{"name": "x"}],
    }
    stream = (
        f"commit {state.ref}\ncommitter x <x@x> 1750000000 +0000\ndata <<END\n"
        f"note x y\n\nEvent: note\nAgent: x\nClock: 9\nClone: {state.clone}\nEND\n"
        f"from {state.ref}^0\n"
        f"M 100644 inline .ghp/agent-status.json\ndata <<END\n{json.dumps(newer)}\nEND\n"
        "M 100644 inline .ghp/dreams/1\ndata 1\n\0\nM 100755 inline elsewhere/2\ndata 1\nx\n"
    )
    git(state.path, "fast-import", "--quiet", stdin=stream)
    write_presence(folder, "worker-2", {"status": "testing", "epoch": 1, "seq": 1}, 1.75e9)
    say(folder, "two")
    store(folder).fold()
    document = json.loads(git(state.path, "show", f"{state.ref}:.ghp/agent-status.json"))
    assert document == newer | {
        "agents": {**newer["agents"], "worker-2": {"status": "testing", "epoch": 1, "seq": 1}}  # type: ignore[dict-item]
    }
    (problem,) = store(folder).snapshot().problems()
    assert problem == (
        f"clone {state.clone}: .ghp/agent-status.json",
        "its schemaVersion is 2, and this program knows 1",
        "Only the fields that are known here are used. Update ghp-agents to the version that wrote "
        "it.",
    )
    names = git(state.path, "ls-tree", "-r", "--name-only", state.ref).splitlines()
    assert {".ghp/dreams/1", "elsewhere/2", ".ghp/notes/one", ".ghp/notes/two"} <= set(names)


def test_our_own_presence_document_broken_by_hand_is_kept_and_written_anew(repo: Path) -> None:
    write_presence(repo, "worker-1", {"status": "idle", "epoch": 1, "seq": 1}, 1.75e9)
    store(repo).fold()
    state = private(repo)
    stream = (
        f"commit {state.ref}\ncommitter x <x@x> 1750000000 +0000\ndata 1\nx\nfrom {state.ref}^0\n"
        "M 100644 inline .ghp/agent-status.json\ndata 5\n{oops\n"
    )
    git(state.path, "fast-import", "--quiet", stdin=stream)
    assert [problem.reason for problem in store(repo).snapshot().problems()] != []
    store(repo).fold()
    assert store(repo).snapshot().agents().keys() == {"worker-1"}
    assert list(store(repo).snapshot().problems()) == []
    assert "{oops" in git(state.path, "log", "-p", state.ref), "the ledger keeps what it was"


# ------------------------------------------------------------------------------ our own files


TORN = {
    "empty": b"", "torn": b'{"status": "idle", "epo', "a list": b"[1]", "not UTF-8": b"\xff\xfe",
    "no position": b'{"status": "idle"}', "a position of text": b'{"epoch": "1", "seq": "2"}',
    "too much": b"{" + b" " * 2_000_000 + b"}", "nested too deep": b'{"a":' * 100_000,
}  # fmt: skip


@pytest.mark.parametrize("name", TORN)
def test_a_presence_file_that_cannot_be_read_is_said_and_kept(repo: Path, name: str) -> None:
    as_agent = {"GHP_AGENT": "worker-1"}
    assert invoke("agent-heartbeat --status testing", repo, as_agent)[0] == 0
    assert invoke("agent-heartbeat --status testing --as worker-2", repo, as_agent)[0] == 0
    store(repo).fold()
    path = repo / ".git/ghp/agents/worker-1.json"
    path.write_bytes(TORN[name])
    code, out, err = invoke("agent-status", repo)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["AGENT", "worker-1", "worker-2"]
    assert "Skipped 1 record: not readable" in err
    assert path.read_bytes() == TORN[name]
    assert invoke("agent-heartbeat --status done", repo, as_agent) == (0, "", "")
    assert path.with_name("worker-1.json.unreadable").read_bytes() == TORN[name]
    store(repo).fold()
    again = store(repo).snapshot().agents()["worker-1"]
    assert (again["status"], again["epoch"]) == ("done", 2)
    assert [problem.place for problem in store(repo).snapshot().problems()] == [
        str(path) + ".unreadable"
    ]


CACHES = (
    "sync.json",
    "folded.json",
    "remote.json",
    "probe.json",
    "sightings.json",
    "settings.json",
)
NONSENSE = (b"", b"[]", b"7", b"{", b"\xff", b'{"a": 1}', b'{"a": [1, 2, 3]}')


@pytest.mark.slow
@pytest.mark.parametrize(
    "content", mostly_slow(NONSENSE, every=12), ids=[repr(content[:8]) for content in NONSENSE]
)
def test_a_cache_that_cannot_be_read_only_costs_time(
    clones: Clones, remote: Path, content: bytes
) -> None:
    one, other = hear(clones)
    for name in CACHES:
        (workspace(one).cache_dir / name).write_bytes(content)
    is_well(one, other)


def test_a_note_of_the_last_exchange_with_values_of_other_kinds_is_no_note(clone: Path) -> None:
    say(clone, "one")
    store(clone).sync()
    note = workspace(clone).cache_dir / standing.NOTE
    note_fields = json.loads(note.read_bytes())
    note.write_text(
        json.dumps({key: {"x": []} for key in note_fields} | {"remote": note_fields["remote"]})
    )
    assert store(clone).sync_status() == SyncStatus(remote="origin", unsent=0)
    say(clone, "two")
    assert store(clone).sync(paced=True).pushed


def test_an_object_that_is_gone_is_an_error_and_what_is_said_then_waits(repo: Path) -> None:
    say(repo, "one")
    state = private(repo)
    gone = git(state.path, "rev-parse", f"{state.ref}^{{tree}}")
    (state.path / "objects" / gone[:2] / gone[2:]).rename(repo / "gone")
    say(repo, "two")
    assert store(repo).sync_status().waiting == 1
    with pytest.raises(GhpError) as caught:
        store(repo).fold()
    assert "agent-doctor" in caught.value.hint
    (repo / "gone").rename(state.path / "objects" / gone[:2] / gone[2:])
    store(repo).fold()
    assert said(repo) == ["one", "two"]


# ------------------------------------------------------------------------------ remotes


@pytest.mark.slow
def test_a_remote_that_hangs_is_given_up_in_its_time(clone: Path, remote: Path) -> None:
    say(clone, "one")
    impatient(clone, timeout=1.0)
    log = behind_ssh(clone, remote, fetch="sleep 600 & wait")
    code, out, err = invoke("agent-sync", clone)
    assert (code, out) == (4, "")
    assert err == (
        "Error: origin: `git fetch` did not finish within 1 s (1 change kept here).\n"
        "Hint: The next sync tries again. Run `ghp agent-doctor` to check the remote. Nothing is "
        "lost.\n"
    )
    assert invoke("agent-status", clone)[0] == 0
    for pid in log.read_text().split():
        assert not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text()
    git(clone, "remote", "set-url", "origin", str(remote))
    assert store(clone).sync().pushed, "nobody holds the lock any more"


def test_a_remote_that_is_not_there_is_told_and_everything_goes_on(
    clone: Path, remote: Path
) -> None:
    remote.rename(remote.with_suffix(".away"))
    say(clone, "one")
    code, out, err = invoke("agent-sync", clone)
    assert (code, out) == (4, "")
    assert "does not appear to be a git repository" in err
    assert "1 change kept here" in err
    code, _, err = invoke("agent-status", clone)
    assert code == 0
    assert "1 change not sent yet" in err
    remote.with_suffix(".away").rename(remote)
    assert invoke("agent-sync", clone)[0] == 0


@pytest.mark.slow
def test_a_remote_that_refuses_says_why_and_is_no_unknown(clone: Path, remote: Path) -> None:
    hook(remote, "pre-receive", "echo 'no state in this repository, says the policy' >&2\nexit 1\n")
    say(clone, "one")
    code, out, err = invoke("agent-sync", clone)
    assert (code, out) == (1, "")
    assert "no state in this repository, says the policy" in err
    assert "The remote refuses this" in err
    assert said(clone) == ["one"]


def test_without_a_remote_a_sync_is_a_fold(repo: Path) -> None:
    say(repo, "one")
    code, out, err = invoke("agent-sync", repo)
    assert (code, out) == (0, "")
    assert "Nothing leaves this clone: there is no remote." in err


def test_a_configured_remote_that_is_not_there_is_an_error(clone: Path) -> None:
    mine({"agents": {"remote": "fork"}})
    code, _, err = invoke("agent-sync", clone)
    assert code == 1
    assert "The configured remote 'fork' does not exist in this repository." in err
    assert "Remotes: origin." in err


# ------------------------------------------------------------------------------ a full disk


@pytest.mark.slow
def test_on_a_full_disk_nothing_is_lost_and_what_cannot_be_kept_is_said(
    clone: Path, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    script = 'mount -t tmpfs -o size=4m tmpfs "$0" && exec "$@"'
    inner = [sys.executable, "-m", "tests.state.full_disk", str(clone), str(disk)]
    try:
        done = subprocess.run(
            [*MOUNTING, "sh", "-c", script, str(disk), *inner],
            cwd=CHECKOUT, env=os.environ, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
    except FileNotFoundError:
        pytest.skip("there is no `unshare` here to make a small disk with")
    if "mount:" in done.stderr or "unshare:" in done.stderr:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "said one: 0",
        "beat: 0",
        "full",
        "status: 0",
        "beat: 0",
        "said two: 0",
        "waiting outside: 1",
        "said three without a spare: 1 Free disk",
        "waiting outside: 1",
        "free",
        "folded",
        "notes: one two",
        "fsck: 0",
        "left behind: 0",
    ]
