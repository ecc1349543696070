"""Tests run as on an empty machine: its other programs and its settings are hidden."""

import shutil
from pathlib import Path

import pytest

from tests.support import guard
from tests.support.git import git


@pytest.mark.parametrize("name", guard.HIDDEN)
def test_a_program_that_only_some_machines_have_is_hidden(name: str) -> None:
    assert shutil.which(name) is None


def test_the_programs_beside_a_hidden_one_are_still_there(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("gh", "sort"):
        program = tmp_path / "bin" / name
        program.write_text(f"#!/bin/sh\necho {name}\n")
        program.chmod(0o755)
    path = guard.without_hidden(f"{tmp_path}/bin:{tmp_path}/none:/", tmp_path / "links")
    assert path == f"{tmp_path}/links/0:/"
    assert [path.name for path in (tmp_path / "links/0").iterdir()] == ["sort"]
    assert shutil.which("gh", path=path) is None


def test_the_machines_git_settings_are_hidden(tmp_path: Path) -> None:
    settings = git(tmp_path, "config", "--list", "--show-scope").splitlines()
    assert settings == [
        "global\tuser.name=Test Person",
        "global\tuser.email=person@example.invalid",
        "global\tinit.defaultbranch=main",
        "global\tgc.auto=0",
        "global\tmaintenance.auto=false",
        "global\treceive.autogc=false",
    ]
