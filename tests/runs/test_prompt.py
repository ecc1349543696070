"""What a client reads first."""

import pytest

from ghp_agents.pulls import start
from ghp_agents.runs import prompt
from tests.support.runs import Shift


@pytest.mark.slow
def test_the_first_prompt_says_who_what_and_how_to_end(shift: Shift) -> None:
    started = start.start(shift.app("worker-1"), "1")
    inner = shift.app("worker-1", started.path)
    text = prompt.of_run(inner, "worker-1", 1, "", 5_000)
    assert text.startswith("You are agent worker-1. You work alone")
    assert "`ghp agent-finish`. If only a person" in text
    assert f"\n\nWork in {started.path}\n\n# Resume: #1 «One»" in text
    assert "That run ended" not in text


def test_a_later_prompt_says_how_the_last_run_ended(shift: Shift) -> None:
    started = start.start(shift.app("worker-1"), "1")
    inner = shift.app("worker-1", started.path)
    text = prompt.of_run(inner, "worker-1", 1, "it \x1b[31mfell", 5_000)
    assert "\n\nYou worked on this before. That run ended: «it [31mfell».\n\n" in text
