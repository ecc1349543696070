"""Which account a client works with, and how long it waits."""

from pathlib import Path

import pytest

from ghp_agents.runs import runners
from ghp_agents.runs.accounts import account as accounts
from ghp_agents.runs.accounts.account import AccountPause
from ghp_agents.runs.launch import RunCommand
from ghp_agents.runs.outages.forms import LIMIT, LOGIN, Outage
from ghp_agents.runs.outages.reset_times import LONGEST

COMMAND = RunCommand(runners.find("claude"))


@pytest.mark.parametrize(
    ("command", "more", "same"),
    [
        (COMMAND, {"EDITOR": "vi"}, True),
        (RunCommand(runners.find("claude-bg")), {}, True),
        (COMMAND._replace(args=("--max-turns", "3"), model="opus"), {}, True),
        (RunCommand(runners.find("codex")), {}, False),
        (COMMAND, {"ANTHROPIC_API_KEY": "k2"}, False),
        (COMMAND, {"CLAUDE_CONFIG_DIR": "/other"}, False),
        (COMMAND, {"HOME": "/other"}, False),
        (COMMAND, {"ANTHROPIC_BASE_URL": "http://localhost"}, False),
    ],
)
def test_an_account_is_a_client_and_what_it_logs_in_with(
    command: RunCommand, more: dict[str, str], same: bool
) -> None:
    environ = {"HOME": "/home/pat", "ANTHROPIC_API_KEY": "k1"}
    account = accounts.of(COMMAND, environ)
    assert (accounts.of(command, environ | more) == account) is same
    assert "k1" not in repr(account)


def test_the_models_of_a_client_with_several_vendors_are_several_accounts() -> None:
    command = RunCommand(runners.find("opencode"))
    keys = {
        accounts.of(command._replace(model=model), {}).key
        for model in ("openai/gpt", "openai/gpt-mini", "anthropic/opus")
    }
    assert len(keys) == 2


@pytest.mark.parametrize("content", [b"", b"[]", b'{"client": 1}', b'{"until": "never"}'])
def test_a_broken_file_is_no_pause(tmp_path: Path, content: bytes) -> None:
    account = accounts.of(COMMAND, {"HOME": "/home/pat"})
    path, file = accounts.file(account, {"XDG_STATE_HOME": str(tmp_path)})
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert file.read() is None


def test_a_pause_is_read_as_it_was_written_and_does_not_outlast_any_limit(tmp_path: Path) -> None:
    account = accounts.of(COMMAND, {})
    path, file = accounts.file(account, {"XDG_STATE_HOME": str(tmp_path)})
    pause = accounts.paused(account, Outage(LIMIT, "", 9e9), 1e9, None, tried=False)
    file.write(pause._asdict())
    assert (
        file.read() == pause == AccountPause("claude", LIMIT, "", 1e9, 1e9 + LONGEST + 5, 1, True)
    )
    assert accounts.is_sane(pause, 1e9)
    assert not accounts.is_sane(pause, 1e9 - 3_600)  # the clock was set back
    assert path.stat().st_mode & 0o077 == 0


def test_waits_grow_to_half_an_hour() -> None:
    pause, waits = None, []
    account = accounts.of(COMMAND, {})
    for _ in range(7):
        pause = accounts.paused(account, Outage(LOGIN), 1e9, pause, tried=True)
        waits.append(pause.until - 1e9)
    assert waits == [60, 120, 240, 480, 960, 1800, 1800]
