"""The plugin for Claude Code: the same each time, true about the commands, never over others'."""

import json
import re
from pathlib import Path

import click
import pytest

from ghp_agents.cli.app import COMMANDS, app
from ghp_agents.core.errors import RefusedError
from ghp_agents.integrations.clients import claude_plugin as plugin
from ghp_agents.integrations.clients import hook_entries as guard
from tests.support.house import CHECKOUT

FOLDER = Path("/opt/my plugins/claude")


def texts() -> dict[str, str]:
    return {path: data.decode() for path, data in plugin.rendered(FOLDER, "/a b/py").items()}


def write(folder: Path, python: str = "/py") -> list[str]:
    steps = plugin.to_write(folder, python)
    for step in steps:
        step.act()
    return [f"{step.did} {Path(step.what).relative_to(folder)}" for step in steps]


def test_the_folder_holds_a_plugin_and_the_marketplace_that_offers_it() -> None:
    files = texts()
    commands = ("answer", "claim", "escalate", "handoff", "lease", "release", "resume", "status")
    assert sorted(files) == sorted([
        ".claude-plugin/marketplace.json", ".claude-plugin/plugin.json", ".ghp-agents",
        "LICENSE", "README.md", "bin/ghp-agents", "hooks/hooks.json",
        "skills/ghp-agents/SKILL.md", *(f"commands/{name}.md" for name in commands),
    ])  # fmt: skip
    assert files[".ghp-agents"].splitlines() == sorted(set(files) - {".ghp-agents"})
    assert files["LICENSE"] == (CHECKOUT / "LICENSE").read_text()
    manifest = json.loads(files[".claude-plugin/plugin.json"])
    (offered,) = json.loads(files[".claude-plugin/marketplace.json"])["plugins"]
    assert manifest["name"] == offered["name"] == "ghp-agents"
    assert manifest["version"] == offered["version"] == plugin.our_version()
    assert offered["source"] == "./"
    assert (
        json.loads(files["hooks/hooks.json"])["hooks"]
        == (guard.document("claude", "/a b/py")["hooks"])
    )
    assert files["bin/ghp-agents"] == "#!/bin/sh\nexec '/a b/py' -P -m ghp_agents \"$@\"\n"
    assert "--marketplace '/opt/my plugins/claude' -y" in files["README.md"]


def test_the_plugin_brings_the_tool_server_where_its_package_is() -> None:
    files = plugin.rendered(FOLDER, "/py", tools=True)
    manifest = json.loads(files[".claude-plugin/plugin.json"])
    assert manifest.pop("mcpServers") == {
        "ghp": {"command": "/py", "args": ["-P", "-m", "ghp_agents", "agent-mcp"]}
    }
    assert manifest == json.loads(texts()[".claude-plugin/plugin.json"])


def test_every_slash_command_is_named_in_the_readme() -> None:
    files = texts()
    for path in files:
        if path.startswith("commands/"):
            assert f":{Path(path).stem}`" in files["README.md"]


def said_commands() -> list[tuple[str, str]]:
    """Each `ghp-agents agent-…` of the plugin's texts, up to the end of its code."""
    commands = []
    for path, text in texts().items():
        for words in re.findall(r"ghp-agents (agent-[^`\n)]*)", text):
            commands.append((path, words))
        for words in re.findall(r"`(agent-[^`\n]*)`", text):
            commands.append((path, words))
    return commands


@pytest.mark.parametrize(("path", "words"), said_commands())
def test_every_command_that_is_taught_is_there_with_its_options(path: str, words: str) -> None:
    name, *rest = words.replace(":*", "").split()
    assert name in COMMANDS, f"{path} teaches `{words}`"
    command = app.get_command(click.Context(app), name)
    assert command is not None
    if isinstance(command, click.Group):
        command = command.commands[rest[0]]
    options = {option for x in command.params for option in x.opts}
    taught = {word.rstrip("`.,") for word in rest if word.startswith("--")}
    assert taught <= options


def test_a_second_rendering_writes_nothing_and_an_upgrade_only_what_changed(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "plugin"
    assert len(write(folder)) == len(texts())
    assert (folder / "bin/ghp-agents").stat().st_mode & 0o777 == 0o755
    assert (folder / "README.md").stat().st_mode & 0o777 == 0o644
    assert write(folder) == []
    assert write(folder, "/new/py") == ["Wrote bin/ghp-agents", "Wrote hooks/hooks.json"]


def test_what_an_older_version_left_goes_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path)
    outside = tmp_path.parent / "outside"
    outside.write_text("")
    for name in ("commands/old.md", "commands/mine.md"):
        (tmp_path / name).write_text("x")
    listing = tmp_path / ".ghp-agents"
    listing.write_text(f"{listing.read_text()}commands/old.md\n../outside\n{outside}\n\n")
    assert write(tmp_path) == ["Wrote .ghp-agents", "Removed commands/old.md"]
    assert (tmp_path / "commands/mine.md").exists()
    assert outside.exists()


@pytest.mark.parametrize("name", ["file", "folder"])
def test_what_is_somebody_elses_is_refused_and_left(tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    if name == "folder":
        place.mkdir()
        (place / "mine").write_text("x")
    else:
        place.write_text("x")
    with pytest.raises(RefusedError) as refused:
        plugin.to_write(place, "/py")
    assert str(refused.value) == (f"{place} already exists, and ghp-agents did not create it.")


def test_an_empty_folder_may_be_used_and_without_one_it_is_in_the_data_folder(
    tmp_path: Path,
) -> None:
    assert write(tmp_path)
    assert plugin.default_folder({"HOME": "/h"}) == Path("/h/.local/share/ghp-agents/claude-plugin")
    assert plugin.default_folder({"HOME": "/h", "XDG_DATA_HOME": "/d"}) == Path(
        "/d/ghp-agents/claude-plugin"
    )
