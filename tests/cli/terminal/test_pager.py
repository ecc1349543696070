"""Long output goes to the person's pager, and to nobody else's."""

import os
import sys
from pathlib import Path

import pytest

from tests.support.ghp import CHECKOUT, invoke
from tests.support.git import git
from tests.support.screens import capture
from tests.support.terminal import terminal

START = 1_750_000_000.0
MARK = "sed s/^/paged:/"


@pytest.fixture
def one(repo: Path) -> Path:
    invoke(["agent-issue", "new", "Parse the input"], repo)
    return repo


def seen(repo: Path, line: str, **env: str) -> str:
    return capture([(START, line)], repo, 80, {"GHP_PERSON": "1", **env})


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "agent-log",
        "agent-issue show 1",
        "agent-notes list",
        "agent-report --since 2025-01-01",
    ],
)
def test_commands_with_long_output_show_it_in_the_pager(one: Path, line: str) -> None:
    invoke("agent-remember 'A tab is eight columns wide.' --as worker-1", one)
    shown = seen(one, line, GHP_PAGER=MARK)
    assert "\npaged:" in f"\n{shown}", shown


@pytest.mark.slow
def test_colours_and_tables_are_those_of_a_terminal(one: Path) -> None:
    invoke("agent-remember 'A tab is eight columns wide.' --as worker-1", one)
    direct = seen(one, "agent-notes list", GHP_PAGER="")
    assert "<1>" in direct
    assert seen(one, "agent-notes list", GHP_PAGER="cat -u") == direct
    assert seen(one, "agent-notes list", GHP_PAGER="sed ''") == direct


@pytest.mark.slow
def test_without_our_variable_it_is_the_pager_of_git(one: Path) -> None:
    git(one, "config", "core.pager", MARK)
    env = {name: value for name, value in os.environ.items() if name != "GHP_PAGER"}
    command = [sys.executable, "-m", "ghp_agents", "agent-log"]
    person = {"PYTHONPATH": str(CHECKOUT), "GHP_PERSON": "1"}
    with terminal(command, one, {**env, **person}) as screen:
        screen.wait_for("paged:")


@pytest.mark.slow
@pytest.mark.parametrize("env", [{"GHP_PERSON": "", "GHP_AGENT": "worker-1"}, {"TERM": "dumb"}])
def test_an_agent_and_a_dumb_terminal_get_no_pager(one: Path, env: dict[str, str]) -> None:
    assert "paged:" not in seen(one, "agent-log", **{"GHP_PAGER": MARK, **env})


@pytest.mark.slow
@pytest.mark.parametrize("line", ["--no-pager agent-log", "agent-log --no-pager"])
def test_an_option_turns_it_off(one: Path, line: str) -> None:
    assert "paged:" not in seen(one, line, GHP_PAGER=MARK)


@pytest.mark.slow
def test_a_pager_that_does_not_exist_hides_nothing(one: Path) -> None:
    assert "Parse the input" in seen(one, "agent-log", GHP_PAGER="no-such-pager -x")


@pytest.mark.slow
def test_a_pager_that_is_left_early_is_no_error(one: Path) -> None:
    assert seen(one, "agent-log", GHP_PAGER="true") == "$ ghp agent-log\n\n"


def test_into_a_pipe_goes_the_output_itself(one: Path) -> None:
    assert "paged:" not in invoke("agent-log", one, {"GHP_PAGER": MARK, "GHP_PERSON": "1"}).out


@pytest.mark.slow
def test_a_pager_with_an_open_quotation_mark_hides_nothing_and_is_named(one: Path) -> None:
    shown = seen(one, "agent-log", GHP_PAGER="less '")
    assert "Parse the input" in shown
    assert "because its command `less '` is not complete" in " ".join(shown.split())
    assert "Unexpected" not in shown
