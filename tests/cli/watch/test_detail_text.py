"""The text about one agent fits the pane, and its commands can be copied."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.cli.printing.tables import cells
from ghp_agents.cli.views.status_screen import Line
from ghp_agents.cli.watch.detail_text import detail_text
from ghp_agents.cli.watch.look import Detail
from ghp_agents.presence.liveness import Liveness
from ghp_agents.reports.overview import AgentRow, Need, NeedKind

COMMAND = "ghp agent-start 12 --as worker-1"


def detailed(words: str) -> AgentRow:
    """An agent whose client has ended, with a text of others."""
    need = Need(NeedKind.ENDED, words, command=COMMAND)
    return AgentRow("worker-1", Liveness.ACTIVE, "testing", (need,), 12)


def text(lines: list[Line]) -> list[str]:
    return ["".join(part for part, _ in line) for line in lines]


def test_a_fact_goes_on_below_its_text_and_its_command_stays_whole() -> None:
    assert text(detail_text(detailed("It says that the build is broken"), None, 60))[:3] == [
        "needs          attention: its client has ended: «It says",
        "               that the build is broken»",
        f"               → {COMMAND}",
    ]


def test_a_command_that_fits_only_without_the_indent_has_a_line_of_its_own() -> None:
    lines = text(detail_text(detailed("It"), None, 40))
    assert f"      → {COMMAND}" in lines


@pytest.mark.slow
@given(st.text("ab `«→:.", max_size=80), st.integers(34, 90))
def test_no_line_is_wider_and_the_command_is_on_one_line(words: str, columns: int) -> None:
    detail = Detail(("  +1 -1  a.txt",), (f"1m  H-1  «{words}»",), ())
    lines = text(detail_text(detailed(words), detail, columns))
    assert any(COMMAND in line for line in lines)
    assert "  +1 -1  a.txt" in lines
    one_word = [line.split() for line in lines if cells(line) > columns]
    assert all(len(line) <= 3 or "`" in words for line in one_word)
