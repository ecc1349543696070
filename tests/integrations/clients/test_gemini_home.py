"""The home of Gemini CLI for a run: its user's files, and our hook in the settings."""

import json
import sys
from pathlib import Path

from ghp_agents.integrations.clients import gemini_home

HOOK = {
    "type": "command", "timeout": 10_000,
    "command": f"{sys.executable} -P -m ghp_agents hook gemini || exit 2",
}  # fmt: skip


def test_it_has_the_users_files_and_settings_with_our_hook(tmp_path: Path) -> None:
    users, place = tmp_path / "user/.gemini", tmp_path / "run"
    users.mkdir(parents=True)
    theirs = {"hooks": [{"type": "command", "command": "mine"}]}
    text = json.dumps({"ui": {"theme": "X"}, "hooks": {"BeforeTool": [theirs]}})
    (users / "settings.json").write_text(text)
    (users / "oauth_creds.json").write_text("{}")
    for _ in range(2):  # the same run may be started again
        environ = gemini_home.make(place, {"HOME": str(tmp_path / "user")})
    assert environ == {"GEMINI_CLI_HOME": str(place / "gemini")}
    own = place / "gemini/.gemini"
    assert sorted(x.name for x in own.iterdir()) == ["oauth_creds.json", "settings.json", "tmp"]
    assert (own / "oauth_creds.json").resolve() == users / "oauth_creds.json"
    settings = json.loads((own / "settings.json").read_text())
    assert settings["ui"] == {"theme": "X"}
    assert settings["hooks"] == {"BeforeTool": [theirs, {"hooks": [HOOK]}]}
    assert (users / "settings.json").read_text() == text


def test_a_user_without_settings_gets_them(tmp_path: Path) -> None:
    gemini_home.make(tmp_path / "run", {"GEMINI_CLI_HOME": str(tmp_path / "none")})
    own = tmp_path / "run/gemini/.gemini"
    assert json.loads((own / "settings.json").read_text()) == {
        "hooks": {"BeforeTool": [{"hooks": [HOOK]}]}
    }
