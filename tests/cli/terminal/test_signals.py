"""Who is told to end puts away first what it began."""

import os
import signal

import pytest

from ghp_agents.cli.terminal import signals


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_block_with_its_code_and_a_second_one_changes_nothing(
    number: signal.Signals, code: int
) -> None:
    put_away: list[str] = []

    def wait() -> None:
        try:
            os.kill(os.getpid(), number)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            put_away.append("all")

    with pytest.raises(SystemExit) as caught, signals.exit_on_signals():
        wait()
    assert (caught.value.code, put_away) == (code, ["all"])
    assert signal.getsignal(number) is signal.SIG_DFL


def test_who_was_told_to_ignore_a_signal_goes_on_ignoring_it() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with signals.exit_on_signals():
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
