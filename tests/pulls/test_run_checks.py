"""Checks run one after another, in their worktree, with their output kept."""

from pathlib import Path

import pytest

from ghp_agents.pulls import run_checks as checking
from ghp_agents.pulls.check import Check
from ghp_agents.pulls.finish import ChecksFailedError
from ghp_agents.settings.schema import ConfigError
from tests.support.consent import mine
from tests.support.git import git
from tests.support.road import Road


@pytest.fixture
def road(repo: Path) -> Road:
    return Road(repo)


def run(road: Road, *commands: str, **settings: object) -> tuple[Check, ...]:
    road.configure({"checks": list(commands), **settings})
    ws = road.house("worker-1").ws
    return checking.run(ws, ws.settings, road.folder, "agent/one", lambda _: None)


def test_all_run_as_long_as_they_pass(road: Road) -> None:
    assert run(road, "echo one", "echo two >&2") == (
        Check("echo one", 0, "one"), Check("echo two >&2", 0, "two"),
    )  # fmt: skip


def test_the_first_that_fails_ends_it(road: Road) -> None:
    assert run(road, "exit 3", "touch ran") == (Check("exit 3", 3),)
    assert not (road.folder / "ran").exists()


def test_one_that_takes_too_long_is_ended_with_all_that_it_started(road: Road) -> None:
    (only,) = run(road, "echo begun; sleep 60 & sleep 60", checkTimeout=0.2)
    assert (only.passed, only.timed_out, only.output) == (False, True, "begun")
    assert only.line == "`echo begun; sleep 60 & sleep 60` did not end within 0 s"


def test_what_a_check_leaves_running_keeps_nobody_waiting(road: Road) -> None:
    assert run(road, "sleep 60 & echo done") == (Check("sleep 60 & echo done", 0, "done"),)


def test_a_long_output_is_kept_at_its_ends(road: Road) -> None:
    (only,) = run(road, "echo first; head -c 500000 /dev/zero | tr '\\0' x; echo; echo last")
    assert len(only.output) < 66_000
    assert only.output.startswith("first\nxxx")
    assert only.output.endswith("x\nlast")
    assert "bytes are left out" in only.output


def test_the_last_outputs_are_in_a_file_of_the_clone(road: Road) -> None:
    run(road, "echo one", "exit 3")
    path = checking.kept_in(road.house("worker-1").ws, "agent/one")
    assert path == road.folder / ".git/ghp/checks/agent-one.txt"
    assert path.read_text() == "$ echo one\none\n(passed)\n\n$ exit 3\n\n(failed with 3)\n"


def test_no_token_goes_in_and_no_secret_comes_out(
    road: Road, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GH_TOKEN", "ghp_" + "a" * 36)
    monkeypatch.setenv("DEPLOY_SECRET", "correct horse")
    command = 'echo "$GH_TOKEN/$DEPLOY_SECRET/correct horse/https://ann:hunter22@example.com/x"'
    (only,) = run(road, command)
    assert only.output == "//***/https://***@example.com/x"


# ------------------------------------------------------------------------------ which ones


def test_they_are_the_trunks_though_this_clone_is_behind(road: Road) -> None:
    road.configure({"checks": ["make test"], "checkTimeout": 7})
    trunk = road.tip
    git(road.folder, "reset", "--quiet", "--hard", "HEAD~1")
    ws = road.house("worker-1").ws
    assert ws.settings.checks == ()
    rules = checking.rules(ws, trunk)
    assert (rules.checks, rules.check_timeout) == (("make test",), 7)


@pytest.mark.slow
def test_work_that_takes_them_away_is_checked_by_them(road: Road) -> None:
    road.configure({"checks": ["! test -e bad.txt"]})
    road.issue()
    with pytest.raises(ChecksFailedError):
        road.done("worker-1", 1, {"bad.txt": "bad\n", ".ghp/config.json": "{}"})


def test_where_the_trunk_names_none_those_of_the_persons_own_file_count(road: Road) -> None:
    trunk = road.put({".ghp/config.json": "{}"})
    mine({"agents": {"checks": ["make lint"]}})
    assert checking.rules(road.house("worker-1").ws, trunk).checks == ("make lint",)


def test_a_trunk_whose_configuration_cannot_be_read_is_an_error(road: Road) -> None:
    trunk = road.put({".ghp/config.json": "{"})
    git(road.folder, "reset", "--quiet", "--hard", "HEAD~1")
    with pytest.raises(ConfigError, match=f"{trunk[:12]}:.ghp/config.json, line 1"):
        checking.rules(road.house("worker-1").ws, trunk)
