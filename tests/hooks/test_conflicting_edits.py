"""Edits of one file in two worktrees, through the whole hook: git decides, also of bad input.

Whatever cannot be decided is allowed, quickly, and is in the clone's log.
"""

import json
import os
import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.git import git
from tests.support.hooks import SILENT, Hooked, call, log, payload, set_up

ONE, TWO = {"GHP_AGENT": "worker-1"}, {"GHP_AGENT": "worker-2"}
NUMBERS = "".join(f"line {number}\n" for number in range(1, 31))
SECONDS = 20  # a hook that waits for something fails by this; its own limit is below a second
CPU_S = 3.0  # of the hook and git, on any machine


class Pair(NamedTuple):
    """The worktrees of two agents; both have the file `a.txt`."""

    mine: Path
    theirs: Path


@pytest.fixture
def pair(repo: Path, worktree: Callable[[Path, str], Path]) -> Pair:
    (repo / "a.txt").write_text(NUMBERS)
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "Begin")
    return worktrees(repo, worktree)


def worktrees(repo: Path, worktree: Callable[[Path, str], Path]) -> Pair:
    set_up(repo)
    return Pair(repo, set_up(worktree(repo, "two"), "worker-2"))


def hook(client: str, event: dict[str, Any], folder: Path, agent: dict[str, str]) -> Hooked:
    """The hook, which must end by itself, and soon."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    hooked = call(client, event | {"cwd": str(folder)}, folder, agent, timeout=SECONDS)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (hooked.code, hooked.err) == (0, b"")
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < CPU_S
    return hooked


def claude(tool: str, folder: Path, name: str, **arguments: Any) -> dict[str, Any]:
    given = {"file_path": str(folder / name), **arguments}
    return payload("claude-PreToolUse-Edit", folder, tool_name=tool, tool_input=given)


def edit(folder: Path, agent: dict[str, str], old: str, new: str, name: str = "a.txt") -> Hooked:
    event = claude("Edit", folder, name, old_string=old, new_string=new)
    return hook("claude", event | {"session_id": agent["GHP_AGENT"]}, folder, agent)


def write(folder: Path, agent: dict[str, str], content: str, name: str = "a.txt") -> Hooked:
    event = claude("Write", folder, name, content=content)
    return hook("claude", event | {"session_id": agent["GHP_AGENT"]}, folder, agent)


def theirs_becomes(pair: Pair, content: bytes, name: str = "a.txt") -> None:
    """The other agent has edited the file."""
    assert write(pair.theirs, TWO, "x", name) == SILENT
    (pair.theirs / name).write_bytes(content)


def changed(number: int, text: str = "theirs") -> bytes:
    return NUMBERS.replace(f"line {number}\n", f"{text}\n").encode()


def reason(hooked: Hooked) -> str:
    """Why Claude Code's edit was refused."""
    text = hooked.said["hookSpecificOutput"]["permissionDecisionReason"]
    assert isinstance(text, str)
    return text


def undecided(folder: Path) -> list[str]:
    """What the log says about edits that could not be decided."""
    return [str(entry.get("error", entry)) for entry in log(folder)]


# --------------------------------------------------------------------------- what git decides


def test_only_the_edit_that_git_cannot_merge_is_refused(pair: Pair) -> None:
    theirs_becomes(pair, changed(5))
    assert edit(pair.mine, ONE, "line 20\n", "mine\n") == SILENT
    refused = reason(edit(pair.mine, ONE, "line 5\n", "mine\n"))
    assert "worker-2" in refused
    assert "a.txt" in refused
    assert "theirs" in refused
    assert "\nNext: " in refused
    assert log(pair.mine) == []


@pytest.mark.slow
def test_a_new_file_of_both_is_refused_unless_both_write_the_same(pair: Pair) -> None:
    theirs_becomes(pair, b"theirs\n", "new.txt")
    assert "new.txt" in reason(write(pair.mine, ONE, "mine\n", "new.txt"))
    assert write(pair.mine, ONE, "theirs\n", "new.txt") == SILENT


@pytest.mark.slow
def test_an_edit_of_a_file_that_another_deleted_is_refused(pair: Pair) -> None:
    theirs_becomes(pair, changed(5))
    (pair.theirs / "a.txt").unlink()
    refused = reason(edit(pair.mine, ONE, "line 20\n", "mine\n"))
    assert "worker-2" in refused
    assert "deleted" in refused


@pytest.mark.slow
def test_committed_work_counts_as_well(pair: Pair) -> None:
    theirs_becomes(pair, changed(5))
    git(pair.theirs, "commit", "-qam", "Work")
    assert edit(pair.mine, ONE, "line 20\n", "mine\n") == SILENT
    assert "worker-2" in reason(edit(pair.mine, ONE, "line 5\n", "mine\n"))


@pytest.mark.slow
def test_the_main_branch_may_have_moved_between_the_two(pair: Pair) -> None:
    (pair.mine / "a.txt").write_text("one more\n" + NUMBERS)
    git(pair.mine, "commit", "-qam", "Move on")
    theirs_becomes(pair, changed(5))
    assert edit(pair.mine, ONE, "line 20\n", "mine\n") == SILENT
    assert "worker-2" in reason(edit(pair.mine, ONE, "line 5\n", "mine\n"))


def patched(number: int) -> str:
    return (
        "*** Begin Patch\n*** Update File: a.txt\n@@\n"
        f"-line {number}\n+mine\n*** End Patch"
    )  # fmt: skip


def tools(folder: Path, number: int) -> list[tuple[str, dict[str, Any]]]:
    """The edit of one line by every tool of every client."""
    path = str(folder / "a.txt")
    line, whole = f"line {number}\n", NUMBERS.replace(f"line {number}\n", "mine\n")
    old = {"old_string": line, "new_string": "mine\n"}
    camel = {"oldString": line, "newString": "mine\n"}

    def event(name: str, tool: str, **arguments: Any) -> dict[str, Any]:
        return {"hook_event_name": name, "tool_name": tool, "tool_input": arguments}

    claude_codes = [
        event("PreToolUse", "Edit", file_path=path, **old),
        event("PreToolUse", "MultiEdit", file_path=path, edits=[old]),
        event("PreToolUse", "Write", file_path=path, content=whole),
    ]
    geminis = [
        event("BeforeTool", "replace", file_path=path, **old),
        event("BeforeTool", "write_file", file_path=path, content=whole),
    ]
    cursors = [
        event("preToolUse", "Edit", file_path=path, **old),
        event("preToolUse", "Write", file_path=path, content=whole),
    ]
    open_codes = [
        event("tool.execute.before", "edit", filePath=path, **camel),
        event("tool.execute.before", "write", filePath=path, content=whole),
        event("tool.execute.before", "apply_patch", patchText=patched(number)),
    ]
    codexs = [event("PreToolUse", "apply_patch", command=patched(number))]
    return [
        *(("claude", x) for x in claude_codes),
        *(("codex", x) for x in codexs),
        *(("gemini", x) for x in geminis),
        *(("cursor", x) for x in cursors),
        *(("opencode", x) for x in open_codes),
    ]


@pytest.mark.slow
def test_every_tool_of_every_client_is_decided_by_merging(pair: Pair) -> None:
    theirs_becomes(pair, changed(5))
    for number in (20, 5):
        for client, event in tools(pair.mine, number):
            message = {"session_id": "s", "conversation_id": "s", **event}
            hooked = hook(client, message, pair.mine, ONE)
            assert (b"deny" in hooked.out) == (number == 5), (client, event, hooked)
    assert log(pair.mine) == []


@pytest.mark.slow
def test_a_notebook_is_merged_too(repo: Path, worktree: Callable[[Path, str], Path]) -> None:
    cells = [{"id": f"c{n}", "cell_type": "code", "source": [f"a = {n}\n"]} for n in range(9)]
    text = json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"
    (repo / "a.ipynb").write_text(text)
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "Begin")
    pair = worktrees(repo, worktree)
    theirs_becomes(pair, text.replace("a = 2", "a = 20").encode(), "a.ipynb")
    for cell, is_refused in (("c7", False), ("c2", True)):
        given = {"notebook_path": str(repo / "a.ipynb"), "cell_id": cell, "new_source": "b = 1\n"}
        event = payload("claude-PreToolUse-NotebookEdit", repo, tool_input=given)
        hooked = hook("claude", event, repo, ONE)
        assert (b"deny" in hooked.out) == is_refused, (cell, hooked)


# --------------------------------------------------------------------------------- line ends


@pytest.mark.slow
def test_a_missing_final_newline_is_a_line_of_its_own(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    (repo / "a.txt").write_text(NUMBERS.rstrip("\n"))
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "Begin")
    pair = worktrees(repo, worktree)
    theirs_becomes(pair, NUMBERS.encode() + b"more\n")
    assert edit(pair.mine, ONE, "line 5\n", "mine\n") == SILENT
    assert "worker-2" in reason(edit(pair.mine, ONE, "line 30", "line 30\nmine\n"))
    assert log(pair.mine) == []


@pytest.mark.slow
def test_other_line_ends_of_the_whole_file_conflict_with_every_edit(pair: Pair) -> None:
    theirs_becomes(pair, NUMBERS.replace("\n", "\r\n").encode())
    assert "worker-2" in reason(edit(pair.mine, ONE, "line 5\n", "mine\n"))
    assert log(pair.mine) == []


@pytest.mark.slow
@pytest.mark.parametrize("attributes", ["* text eol=crlf\n", "* text=auto\n", "autocrlf"])
def test_line_ends_that_git_converts_do_not_conflict(
    repo: Path, worktree: Callable[[Path, str], Path], attributes: str
) -> None:
    if attributes == "autocrlf":
        git(repo, "config", "core.autocrlf", "true")
    else:
        (repo / ".gitattributes").write_text(attributes)
    (repo / "a.txt").write_text(NUMBERS)
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "Begin")
    for path in repo.glob("a.txt"):
        path.write_bytes(NUMBERS.replace("\n", "\r\n").encode())
    pair = worktrees(repo, worktree)
    theirs_becomes(pair, changed(5).replace(b"\n", b"\r\n"))
    assert edit(pair.mine, ONE, "line 20\n", "mine\n") == SILENT
    assert "worker-2" in reason(edit(pair.mine, ONE, "line 5\n", "mine\n"))


# ------------------------------------------------------------------------ what git cannot merge


@pytest.mark.slow
def test_a_binary_file_of_both_conflicts_as_git_says(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    (repo / "a.bin").write_bytes(b"\0\1\2\n" * 30)
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "Begin")
    pair = worktrees(repo, worktree)
    theirs_becomes(pair, b"\0\1\3\n" * 30, "a.bin")
    assert "worker-2" in reason(write(pair.mine, ONE, "mine\n", "a.bin"))


@pytest.mark.slow
def test_a_file_of_fifty_megabytes_is_allowed_and_logged(pair: Pair) -> None:
    theirs_becomes(pair, b"a line of the file\n" * 2_700_000)
    assert edit(pair.mine, ONE, "line 5\n", "mine\n") == SILENT
    assert len(undecided(pair.mine)) == 1
    (pair.mine / "a.txt").write_bytes(b"a line of my file\n" * 2_900_000 + b"line 5\n")
    assert edit(pair.mine, ONE, "line 5\n", "mine\n") == SILENT
    assert len(undecided(pair.mine)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("driver", ["*.txt merge=ours\n", "*.txt filter=mine\n", "a.* merge=x\n"])
def test_a_merge_driver_or_filter_never_runs_and_the_file_has_one_editor(
    pair: Pair, driver: str
) -> None:
    ran = pair.mine.parent / "ran"
    for name in ("merge.ours.driver", "merge.x.driver", "filter.mine.clean", "filter.mine.smudge"):
        git(pair.mine, "config", name, f"touch {ran}; false")
    (pair.mine / ".gitattributes").write_text(driver)
    theirs_becomes(pair, changed(5))
    assert "worker-2" in reason(edit(pair.mine, ONE, "line 20\n", "mine\n"))
    assert not ran.exists()


@pytest.mark.slow
def test_a_text_conversion_never_runs(pair: Pair) -> None:
    ran = pair.mine.parent / "ran"
    git(pair.mine, "config", "diff.mine.textconv", f"touch {ran}; cat")
    git(pair.mine, "config", "diff.external", f"touch {ran}; true")
    git(pair.mine, "config", "core.fsmonitor", f"touch {ran}; true")
    (pair.mine / ".gitattributes").write_text("*.txt diff=mine\n")
    theirs_becomes(pair, changed(5))
    assert edit(pair.mine, ONE, "line 20\n", "mine\n") == SILENT
    assert "worker-2" in reason(edit(pair.mine, ONE, "line 5\n", "mine\n"))
    assert not ran.exists()


# ---------------------------------------------------------------------------- what is not there


@pytest.mark.slow
def test_a_file_that_vanished_in_a_sparse_checkout_is_not_deleted(pair: Pair) -> None:
    (pair.mine / "other").mkdir()
    theirs_becomes(pair, changed(5))
    git(pair.theirs, "checkout", "-q", "--", "a.txt")
    git(pair.theirs, "sparse-checkout", "set", "--no-cone", "/README.md")
    assert not (pair.theirs / "a.txt").exists()
    assert edit(pair.mine, ONE, "line 5\n", "mine\n") == SILENT


@pytest.mark.slow
def test_a_worktree_that_vanished_is_allowed_and_logged(pair: Pair) -> None:
    theirs_becomes(pair, changed(5))
    shutil.rmtree(pair.theirs)
    assert edit(pair.mine, ONE, "line 5\n", "mine\n") == SILENT


@pytest.mark.slow
def test_histories_without_a_merge_base_are_allowed_and_logged(pair: Pair) -> None:
    git(pair.theirs, "checkout", "-q", "--orphan", "alone")
    git(pair.theirs, "commit", "-qm", "Alone")
    theirs_becomes(pair, changed(5))
    assert edit(pair.mine, ONE, "line 5\n", "mine\n") == SILENT
    assert len(undecided(pair.mine)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("head", ["ref: refs/heads/nowhere\n", "no head\n", "0" * 40 + "\n", ""])
def test_a_broken_or_unborn_branch_is_allowed_and_logged(pair: Pair, head: str) -> None:
    theirs_becomes(pair, changed(5))
    (pair.mine / ".git/worktrees" / pair.theirs.name / "HEAD").write_text(head)
    assert edit(pair.mine, ONE, "line 5\n", "mine\n") == SILENT
    assert len(undecided(pair.mine)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["folder", "pipe", "link out", "link to itself", "unreadable"])
def test_what_is_no_file_there_is_allowed(pair: Pair, kind: str) -> None:
    theirs_becomes(pair, changed(5))
    path = pair.theirs / "a.txt"
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "unreadable":
        path.write_bytes(changed(5))
        path.chmod(0)
    else:
        path.symlink_to("/etc/passwd" if kind == "link out" else "a.txt")
    hooked = edit(pair.mine, ONE, "line 20\n", "mine\n")
    assert b"root:" not in hooked.out  # what a link leads to is not quoted
    if kind == "folder":
        assert len(undecided(pair.mine)) <= 1


@pytest.mark.slow
def test_a_link_in_my_worktree_is_the_file_that_it_leads_to(pair: Pair) -> None:
    (pair.mine / "b.txt").symlink_to("a.txt")
    theirs_becomes(pair, changed(5))
    assert edit(pair.mine, ONE, "line 20\n", "mine\n", "b.txt") == SILENT
    assert "a.txt" in reason(edit(pair.mine, ONE, "line 5\n", "mine\n", "b.txt"))


@pytest.mark.slow
def test_a_file_of_a_submodule_is_not_a_file_of_this_clone(
    repo: Path, worktree: Callable[[Path, str], Path], tmp_path: Path
) -> None:
    git(tmp_path, "init", "-q", "part")
    (tmp_path / "part/a.txt").write_text(NUMBERS)
    git(tmp_path / "part", "add", ".")
    git(tmp_path / "part", "commit", "-qm", "Begin")
    allowed = ("-c", "protocol.file.allow=always")
    git(repo, *allowed, "submodule", "--quiet", "add", str(tmp_path / "part"), "part")
    git(repo, "commit", "-qm", "Begin")
    pair = worktrees(repo, worktree)
    git(pair.theirs, *allowed, "submodule", "--quiet", "update", "--init")
    assert edit(pair.theirs, TWO, "line 5\n", "theirs\n", "part/a.txt") == SILENT
    assert edit(pair.mine, ONE, "line 5\n", "mine\n", "part/a.txt") == SILENT
    assert log(pair.mine) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["line\nbreak.py", "--output=x", ":(top)a", "a b\tc", "é✓.py", "$(x)"]
)
def test_a_name_may_hold_anything(
    repo: Path, worktree: Callable[[Path, str], Path], name: str
) -> None:
    (repo / name).write_text(NUMBERS)
    git(repo, "add", "--all")
    git(repo, "commit", "-q", "-m", "Begin")
    pair = worktrees(repo, worktree)
    theirs_becomes(pair, changed(5), name)
    assert edit(pair.mine, ONE, "line 20\n", "mine\n", name) == SILENT
    assert "worker-2" in reason(edit(pair.mine, ONE, "line 5\n", "mine\n", name))
    assert log(pair.mine) == []


@pytest.mark.slow
def test_nothing_of_the_user_is_touched(pair: Pair) -> None:
    theirs_becomes(pair, changed(5))
    before = [git(pair.mine, "for-each-ref"), git(pair.mine, "count-objects")]
    edit(pair.mine, ONE, "line 20\n", "mine\n")
    edit(pair.mine, ONE, "line 5\n", "mine\n")
    assert [git(pair.mine, "for-each-ref"), git(pair.mine, "count-objects")] == before
    assert git(pair.mine, "status", "--porcelain") == ""
