"""Whatever another clone has on its ref: nothing is written outside, and no command ends by it."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.state import strangers
from tests.state.clones import say, store
from tests.support.ghp import invoke
from tests.support.git import commit, git, refs
from tests.support.hooks import call, log, payload, write

Clones = Callable[[int], list[Path]]
AGENT = {"GHP_AGENT": "worker-1"}
COMMANDS = (
    "agent-sync --publish", "agent-sweep", "agent-status", "agent-status --json", "agent-issues",
    "agent-leases", "agent-escalations", "agent-log", "agent-resume", "agent-notes list",
    "agent-recall parser", "agent-report", "agent-report --json", "agent-issue new More",
)  # fmt: skip
KINDS = (
    "answers", "commands", "escalations", "handoffs", "issues", "leases", "notes", "patches",
    "pulls", "returns", "reviews", "sweeps", "kinds-of-later",
)  # fmt: skip


NAMES = ("../../x", "con", "a\x1b[31mb", "a\u202eb", "A", "")


def pretend(remote: Path, commit: str, clone: str = "eve") -> None:
    git(remote, "update-ref", f"refs/ghp/clone/{clone}", commit)


def folder(remote: Path, *entries: tuple[str, bytes, str]) -> str:
    """The tree of a state whose kinds of records all have these entries."""
    inner = strangers.raw_tree(remote, *entries)
    kinds = [("40000", kind.encode(), inner) for kind in sorted(KINDS)]
    return strangers.raw_tree(remote, ("40000", b".ghp", strangers.raw_tree(remote, *kinds)))


def outside(remote: Path) -> dict[str, str]:
    """Trees that git takes and that no folder of a file system should get."""
    text, link = strangers.blob(remote, b"{}"), strangers.blob(remote, b"/etc/passwd")
    deep = strangers.raw_tree(remote, ("100644", b"pwn", text))
    up = strangers.raw_tree(remote, ("40000", b"..", deep))
    return {
        "up": folder(remote, ("40000", b"..", up)),
        "absolute": folder(remote, ("100644", b"/tmp/pwn", text)),
        "git": folder(remote, ("40000", b".GIT", deep)),
        "link": folder(remote, ("120000", b"link", link)),
        "module": folder(remote, ("160000", b"module", text)),
        "line ends": folder(remote, ("100644", b"a\nb", text)),
        "not UTF-8": folder(remote, ("100644", b"\xff\xfe", text)),
        "backslash": folder(remote, ("100644", b"..\\pwn", text)),
    }


def is_well(clone: Path, commands: tuple[str, ...] = COMMANDS) -> None:
    """All commands work, and so do the hooks."""
    for command in commands:
        code, out, err = invoke(command, clone, AGENT)
        assert code == 0, (command, out, err)
        assert "Unexpected" not in err
        assert "\x1b" not in out + err
    assert invoke("agent-doctor", clone, AGENT).code in (0, 1)
    for event in ("claude-SessionStart-startup", "claude-UserPromptSubmit", "claude-Stop"):
        assert call("claude", payload(event, clone), clone, AGENT).code == 0
    assert call("claude", write("a.py", clone), clone, AGENT).code == 0
    assert log(clone) == []


@pytest.fixture
def clone(clones: Clones) -> Path:
    (one,) = clones(1)
    commit(one, {"a.py": ""})
    invoke("agent-issue new 'Parse the input'", one)
    invoke("agent-claim 1", one, AGENT)
    assert invoke("agent-sync", one).code == 0
    return one


@pytest.mark.slow
def test_a_path_that_leads_out_ends_no_command_and_writes_nothing(
    clone: Path, remote: Path, tmp_path: Path
) -> None:
    for number, tree in enumerate(outside(remote).values()):
        pretend(remote, strangers.commit(remote, tree), f"eve-{number}")
    assert invoke("agent-sync", clone).code == 0
    before = {path for path in tmp_path.rglob("*") if clone not in path.parents}
    is_well(clone, ("agent-sync --publish", "agent-sweep", "agent-status"))
    after = {path for path in tmp_path.rglob("*") if clone not in path.parents}
    assert not [path for path in after - before if remote not in path.parents]
    assert not Path("/tmp/pwn").exists()
    assert "refs/heads/ghp-state" in refs(remote)


@pytest.mark.slow
def test_a_path_that_leads_out_is_a_finding_of_the_doctor(clone: Path, remote: Path) -> None:
    pretend(remote, strangers.commit(remote, outside(remote)["up"]))
    invoke("agent-sync", clone)
    found = invoke("agent-doctor", clone)
    assert "its name cannot be a path" in found.out
    assert "eve" in found.out


@pytest.mark.slow
def test_records_of_every_kind_that_hold_anything_end_no_command(clone: Path, remote: Path) -> None:
    texts = (b"", b"{", b"[]", b"null", b"[" * 200_000, b'{"clock": 1e999}', b"---\na: *b\n---\n")
    number = b'{"clock": ' + b"9" * 100_000 + b"}"
    entries = [
        ("100644", f"{index:012x}{ending}".encode(), strangers.blob(remote, text))
        for index, text in enumerate((*texts, number))
        for ending in (".json", ".md")
    ]
    pretend(remote, strangers.commit(remote, folder(remote, *entries)))
    assert invoke("agent-sync", clone).code == 0
    is_well(clone)


@pytest.mark.slow
def test_agents_names_that_are_no_names_make_no_file_and_end_no_command(
    clone: Path, remote: Path
) -> None:
    idle = {"status": "idle", "epoch": 1, "seq": 1}
    for number, names in enumerate((*([name] for name in NAMES), NAMES)):
        document = strangers.document(dict.fromkeys(names, idle))
        tree = strangers.tree(remote, {".ghp/agent-status.json": document})
        pretend(remote, strangers.commit(remote, tree), f"eve-{number}")
    assert invoke("agent-sync", clone).code == 0
    is_well(clone, ("agent-sync --publish", "agent-status", "agent-sweep"))
    agents = {path.name for path in (clone / ".git/ghp/agents").glob("*.json")}
    assert agents <= {"worker-1.json"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["garbage", "cut"])
def test_a_ref_whose_tree_cannot_be_read_stops_no_other_clone(
    clones: Clones, clone: Path, remote: Path, kind: str
) -> None:
    tree = strangers.tree(remote, strangers.GOOD)
    oid = strangers.commit(remote, tree)
    pretend(remote, oid)
    loose = remote / "objects" / tree[:2] / tree[2:]
    loose.chmod(0o644)
    content = loose.read_bytes()
    loose.write_bytes(b"garbage" if kind == "garbage" else content[: len(content) // 2])
    synced = invoke("agent-sync", clone)
    assert synced.code in (1, 4), "the sync says what is wrong"
    for command in ("agent-status", "agent-issues", "agent-issue new Another", "agent-log"):
        assert invoke(command, clone, AGENT).code == 0


@pytest.mark.slow
def test_a_tree_that_multiplies_itself_costs_a_moment(clone: Path, remote: Path) -> None:
    inner = strangers.raw_tree(remote, ("100644", b"x", strangers.blob(remote, b"{}")))
    for _ in range(10):
        names = (f"{number:02}".encode() for number in range(60))
        inner = strangers.raw_tree(remote, *(("40000", name, inner) for name in names))
    pretend(remote, strangers.commit(remote, folder(remote, ("40000", b"bomb", inner))))
    assert invoke("agent-sync", clone).code == 0
    is_well(clone, ("agent-status", "agent-issues", "agent-sweep"))


@pytest.mark.slow
def test_a_record_of_hundreds_of_megabytes_is_passed_over(clone: Path, remote: Path) -> None:
    made = subprocess.run(
        ["git", "-c", "core.compression=1", "hash-object", "-w", "--stdin"],
        cwd=remote, input=bytes(200_000_000), capture_output=True, check=True,
    )  # fmt: skip
    large = made.stdout.decode().strip()
    entries = (("100644", b"0000.json", large),)
    tree = strangers.raw_tree(
        remote, ("100644", b"agent-status.json", large),
        ("40000", b"notes", strangers.raw_tree(remote, *entries)),
    )  # fmt: skip
    whole = strangers.raw_tree(remote, ("40000", b".ghp", tree))
    pretend(remote, strangers.commit(remote, whole))
    assert invoke("agent-sync", clone).code == 0
    is_well(clone, ("agent-status", "agent-notes list"))


@pytest.mark.slow
def test_our_own_ref_that_was_pushed_over_loses_nothing(clone: Path, remote: Path) -> None:
    (name,) = refs(remote, "refs/ghp/clone")
    ours = refs(remote)[name]
    git(
        remote, "update-ref", name, strangers.commit(remote, strangers.tree(remote, strangers.GOOD))
    )
    say(clone, "after")
    assert store(clone).sync().trouble is None
    kept = [oid for ref, oid in refs(remote, "refs/ghp/clone").items() if ref != name]
    assert len(kept) == 1, "the clone goes on under an id of its own"
    assert git(remote, "log", "--format=%s", kept[0]).count("claim worker-1 #1") == 1
    assert ours not in refs(remote).values()
