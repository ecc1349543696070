"""Whoever listens is told what is run, without credentials, and nobody else is."""

from ghp_agents.core import trace


def test_a_listener_is_told_until_it_stops_listening() -> None:
    lines: list[str] = []
    trace.step("GET https://api.example/1 200")
    with trace.listening(lines.append):
        trace.step("GET https://api.example/2 200")
        trace.command(["git", "fetch", "https://ada:secret@git.example/it.git"])
    trace.step("GET https://api.example/3 200")
    assert lines == [
        "GET https://api.example/2 200",
        "git fetch https://***@git.example/it.git",
    ]


def test_each_is_said_once_and_in_order() -> None:
    for text in ("one", "two", "one"):
        trace.note(text)
    assert trace.take_notes() == ["one", "two"]
    assert trace.take_notes() == []
