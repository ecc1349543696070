"""Push protection and rulesets, as GitHub has them: a bare repository that refuses some pushes.

Git's `proc-receive` hook decides each ref by itself and gives its own reason, so the words are
those of GitHub. The other refs of a push go through, unless the push is `--atomic`.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.support.git import git

PROGRAM = r'''
import fnmatch, json, re, subprocess, sys

RULES = json.loads(RULES_TEXT)
SECRETS = re.compile(rb"\b(qz_[A-Za-z0-9]{34}|qx_v1_[a-f0-9]{64}|ghp_[A-Za-z0-9]{36})\b")
REASON = "push declined due to repository rule violations"
DOCS = "https://docs.github.com/code-security/secret-scanning/"


def read():
    size = int(sys.stdin.buffer.read(4), 16)
    return sys.stdin.buffer.read(size - 4).rstrip(b"\n") if size else None


def write(text):
    line = text.encode()
    sys.stdout.buffer.write(b"%04x" % (len(line) + 4) + line)


def flush():
    sys.stdout.buffer.write(b"0000")
    sys.stdout.buffer.flush()


def git(*args, stdin=b""):
    return subprocess.run(["git", *args], input=stdin, capture_output=True).stdout


def objects(new):
    """What the push brings: ids, types and contents."""
    listed = git("rev-list", "--objects", new, "--not", "--all").split(b"\n")
    ids = [line.split(b" ")[0] for line in listed if line]
    told = git("cat-file", "--batch", stdin=b"\n".join([*ids, b""]))
    while told:
        head, _, told = told.partition(b"\n")
        oid, kind, size = head.split()
        yield oid.decode(), kind, told[: int(size)]
        told = told[int(size) + 1 :]


def covers(patterns, ref):
    return any(fnmatch.fnmatchcase(ref, each) for each in patterns)


def violations(old, new, ref):
    """What is wrong with the push of one ref."""
    if not new.strip("0"):
        return []
    found = []
    is_new = not old.strip("0")
    if is_new and covers(RULES["creation"], ref):
        found.append("- Cannot create ref due to creations being restricted.")
    brought = list(objects(new))
    if covers(RULES["signed"], ref):
        unsigned = [o for o, kind, text in brought
                    if kind == b"commit" and b"\ngpgsig" not in text.partition(b"\n\n")[0]]
        if unsigned:
            found += ["- Commits must have verified signatures.", "  Found %d violation%s:" % (
                len(unsigned), "s" * (len(unsigned) > 1)), "", *("  " + o for o in unsigned[:5])]
    if RULES["secrets"]:
        leaks = [o for o, kind, text in brought if kind == b"blob" and SECRETS.search(text)]
        if leaks:
            found += ["- GITHUB PUSH PROTECTION", "    Resolve the following violations before "
                      "pushing again", "", "    - Push cannot contain secrets", "",
                      "     (?) Learn how to resolve a blocked push", "     " + DOCS, ""]
            for oid in leaks:
                found += ["      —— Secret ————", "       locations:", "         - blob id: " + oid]
    return found


# Versions and abilities, then the refs.
first = read()
atomic = b"atomic" in first
while read() is not None:
    pass
write("version=1\0%s\n" % ("atomic" if atomic else ""))
flush()
asked = []
while (line := read()) is not None:
    asked.append(line.decode().split(" ", 2))
wrong = {ref: violations(old, new, ref) for old, new, ref in asked}
for ref, found in wrong.items():
    if found:
        lines = ["error: GH013: Repository rule violations found for %s." % ref, "", *found, ""]
        sys.stderr.write("\n".join(lines) + "\n")
sys.stderr.flush()
for ref, found in wrong.items():
    if found:
        write("ng %s %s\n" % (ref, REASON))
    elif atomic and any(wrong.values()):
        write("ng %s atomic transaction failed\n" % ref)
    else:
        write("ok %s\n" % ref)
        write("option fall-through\n")
flush()
'''
ALL_BRANCHES = ("refs/heads/*",)


class Rules(NamedTuple):
    """What the host refuses; the patterns name whole refs. A person's rules cover branches and
    tags only, and push protection covers everything."""

    secrets: bool = True  # push protection: kinds that nothing of ours knows, too
    signed: Sequence[str] = ()  # all commits must be signed
    creation: Sequence[str] = ()  # nobody may create these


def rule(remote: Path, rules: Rules | None = None) -> None:
    """Give a bare repository push protection and rulesets, in place of those that it had."""
    text = json.dumps((rules or Rules())._asdict())
    program = remote / "hooks/proc-receive"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!{sys.executable} -IS\nRULES_TEXT = {text!r}\n{PROGRAM}")
    program.chmod(0o755)
    git(remote, "config", "--replace-all", "receive.procReceiveRefs", "refs")


def unrule(remote: Path) -> None:
    """Allow everything again."""
    (remote / "hooks/proc-receive").unlink(missing_ok=True)
    git(remote, "config", "--unset-all", "receive.procReceiveRefs")
