"""docs/STATE.md shows the state as it really is: its examples are compared with a real one."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.ghp import CHECKOUT, invoke
from tests.support.git import git

PAGE = CHECKOUT / "docs/STATE.md"
BLOCK = re.compile(r"^```(?:\w+) (\S+)\n(.*?)^```$", re.M | re.S)
VARIES = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\d{8}T\d{6}Z|[0-9a-f]{8,}")


@pytest.mark.slow
def test_every_example_is_what_a_repository_holds(
    clones: Callable[[int], list[Path]], remote: Path
) -> None:
    real = examples(clones(1)[0], remote)
    shown = {name: text for name, text in BLOCK.findall(PAGE.read_text())}
    assert sorted(shown) == sorted(real)
    for name, text in real.items():
        assert without_names(shown[name]) == without_names(text), f"{name} is now:\n{text}"


def test_the_comparison_would_see_a_difference() -> None:
    text = '{"id": "0123456789ab", "at": "2026-01-25T10:30:00Z", "same": "0123456789ab"}\n'
    other = '{"id": "ba9876543210", "at": "2027-01-25T10:30:01Z", "same": "ba9876543210"}\n'
    assert without_names(text) == without_names(other)
    assert without_names(text) != without_names(other.replace("same", "else"))
    assert without_names(text) != without_names(other.replace('same": "ba98', 'same": "0a98'))


@pytest.mark.parametrize("word", ["refs/ghp/clone/", "refs/ghp/lease/", "ghp-state", "outbox"])
def test_the_page_names_what_lies_where(word: str) -> None:
    assert word in PAGE.read_text()


def without_names(text: str) -> str:
    """The text with a number in place of each id and time, the same for the same."""
    known: dict[str, str] = {}

    def number(found: re.Match[str]) -> str:
        kind = "time" if "T" in found[0] else "id"
        name = found[0] if kind == "id" else "any"
        return known.setdefault(name, f"<{kind}>" if kind == "time" else f"<{kind} {len(known)}>")

    return VARIES.sub(number, text)


def examples(clone: Path, remote: Path) -> dict[str, str]:
    """What the examples show, from a clone in which these commands were typed."""
    agent = {"GHP_AGENT": "worker-1"}
    for words, env in (
        (["agent-issue", "new", "Parse the input", "--priority", "high"], {}),
        (["agent-claim", "1"], agent),
        (["agent-lease", "src/lexer/", "--reason", "new tokens"], agent),
        (["agent-heartbeat", "--status", "implementing", "--action", "Reads"], agent),
        (["agent-escalate", "Is a tab one column or eight?", "--option", "one"], agent),
        (["agent-answer", "E-", "eight"], {}),
        (["agent-remember", "A tab is eight columns wide.", "--kind", "decision"], agent),
        (["agent-sync"], agent),
    ):
        if words[0] == "agent-answer":
            words[1] = (
                invoke("agent-escalations --json", clone).out.split('"id": "')[1].split('"')[0]
            )
        result = invoke(words, clone, env)
        assert result.code == 0, result.err
    state = clone / ".git/ghp/state.git"
    ref = git(state, "for-each-ref", "--format=%(refname)", "refs/ghp/clone")
    listing = git(state, "ls-tree", "-r", "--name-only", ref)
    found = {"the-tree": listing + "\n", "the-refs": _remote_refs(remote)}
    for path in listing.splitlines():
        name = _name(path, git(state, "show", f"{ref}:{path}"))
        if name:
            found[name] = git(state, "show", f"{ref}:{path}") + "\n"
    commit = git(state, "log", "--format=%H", "--grep=^Event: escalate", ref)
    found["a-ledger-entry"] = git(state, "show", "-s", "--format=%B", commit) + "\n"
    found["a-claim"] = git(remote, "show", "refs/ghp/lease/issue/1:lease.json") + "\n"
    return found


def _remote_refs(remote: Path) -> str:
    lines = git(remote, "for-each-ref", "--format=%(refname)", "refs/ghp").splitlines()
    return "".join(f"{line}\n" for line in lines)


def _name(path: str, content: str) -> str | None:
    if path.startswith(".ghp/issues/"):
        kind = content.split('"kind": "')[1].split('"')[0]
        return {"create": "an-issue", "change": "a-change-of-it"}.get(kind)
    for prefix, name in (
        (".ghp/agent-status.json", "agent-status.json"),
        (".ghp/escalations/", "an-escalation"),
        (".ghp/answers/", "an-answer"),
        (".ghp/leases/", "a-lease"),
        (".ghp/notes/", "a-note"),
    ):
        if path.startswith(prefix):
            return name
    return None
