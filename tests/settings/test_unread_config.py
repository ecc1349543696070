"""That a configuration file cannot be read is said to an agent once."""

from pathlib import Path

from ghp_agents.settings import unread_config


def test_a_trouble_is_said_once_to_each_agent_and_again_when_it_changes(tmp_path: Path) -> None:
    def said(agent: str, *troubles: str) -> str:
        return unread_config.sentence(str(tmp_path), agent, troubles)

    first = said("w1", "config.json, line 3: no comma.")
    assert first == (
        "A configuration file cannot be read, so its last values stay in force: config.json, line "
        "3: no comma. Tell your person; `ghp agent-doctor` checks the file again."
    )
    assert said("w1", "config.json, line 3: no comma.") == ""
    assert said("w2", "config.json, line 3: no comma.") == first
    assert "line 4" in said("w1", "config.json, line 4: no comma.")
    assert [said("w1"), said("w1")] == ["", ""]
    assert "line 4" in said("w1", "config.json, line 4: no comma.")


def test_a_long_trouble_is_one_short_line(tmp_path: Path) -> None:
    text = unread_config.sentence(str(tmp_path), "w1", ["a\nb " * 1_000])
    assert len(text) < 500
    assert "\n" not in text
