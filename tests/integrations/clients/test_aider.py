"""Where aider is used, a person is told what lets git's hooks check its commits."""

from pathlib import Path

import pytest

from ghp_agents.integrations.clients import aider

ON = "model: x\ngit-commit-verify: true\n"


@pytest.fixture
def tops(tmp_path: Path) -> list[Path]:
    """Two worktrees."""
    folders = [tmp_path / "one", tmp_path / "two"]
    for top in folders:
        top.mkdir()
    return folders


def told(tops: list[Path], home: Path, has_hooks: bool, **environ: str) -> list[tuple[str, str]]:
    return [*aider.advice(tops, {"HOME": str(home), **environ}, has_hooks=has_hooks)]


def test_where_it_is_not_used_nothing_is_said(tops: list[Path], home: Path) -> None:
    assert told(tops, home, False) == told(tops, home, True) == []


@pytest.mark.parametrize("trace", aider.TRACES)
def test_where_it_is_used_it_needs_gits_hooks_and_must_not_skip_them(
    tops: list[Path], home: Path, trace: str
) -> None:
    (tops[1] / trace).write_text("model: x\n")
    assert told(tops, home, False) == [aider.NO_HOOKS]
    assert told(tops, home, True) == [aider.NO_VERIFY]


def test_the_setting_counts_from_the_worktree_then_from_the_user(
    tops: list[Path], home: Path
) -> None:
    (home / aider.CONFIG).write_text(ON)
    assert told(tops, home, True) == []
    assert told(tops, home, False) == [aider.NO_HOOKS]
    (tops[0] / aider.CONFIG).write_text("git-commit-verify: false\n")
    assert told(tops, home, True) == [aider.NO_VERIFY]
    (home / aider.CONFIG).unlink()
    for top in tops:
        (top / aider.CONFIG).write_text(ON)
    assert told(tops, home, True) == []


def test_the_variable_counts_where_no_file_says_otherwise(tops: list[Path], home: Path) -> None:
    (tops[0] / aider.CONFIG).write_text("model: x\n")
    assert told(tops, home, True, AIDER_GIT_COMMIT_VERIFY="true") == []
    (tops[0] / aider.CONFIG).write_text("# git-commit-verify: true\ngit-commit-verify: no\n")
    assert told(tops, home, True, AIDER_GIT_COMMIT_VERIFY="true") == [aider.NO_VERIFY]


def test_a_file_that_cannot_be_read_says_nothing(tops: list[Path], home: Path) -> None:
    (tops[0] / aider.CONFIG).write_bytes(b"\xff\xfe git-commit-verify: true")
    assert told(tops, home, True) == [aider.NO_VERIFY]
