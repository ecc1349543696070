"""A configuration that cannot be read switches no guard off: its last values stay in force."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.settings.load import FILE
from ghp_agents.settings.settings import Settings
from ghp_agents.workspace import open_workspace
from tests.support import hooks
from tests.support.consent import configure, mine
from tests.support.ghp import invoke
from tests.support.git import commit, git
from tests.support.hooks import set_up

GUARDS = {"sameWorktree": "warn", "throttle": 7, "shareChanges": False}
FORBIDS = {"shared": ["*.lock"], "lockdown": True, "review": "required"}


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _text(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


BROKEN: dict[str, Callable[[Path], object]] = {
    "half of it": _text(b'{"agents": {'),
    "nothing of it": _text(b""),
    "a wrong type": _text(b'{"agents": {"shared": 3}}'),
    "no object": _text(b"[]"),
    "conflict markers": _text(b"<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> x\n"),
    "a byte order mark": _text(b"\xef\xbb\xbf{}"),
    "not UTF-8": _text(b'{"agents": {"trunk": "\xff"}}'),
    "100 MB": _text(b" " * 100_000_000),
    "a folder": _folder,
    "a pipe": _pipe,
    "a loop": _loop,
}


def settings(folder: Path) -> Settings:
    return open_workspace(folder, os.environ).settings


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("whose", ["the worktree's", "the person's"])
def test_the_last_values_of_a_file_stay_in_force(repo: Path, whose: str, how: str) -> None:
    path = repo / FILE
    if whose == "the person's":
        path = mine({})
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"agents": GUARDS}))
    before = settings(repo)
    assert (before.same_worktree, before.share_changes, before.unreadable) == ("warn", False, ())
    BROKEN[how](path)
    after = settings(repo)
    assert after._replace(unreadable=()) == before
    (reason,) = after.unreadable
    assert str(path) in reason
    if path.is_dir():
        path.rmdir()
    path.unlink(missing_ok=True)
    path.write_text('{"agents": {"throttle": 8}}')
    assert (settings(repo).throttle, settings(repo).unreadable) == (8.0, ())


UNREADABLE_TEXTS = ["{", '{"agents": {"shared": 3}}', "<<<<<<< x\n", "\ufeff{}", "[]"]


@pytest.mark.sample(1)
@pytest.mark.parametrize("text", UNREADABLE_TEXTS)
def test_what_a_person_agreed_to_on_main_stays_in_force(clone: Path, text: str) -> None:
    configure(clone, {"agents": {**FORBIDS, "checks": ["make"]}})
    before = settings(clone)
    assert (before.shared, before.lockdown, before.review, before.checks) == (
        ("*.lock",), True, "required", ("make",),
    )  # fmt: skip
    commit(clone, {FILE: text})
    git(clone, "push", "--quiet", "origin", "HEAD")
    (clone / FILE).unlink()
    after = settings(clone)
    assert after._replace(unreadable=()) == before
    (reason,) = after.unreadable
    assert reason.startswith("refs/remotes/origin/main:.ghp/config.json, line 1: ")


@pytest.mark.parametrize("how", BROKEN)
def test_a_file_that_was_never_read_means_the_defaults_and_sends_nothing(
    repo: Path, how: str
) -> None:
    path = repo / FILE
    path.parent.mkdir()
    path.write_text("{}")
    BROKEN[how](path)
    after = settings(repo)
    if how == "nothing of it":  # an empty file that was never another says nothing
        assert after == Settings()
    else:
        assert after._replace(unreadable=()) == Settings(push=False)


def _edits(repo: Path, path: str) -> bytes:
    return hooks.call("claude", hooks.write(repo / path, repo), repo, {"GHP_AGENT": "w2"}).out


@pytest.mark.slow
@pytest.mark.parametrize("how", ["half of it", "a folder", "not UTF-8"])
def test_a_leased_file_stays_refused_and_the_agent_is_told_once(repo: Path, how: str) -> None:
    (repo / ".ghp").mkdir()
    (repo / FILE).write_text('{"agents": {"throttle": 7}}')
    commit(repo, {"a.py": "", "b.py": ""})
    set_up(repo, None)
    invoke("agent-lease a.py --as w1", repo)
    assert b"w1" in _edits(repo, "a.py")
    BROKEN[how](repo / FILE)
    assert b"w1" in _edits(repo, "a.py")
    assert _edits(repo, "b.py") == b""
    event = hooks.payload("claude-UserPromptSubmit", repo)
    told = [hooks.call("claude", event, repo, {"GHP_AGENT": "w2"}).out for _ in range(2)]
    assert [b"cannot be read, so its last values stay in force" in text for text in told] == [
        True, False,
    ]  # fmt: skip
    status = invoke("agent-status", repo)
    assert (status.code, str(repo / FILE) in status.err) == (0, True)
    doctor = invoke("agent-doctor", repo)
    assert str(repo / FILE) in doctor.out + doctor.err
    shutil.rmtree(repo / ".ghp", ignore_errors=True)
