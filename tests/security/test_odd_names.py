"""File names, payloads and agents' names that are odd stay data: no path, no option, no command."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.hooks import claude, handlers, scene
from tests.support import hooks
from tests.support.ghp import invoke, run_ghp
from tests.support.git import git
from tests.support.traces import listing

# Each would be read as something else by a shell, by git's pathspecs, or by a terminal.
FILE_NAMES = (
    "a\nb", "a\tb", 'quote"d', "it's", "back\\slash", "-rf", "--as", " leading", "trailing ",
    "*.py", "[ab]", "!not", ":(exclude)x", "$(touch RAN)", "`touch RAN`", "; touch RAN",
    "\u202egpj.exe", "e\u0301", "%s%n", "~", "\x1b[31mred",
)  # fmt: skip
BYTES = b"\xff\xfe.txt"  # no text in any encoding that we know


@pytest.fixture
def odd(repo: Path) -> Iterator[Path]:
    """A repository with files of odd names, all of them changed and not committed."""
    names = [os.fsencode(name) for name in FILE_NAMES] + [BYTES]
    for name in names:
        Path(repo, os.fsdecode(name)).write_text("one\n")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", "Odd names")
    for name in names:
        Path(repo, os.fsdecode(name)).write_text("two\n")
    hooks.set_up(repo, "w1")
    yield repo
    assert not (repo / "RAN").exists()
    assert hooks.log(repo) == []


def _answer(payload: dict[str, Any]) -> object:
    """What the hook says to the edit, in this process."""
    event = claude.parse(payload)
    assert event is not None
    found = scene.find(event, {**os.environ, "GHP_AGENT": "w1"})
    assert found is not None
    reply = handlers.handle([found])
    return claude.render(event, reply) if reply else None


def test_the_edit_of_each_oddly_named_file_is_decided(odd: Path) -> None:
    assert invoke("agent-heartbeat --as w2", odd).code == 0
    assert invoke(["agent-lease", "*.txt", "./$(touch RAN)", "--as", "w2"], odd).code == 0
    denied = []
    for name in (*FILE_NAMES, "plain.txt"):
        said = hooks.write(odd / name, odd)
        if '"deny"' in json.dumps(_answer(said)):
            denied.append(name)
    assert denied == ["$(touch RAN)", "plain.txt"]


@pytest.mark.slow
def test_oddly_named_files_are_handed_on_and_taken_up_again(odd: Path) -> None:
    names = sorted(path.name for path in odd.iterdir() if path.is_file())
    assert invoke("agent-handoff --checkpoint --note Half", odd).code == 0
    git(odd, "checkout", "--quiet", "--", ":/")
    assert git(odd, "status", "--porcelain", "--untracked-files=no") == ""
    assert run_ghp("agent-resume --apply", odd).code == 0
    assert sorted(path.name for path in odd.iterdir() if path.is_file()) == names
    for name in names:
        if name != "README.md":
            assert Path(odd, name).read_text() == "two\n", name


@pytest.mark.parametrize("name", ["-rf", "--as", "--help", ":(exclude)x"])
def test_a_file_that_is_named_like_an_option_is_checked_as_a_file(odd: Path, name: str) -> None:
    done = invoke(["agent-check", "--", f"./{name}"], odd)
    assert (done.code, "Usage" in done.out) == (0, False), done.err


WRITE = b'{"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"file_path": '
PAYLOADS = (
    b"",
    b"\x00\xff",
    b"not JSON",
    b"[]",
    b"7",
    b"null",
    b"[" * 100_000,
    b'{"hook_event_name": {"a": 1}, "cwd": ["/"], "session_id": 7}',
    WRITE + b'"a\\u0000b"}}',
    WRITE + b'"\\ud800"}}',
    b'{"hook_event_name": "SessionStart", "cwd": "/nowhere/at/all", "session_id": "../../x"}',
    b'{"hook_event_name": "Stop", "session_id": "' + b"x" * 70_000 + b'"}',
)


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_an_odd_payload_stops_no_agent(repo: Path, payload: bytes) -> None:
    hooks.set_up(repo, "w1")
    done = hooks.call("claude", payload, repo, {"GHP_AGENT": "w1"})
    assert (done.code, done.err) == (0, b"")
    if done.out:
        assert "deny" not in json.dumps(done.said)


@pytest.mark.slow
def test_a_session_that_is_named_like_a_path_makes_no_file_elsewhere(repo: Path) -> None:
    hooks.set_up(repo, None)
    before = listing(repo.parent)
    for session in ("../../../../x", "/etc/passwd"):
        payload = hooks.payload("claude-SessionStart-startup", repo, session_id=session)
        assert hooks.call("claude", payload, repo).code == 0
    made = sorted(set(listing(repo.parent)) - set(before))
    ours = f"{repo.name}/.git/ghp"
    assert made != []
    assert [name for name in made if not name.startswith(ours)] == []
    agents = [path.name for path in (repo / ".git/ghp/agents").glob("*.json")]
    assert all(name.startswith("claude-") for name in agents), agents


def test_a_name_that_is_a_path_or_an_option_is_no_agents_name(repo: Path) -> None:
    hooks.set_up(repo, None)
    before = listing(repo.parent)
    for name in ("../../x", "/tmp/x", "a/b", ".", "..", "-x", "con", "a\\b", "a\nb", "x" * 64, "Å"):
        says = f"Error: {name!r} is not a valid agent name.\n"
        beaten = invoke(["agent-heartbeat", f"--as={name}"], repo)
        assert (beaten.code, beaten.err.startswith(says)) == (0, True), beaten  # as hooks need it
        named = invoke(["agent-whoami", f"--set={name}"], repo)
        assert (named.code, named.err.startswith(says)) == (2, True), named
    for name in ("../../x", "a/b"):
        said = hooks.payload("claude-Stop", repo)
        assert hooks.call("claude", said, repo, {"GHP_AGENT": name}) == hooks.SILENT
    made = set(listing(repo.parent)) - set(before)
    assert made == {f"{repo.name}/.git/ghp/log.jsonl"}


# ----------------------------------------------------------- tracked links out of the worktree


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (".ghp", "agent-init --no-probe"),
        (".ghp", "agent-init --no-probe --config"),
        (".claude", "agent-init --no-probe --hooks claude"),
        (".codex", "agent-init --no-probe --hooks codex"),
        (".cursor", "agent-init --no-probe --hooks cursor"),
        (".gemini", "agent-init --no-probe --hooks gemini"),
        (".opencode", "agent-init --no-probe --hooks opencode"),
        (".github", "agent-init --no-probe --hooks copilot"),
        (".qwen", "agent-init --no-probe --hooks qwen"),
        (".pi", "agent-init --no-probe --hooks pi"),
        (".github", f"agent-init --github --action o/n@{'a' * 40}"),
    ],
)
def test_a_tracked_folder_that_is_a_link_out_of_the_worktree_is_refused(
    repo: Path, tmp_path: Path, link: str, words: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (repo / link).symlink_to(outside)
    git(repo, "add", link)
    git(repo, "commit", "--quiet", "--message", "Link")
    done = invoke(words, repo)
    assert done.code in (1, 3), done
    assert done.err.startswith(("Error: ", "Nothing leaves this clone")), done.err
    assert listing(outside) == {}
