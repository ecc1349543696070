"""The bell of an agent: it rings for agents of this clone, until somebody looks."""

from pathlib import Path

import pytest

from ghp_agents.hotpath import news_flag as bell


def folders(tmp_path: Path, *agents: str) -> list[str]:
    for folder in ("first", "second"):
        (tmp_path / folder / "agents").mkdir(parents=True)
    for agent in agents:
        (tmp_path / "first/agents" / f"{agent}.json").touch()
    return [str(tmp_path / "first"), str(tmp_path / "second")]


def test_it_rings_until_it_is_hushed(tmp_path: Path) -> None:
    here = folders(tmp_path, "worker-1", "worker-2")
    assert not bell.is_set(here, "worker-1")
    bell.set_flag(here, "worker-1")
    bell.set_flag(here, "worker-1")
    assert bell.is_set(here, "worker-1")
    assert not bell.is_set(here, "worker-2")
    bell.clear(here, "worker-1")
    bell.clear(here, "worker-1")
    assert not bell.is_set(here, "worker-1")


@pytest.mark.parametrize("name", ["worker-9", "Ada Lovelace", "../agents/worker-1", "", "a/b"])
def test_it_rings_for_nobody_who_is_not_here(tmp_path: Path, name: str) -> None:
    here = folders(tmp_path, "worker-1")
    bell.set_flag(here, name)
    assert not bell.is_set(here, name)
    assert not (tmp_path / "first/cache").exists()


def test_it_rings_where_files_can_be_made(tmp_path: Path) -> None:
    here = folders(tmp_path, "worker-1")
    (tmp_path / "first/cache").write_text("no folder")
    bell.set_flag(here, "worker-1")
    assert bell.is_set(here, "worker-1")
    assert (tmp_path / "second/cache/bell/worker-1").exists()
    bell.clear(here, "worker-1")
    assert not bell.is_set(here, "worker-1")


def test_where_no_file_can_be_made_it_is_still(tmp_path: Path) -> None:
    here = folders(tmp_path, "worker-1")
    for folder in ("first", "second"):
        (tmp_path / folder / "cache").write_text("no folder")
    bell.set_flag(here, "worker-1")
    assert not bell.is_set(here, "worker-1")


def test_it_rings_for_all_but_the_author(tmp_path: Path) -> None:
    here = folders(tmp_path, "worker-1", "worker-2", "worker-3")
    bell.set_for_others(here, "worker-2")
    assert [name for name in ("worker-1", "worker-2", "worker-3") if bell.is_set(here, name)] == [
        "worker-1", "worker-3",
    ]  # fmt: skip
    bell.set_for_others([str(tmp_path / "none")], "")
