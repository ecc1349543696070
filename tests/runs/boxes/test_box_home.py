"""The home of a box: the agent's own folder, with the person's files in it to read."""

from pathlib import Path

import pytest

from ghp_agents.runs.boxes import box_home
from ghp_agents.runs.boxes.box_home import HomePart


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in (
        "work/file", ".bashrc", ".npm/_npx/x", ".cache/pre-commit/x", ".claude.json",
        ".claude/plugins/p",
        ".claude/.credentials.json", ".claude/projects/session", ".claude/settings.json",
        ".codex/auth.json", ".codex/config.toml", ".codex/state_5.sqlite-wal",
        ".local/share/opencode/opencode.db", ".local/bin/tool",
        ".cache/puppeteer/chrome", ".local/share/uv/tools/ghp", ".local/share/pnpm/claude",
        ".local/share/pnpm/store/x",
    ):  # fmt: skip
        path = tmp_path / "home" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\n")
    (tmp_path / "home/lost").symlink_to("/no/such/file")
    return tmp_path / "home"


def test_a_client_writes_its_login_and_the_person_keeps_all_else(home: Path) -> None:
    own = home.parent / "own"
    own.mkdir()
    uvx = home / ".cache/uv/tool"
    uvx.mkdir(parents=True)
    parts = box_home.prepare(home, own, [uvx, Path("/usr"), home / "work"])
    shown = {str(part.path.relative_to(home)): part.is_writable for part in parts}
    assert shown == {
        ".bashrc": False, "work": False, ".claude/plugins": False, ".claude/settings.json": False,
        ".claude/.credentials.json": True, ".codex/auth.json": True, ".codex/config.toml": False,
        ".local/bin": False, ".claude/settings.local.json": False, ".codex/hooks.json": False,
        ".gemini/settings.json": False,
        # Programs are where tools have put them.
        ".cache/puppeteer": False, ".cache/uv/tool": False, ".local/share/uv": False,
        ".local/share/pnpm/claude": False,
    }  # fmt: skip
    assert (own / ".claude.json").read_text() == ".claude.json\n"
    assert sorted(path.name for path in (own / ".cache").iterdir()) == ["puppeteer", "uv"]
    assert [*(own / ".npm").iterdir()] == []


def test_what_a_run_left_in_its_home_leads_nowhere(home: Path) -> None:
    own, outside = home.parent / "own", home.parent / "outside"
    own.mkdir()
    outside.mkdir()
    (own / ".claude").symlink_to(outside)
    (own / ".codex").mkdir()
    (own / ".codex/hooks.json").symlink_to(outside / "hooks.json")
    (own / ".claude.json").symlink_to(outside / "claude.json")
    parts = box_home.prepare(home, own)
    assert list(outside.iterdir()) == []
    empty = HomePart(home / ".codex/hooks.json", source=own / ".codex/hooks.json")
    assert empty in parts
    assert (own / ".codex/hooks.json").read_text() == "{}"
