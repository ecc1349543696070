"""What another clone may have on its ref: by an older or newer program, by a hand, by malice."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.support.git import git

TRAILERS = "Event: note\nAgent: eve\nId: 1\nClock: 5\nClone: eve\n"
MESSAGE = f"note eve N-1\n\n{TRAILERS}"


def blob(remote: Path, content: bytes) -> str:
    """Put a content into a repository."""
    return _store(remote, "blob", content)


def tree(remote: Path, files: Mapping[str, bytes]) -> str:
    """A tree of `files`, whatever their names."""
    index = {"GIT_INDEX_FILE": str(remote / "strange-index")}
    lines = "".join(f"100644 {blob(remote, data)}\t{path}\0" for path, data in files.items())
    git(remote, "update-index", "-z", "--index-info", stdin=lines, env=index)
    oid = git(remote, "write-tree", env=index)
    (remote / "strange-index").unlink(missing_ok=True)
    return oid


def commit(
    remote: Path, tree: str, message: str | bytes = MESSAGE, when: str = "1750000000 +0000"
) -> str:
    """A commit with any message and any date."""
    text = message if isinstance(message, bytes) else message.encode()
    who = f"eve <eve@host.invalid> {when}"
    return _store(
        remote, "commit", f"tree {tree}\nauthor {who}\ncommitter {who}\n\n".encode() + text
    )


def _store(remote: Path, kind: str, content: bytes) -> str:
    done = subprocess.run(
        ["git", "hash-object", "-t", kind, "-w", "--stdin", "--literally"],
        cwd=remote, input=content, capture_output=True, check=True,
    )  # fmt: skip
    return done.stdout.decode().strip()


def raw_tree(remote: Path, *entries: tuple[str, bytes, str]) -> str:
    """A tree of (mode, name, oid), which git itself would refuse to make."""
    content = b"".join(
        mode.encode() + b" " + name + b"\0" + bytes.fromhex(oid) for mode, name, oid in entries
    )
    return _store(remote, "tree", content)


def document(agents: object) -> bytes:
    """A presence document."""
    return json.dumps({"schemaVersion": 1, "agents": agents}).encode()


GOOD: dict[str, bytes] = {
    ".ghp/agent-status.json": document({"eve": {"status": "idle", "epoch": 1, "seq": 1}}),
    ".ghp/notes/from-eve": b"from-eve",
}


def strange_trees() -> dict[str, dict[str, bytes]]:
    """Trees that hold something that cannot be read, beside what can."""
    deep = b"[" * 100_000
    return {
        "presence is torn": GOOD | {".ghp/agent-status.json": b'{"agents": {"eve": '},
        "presence is a list": GOOD | {".ghp/agent-status.json": b"[]"},
        "presence is not UTF-8": GOOD | {".ghp/agent-status.json": b'{"agents": {"\xff": {}}}'},
        "presence is nested too deep": GOOD | {".ghp/agent-status.json": deep},
        "presence is a folder": {
            ".ghp/agent-status.json/x": b"",
            ".ghp/notes/from-eve": b"from-eve",
        },
        "presence is empty": GOOD | {".ghp/agent-status.json": b""},
        "agents are none": GOOD
        | {".ghp/agent-status.json": document({"../../x": {}, "eve": 7, "x": None})},
        "an agent's fields are of other kinds": GOOD
        | {
            ".ghp/agent-status.json": document(
                {"eve": {"status": [], "epoch": "x", "seq": None, "issue": {}, "timestamp": 7}}
            )
        },
        "records cannot be read": GOOD
        | {
            ".ghp/escalations/bad.md": b"no front matter",
            ".ghp/escalations/worse.md": b"---\nid: [\n---\n",
            ".ghp/answers/E-1/bad.md": b"---\n\xff\n---\n",
            ".ghp/issues/1/bad.json": b"{",
            ".ghp/issues/2/deep.json": deep,
            ".ghp/issues/not-a-record": b"",
            ".ghp/handoffs/1/bad.md": b"---\n---\n",
            ".ghp/leases/bad.json": b"null",
        },
        "records of kinds that nobody knows yet": GOOD
        | {".ghp/dreams/1.bin": b"\0\xff", "x": b"y"},
        "names are strange": GOOD
        | {".ghp/notes/a\nb": b"1", ".ghp/notes/ü": b"2", ".ghp/notes/\x1b[31m": b"3"},
        "there is nothing": {},
    }


STRANGE_MESSAGES: dict[str, str | bytes] = {
    "empty": b"",
    "a person's": "Fix a bug\n\nFixes: #1\n",
    "no clock": "note eve N-1\n\nEvent: note\nAgent: eve\nClone: eve\n",
    "a clock of other digits": MESSAGE.replace("Clock: 5", "Clock: \u0665"),
    "a clock that is a power": MESSAGE.replace("Clock: 5", "Clock: 5\u00b2"),
    "a clock that is negative": MESSAGE.replace("Clock: 5", "Clock: -5"),
    "an endless clock": MESSAGE.replace("Clock: 5", "Clock: " + "9" * 5_000),
    "two clocks": MESSAGE.replace("Clock: 5", "Clock: 5\nClock: 6"),
    "control characters": "note eve \x1b[31m\x1f\x1e\n\n\x1f1\x1fx\x1e\n\n" + TRAILERS,
    "not UTF-8": b"note \xff\xfe N-1\n\n" + TRAILERS.encode(),
    "a zero in it": b"note eve\0 N-1\n\n" + TRAILERS.encode(),
    "an issue that is none": MESSAGE.replace("Id: 1", "Id: 1\nIssue: x"),
    "presence that is none": "presence eve\n\nEvent: presence\nMoved: x\nClock: 5\nClone: eve\n",
}
STRANGE_DATES = (
    "0 +0000",
    "99999999999 +0000",
    "9223372036854775807 +0000",
    "1750000000 +9999",
    "x",
)
