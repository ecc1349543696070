"""What a command found out by the way is said once, in order."""

from ghp_agents.core import notices


def test_each_is_said_once_and_in_order() -> None:
    for text in ("one", "two", "one"):
        notices.note(text)
    assert notices.take() == ["one", "two"]
    assert notices.take() == []
