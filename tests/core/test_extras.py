"""The command that adds an extra is the one of the tool that installed the program."""

import json
import sys
from importlib import metadata
from pathlib import Path

import pytest

from ghp_agents.core import extras
from ghp_agents.core.extras import requirement


class _Installed:
    """A distribution that pip recorded with this note."""

    version = "1.2"

    def __init__(self, note: str) -> None:
        self._note = note

    def read_text(self, _: str) -> str:
        return self._note


CHECKOUT = json.dumps({"url": "file:///home/dana/my%20tools", "dir_info": {}})


@pytest.mark.parametrize(
    ("leaves", "note", "command"),
    [
        ("uv-receipt.toml", CHECKOUT, "uv tool install --force '/home/dana/my tools[tui]'"),
        ("pipx_metadata.json", CHECKOUT, "pipx install --force '/home/dana/my tools[tui]'"),
        ("pipx_metadata.json", "", "pipx install --force 'ghp-agents[tui]==1.2'"),
    ],
)
def test_the_tool_that_made_the_environment_installs_the_extra(
    leaves: str, note: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / leaves).touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(metadata, "distribution", lambda _: _Installed(note))
    assert extras.how_to_install("tui") == command


@pytest.mark.parametrize(
    ("has_pip", "begin"),
    [
        (True, f"{sys.executable} -m pip install"),
        (False, f"uv pip install --python {sys.executable}"),
    ],
)
def test_any_other_environment_is_named(
    has_pip: bool, begin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(extras, "find_spec", lambda _: has_pip or None)
    monkeypatch.setattr(metadata, "distribution", lambda _: _Installed(""))
    assert extras.how_to_install("mcp") == f"{begin} 'ghp-agents[mcp]==1.2'"


VCS = {"vcs": "git", "commit_id": "0" * 40}


@pytest.mark.parametrize(
    ("note", "words"),
    [
        ("", ["ghp-agents[recall]==1.2"]),
        (
            {"url": "https://github.com/acme/ghp-agents", "vcs_info": VCS},
            [f"ghp-agents[recall] @ git+https://github.com/acme/ghp-agents@{'0' * 40}"],
        ),
        (
            {"url": "file:///a%20b/checkout", "dir_info": {"editable": True}},
            ["--editable", "/a b/checkout[recall]"],
        ),
        ({"url": "file:///src", "dir_info": {}}, ["/src[recall]"]),
        (
            {"url": "file:///dist/x.whl", "archive_info": {}},
            ["ghp-agents[recall] @ file:///dist/x.whl"],
        ),
        ({"url": 1, "vcs_info": "?"}, [".[recall]"]),
        ([], [".[recall]"]),
    ],
)
def test_the_extra_comes_from_where_the_program_came_from(note: object, words: list[str]) -> None:
    text = note if isinstance(note, str) else json.dumps(note)
    assert requirement(text, "1.2", "recall") == words
