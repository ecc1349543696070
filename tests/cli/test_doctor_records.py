"""`agent-doctor` on what was said: what cannot be read, and how far it got."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import hosts
from tests.support.doctor import AS, clone_id, doctor, finding, findings, in_use, lines, old
from tests.support.ghp import invoke
from tests.support.git import git, refs, run_git

Clones = Callable[[int], list[Path]]


@pytest.fixture
def used(clone: Path) -> Path:
    """A clone that was set up, where an agent has beaten, and that was synced."""
    return in_use(clone)


# ------------------------------------------------------------------------------ records


@pytest.mark.slow
def test_a_record_that_cannot_be_read_is_named_and_hides_no_other(clones: Clones) -> None:
    here, other = clones(2)
    invoke("agent-escalate Why?", other, AS)
    _say_nonsense(other, ".ghp/escalations/bad.md", b"---\nno: [end\n---\n\nbody")
    _say_nonsense(other, ".ghp/issues/ab/1.json", b'{"title": ')
    _say_nonsense(other, ".ghp/notes/\x1b[31m.md", b"")
    _say_nonsense(other, ".ghp/notes/\x9b31m.md", b"\xff")
    invoke("agent-sync", other)
    invoke("agent-sync", here)
    (here / ".git/ghp/agents").mkdir(exist_ok=True)
    (here / ".git/ghp/agents/worker-9.json").write_text('{"status": "te')
    kept = "It is kept but ignored. Its author can write it again."
    unreadable = findings(here)["unreadable"]
    assert all(one["remedy"] == kept and one["level"] == "warning" for one in unreadable)
    odd, *rest = [one["text"] for one in unreadable]
    assert str(odd).endswith(": .ghp/notes/ [31m.md: its name cannot be a path.")
    assert rest == [
        f"{here}/.git/ghp/agents/worker-9.json: not a presence record; the last valid one is used.",
        ".ghp/escalations/bad.md: the front matter is not YAML: while parsing a flow sequence.",
        ".ghp/issues/ab/1.json: Expecting value: line 1 column 11 (char 10).",
        ".ghp/notes/ 31m.md: not UTF-8 text (byte 0).",
    ]
    assert "Why?" in invoke("agent-escalations", here).out
    assert (here / ".git/ghp/agents/worker-9.json").read_text() == '{"status": "te'


@pytest.mark.slow
def test_a_presence_document_that_cannot_be_read_is_named_with_its_clone(clones: Clones) -> None:
    here, other = clones(2)
    _say_nonsense(other, ".ghp/agent-status.json", b"[]")
    invoke("agent-sync", other)
    invoke("agent-sync", here)
    assert [one["text"] for one in findings(here)["unreadable"]] == [
        f"clone {clone_id(other)}: .ghp/agent-status.json: cannot be read: not a presence "
        "document: it has no agents."
    ]


def _say_nonsense(clone: Path, path: str, content: bytes) -> None:
    """Put a file on the clone's ref as only a hand could."""
    if not (clone / ".git/ghp/state.git").exists():
        invoke("agent-init", clone)
    state = clone / ".git/ghp/state.git"
    ref = f"refs/ghp/clone/{clone_id(clone)}"
    head = run_git(state, "rev-parse", "--verify", "--quiet", ref).stdout.strip()
    quoted = path.replace("\x1b", "\\033")
    stream = (
        f"commit {ref}\ncommitter x <x@x> 0 +0000\ndata 1\nx\n".encode()
        + (f"from {head}\n".encode() if head else b"")
        + f'M 100644 inline "{quoted}"\ndata {len(content)}\n'.encode()
        + content
        + b"\n"
    )
    importing = ["git", "fast-import", "--quiet"]
    subprocess.run(importing, cwd=state, input=stream, check=True)


def test_two_sessions_under_one_name_are_two_agents(used: Path) -> None:
    for number in range(4):
        session = {"CLAUDE_CODE_SESSION_ID": f"session-{'ab'[number % 2]}"}
        invoke(f"agent-heartbeat --action {number}", used, session)
    assert "rivals" not in findings(used)
    assert len([*(used / ".git/ghp/agents").glob("worker-1*.json")]) == 2


# ------------------------------------------------------------------------------ how far it got


@pytest.mark.no_background
@pytest.mark.slow
def test_presence_that_nobody_folds_is_folded_and_sent(used: Path, remote: Path) -> None:
    invoke("agent-heartbeat --status testing", used)
    text = "The presence of 1 agent is not committed yet (the oldest is {} old)."
    remedy = "`ghp agent-doctor --fix` or `ghp agent-sync` commits it."
    assert findings(used) == {
        "presence": [finding("info", text.format("0 s"), remedy, fixable=True)]
    }
    old(used / ".git/ghp/agents/worker-1.json")
    late = text.format("60 min")
    assert findings(used) == {"presence": [finding("warning", late, remedy, fixable=True)]}
    before = refs(remote)
    done = doctor(used, "--fix")
    assert done.code == 0
    mended = lines(done.out, "✓ Fixed: ")
    assert mended[0] == f"✓ Fixed: {late}"
    assert mended[1].startswith("✓ Fixed: 1 change not sent to origin yet (last sent ")
    assert done.err == "✓ No problems found.\n"
    assert refs(remote) != before
    assert lines(doctor(used, "--fix").out, "✓ Fixed: ") == []


@pytest.mark.slow
def test_records_that_wait_in_the_outbox_are_folded(used: Path, home: Path) -> None:
    (used / ".git/ghp").rename(used / ".git/ghp-kept")
    (used / ".git/ghp").write_text("a sandbox, as far as we can see")
    assert invoke("agent-escalate Why?", used).code == 0
    assert lines(doctor(used).out, "✗", "  → Move it") == [
        "✗ .git/ghp is in the way: it is not a folder.",
        f"  → Move it elsewhere: mv {used}/.git/ghp {used}/.git/ghp.moved",
    ]
    (used / ".git/ghp").unlink()
    (used / ".git/ghp-kept").rename(used / ".git/ghp")
    assert findings(used)["outbox"] == [
        finding(
            "warning",
            "1 record in the outbox could not be committed.",
            "`ghp agent-doctor --fix` commits what it can.",
            fixable=True,
        )
    ]
    document = json.loads(doctor(used, "--fix --json").out)
    assert [(one["code"], one["level"]) for one in document if one["fixed"]] == [
        ("outbox", "ok"),
        ("unsent", "ok"),
    ]
    assert "outbox" not in findings(used)
    assert "Why?" in invoke("agent-escalations", used).out


@pytest.mark.slow
def test_changes_that_were_not_sent_are_told_and_sent(used: Path, remote: Path) -> None:
    invoke("agent-lease --name db", used)
    (finding,) = findings(used)["unsent"]
    assert str(finding["text"]).startswith("1 change not sent to origin yet (last sent ")
    assert (finding["level"], finding["fixable"]) == ("info", True)
    assert doctor(used, "--fix").code == 0
    assert "unsent" not in findings(used)


@pytest.mark.slow
def test_what_the_remote_refused_is_an_error_until_it_is_sent(used: Path, remote: Path) -> None:
    hosts.hook(remote, "pre-receive", "echo nobody writes here >&2\nexit 1\n")
    invoke("agent-escalate Why?", used)
    assert invoke("agent-sync", used).code == 1
    (finding,) = findings(used)["sync"]
    assert finding["level"] == "error"
    assert str(finding["text"]).startswith(
        "The last sync with origin failed: [remote rejected] (pre-receive hook declined) nobody "
        "writes here (the last news is "
    )
    assert finding["remedy"] == (
        "A rule of the remote refuses this clone's ref. Ask somebody who can edit its rules or "
        "hooks to accept refs/ghp/*. Or name another remote, such as a fork: "
        '"agents": {"remote": "fork"}.'
    )
    assert findings(used, "--fix").keys() == {"sync", "unsent"}
    (remote / "hooks/pre-receive").unlink()
    assert findings(used, "--fix") == {}


@pytest.mark.slow
def test_a_refused_probe_is_an_error_until_something_was_sent(used: Path, remote: Path) -> None:
    hosts.hook(remote, "pre-receive", "exit 1\n")
    probe = findings(used, "--probe")["probe"]
    assert [(one["level"], one["text"]) for one in probe] == [
        (
            "error",
            "origin rejects our refs: [remote rejected] (pre-receive hook declined) (tested 0 s "
            "ago).",
        )
    ]
    assert findings(used).keys() == {"probe"}, "it is remembered"
    (remote / "hooks/pre-receive").unlink()
    invoke("agent-escalate Why?", used)
    invoke("agent-sync", used)
    assert findings(used) == {}


@pytest.mark.slow
def test_another_address_is_another_remote_to_probe(used: Path, remote: Path) -> None:
    hosts.hook(remote, "pre-receive", "exit 1\n")
    findings(used, "--probe")
    (other,) = [shutil.copytree(remote, remote.with_name("other.git"))]
    git(used, "remote", "set-url", "origin", str(other))
    assert "probe" not in findings(used)
