"""Output goes wherever our caller wants it, and nowhere without harm."""

import contextlib
import json
import os
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ghp_agents.cli import output
from ghp_agents.core import progress
from tests.support.ghp import CHECKOUT, Result, invoke
from tests.support.screens import capture


def shell(repo: Path, line: str) -> Result:
    """A line for a shell; `ghp` in it is ours."""
    done = subprocess.run(
        ["/bin/sh", "-c", f'ghp() {{ "{sys.executable}" -m ghp_agents "$@"; }}\n{line}'],
        cwd=repo,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def with_issue(repo: Path) -> Path:
    invoke(["agent-issue", "new", "Parse the input"], repo)
    return repo


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
@pytest.mark.parametrize("words", ["agent-issues --json", "agent-issue new T", "agent-log"])
def test_a_place_that_is_full_is_an_error_of_the_place(with_issue: Path, words: str) -> None:
    code, _, err = shell(with_issue, f"ghp {words} >/dev/full")
    assert (code, err.splitlines()[-2:]) == (
        1,
        [
            "Error: Cannot write the output: No space left on device.",
            "Hint: Write it to another place. Everything saved before is kept.",
        ],
    )


@pytest.mark.slow
def test_a_reader_that_leaves_is_no_error(with_issue: Path) -> None:
    assert shell(with_issue, "ghp agent-issues | true") == (0, "", "")


@pytest.mark.slow
def test_a_stream_that_is_closed_leads_nowhere(with_issue: Path) -> None:
    assert shell(with_issue, "ghp agent-issue new Second >&-").code == 0
    assert shell(with_issue, "ghp agent-issue new Third 2>&-") == (0, "3\n", "")
    assert shell(with_issue, "ghp agent-issue comment 1 Words <&- >&- 2>&-") == (0, "", "")
    code, _, err = shell(with_issue, "ghp agent-issue comment 1 - <&-")
    assert (code, err.splitlines()[0]) == (2, "Error: The comment is empty.")
    listed = json.loads(invoke("agent-issues --json", with_issue).out)
    assert [issue["title"] for issue in listed] == ["Parse the input", "Second", "Third"]
    assert [comment["body"] for comment in listed[0]["comments"]] == ["Words"]


@contextlib.contextmanager
def terminal(columns: int = 0) -> Iterator[Callable[[bytes], str]]:
    """Standard error is a person's terminal; reads what they see up to the given bytes."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    shown = b""

    def read(end: bytes) -> str:
        nonlocal shown
        while end not in shown:
            shown += os.read(ours, 1_000)
        return shown.decode()

    with os.fdopen(theirs, "w", encoding="utf-8") as stream, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        patch.setenv("TERM", "xterm")
        yield read
    os.close(ours)


def test_what_takes_long_is_said_as_long_as_it_takes() -> None:
    with terminal() as read:
        with output.busy("Asking \x1b[31mthe remote", after=0):
            read(b" s")
            output.say("In between")
            read(b"between\r\n\r\x1b[KAsking")
        output.say("The end")
        first, *more, last = read(b"end\r\n").split("\r\033[K")[1:]
    assert first == "Asking �[31mthe remote … 0 s"
    assert "In between\r\n" in more
    assert all(line.startswith("Asking") for line in more if line != "In between\r\n")
    assert last == "The end\r\n"


def test_what_runs_and_its_last_line_are_said() -> None:
    with terminal() as read:
        with output.busy("Merging", after=0), output.busy("Checking"), progress.step("`pytest`"):
            progress.note("7 passed \x1b[31min\ta\nsecond " + "x" * 99)
            read(b"\xe2\x80\xa6\x1b[0m")
        lines = read(b"\xe2\x80\xa6\x1b[0m").split("\r\033[K")
        shown = next(line for line in lines if "passed" in line)
    assert shown.startswith("`pytest` … 0 s  \x1b[2m7 passed �[31min a second xxx")
    assert len(shown.replace("\x1b[2m", "").replace("\x1b[0m", "")) == 79


def test_what_is_soon_done_is_not_said() -> None:
    with terminal() as read:
        with output.busy("Asking", after=60):
            pass
        output.say("The end")
        assert read(b"\n") == "The end\r\n"


def test_nobody_waits_where_no_person_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with output.busy("Asking", after=0):
        assert threading.active_count() == 1
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("show", "shown"),
    [
        (lambda: output.done("Made #1"), "\x1b[32m✓\x1b[0m Made #1\r\n"),
        (
            lambda: output.warn("It is late.", "Hurry."),
            "\x1b[33mWarning:\x1b[0m It is late.\r\n\x1b[36mHint:\x1b[0m Hurry.\r\n",
        ),
        (
            lambda: output.error("It is lost.", "Look again."),
            "\x1b[31mError:\x1b[0m It is lost.\r\n\x1b[36mHint:\x1b[0m Look again.\r\n",
        ),
        (
            lambda: output.done("Made \x1b[31mred\x1b[0m"),
            "\x1b[32m✓\x1b[0m Made �[31mred�[0m\r\n",
        ),
    ],
    ids=["done", "warning and hint", "error and hint", "escapes of others"],
)
def test_a_terminal_shows_our_colours_and_no_escapes_of_others(
    show: Callable[[], None], shown: str
) -> None:
    with terminal() as read:
        show()
        assert read(shown[-8:].encode()) == shown


def test_long_messages_break_between_words_on_a_terminal_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    home = os.environ["HOME"]
    text, hint = f"Another agent has {home}/a.py.", "Ask for it: `ghp agent-escalate --file a.py`."
    with terminal(columns=38) as read:
        output.step(f"git -C {home} status --porcelain=v2 --branch")
        output.warn(text, hint)
        output.say("\n".join([hint, text]))
        assert read(b"`.\r\nAnother agent has ~/a.py.\r\n") == (
            f"\x1b[2m+\x1b[0m git -C {home} status --porcelain=v2 --branch\r\n"
            "\x1b[33mWarning:\x1b[0m Another agent has ~/a.py.\r\n"
            "\x1b[36mHint:\x1b[0m Ask for it:\r\n`ghp agent-escalate --file a.py`.\r\n"
            "Ask for it:\r\n`ghp agent-escalate --file a.py`.\r\n"
            "Another agent has ~/a.py.\r\n"
        )
    output.warn(text, hint)
    assert capsys.readouterr().err == f"Warning: {text}\nHint: {hint}\n"


def test_no_color_and_a_dumb_terminal_get_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with terminal() as read:
            monkeypatch.setenv(name, value)
            output.warn("It is late.", "Hurry.")
            assert read(b"Hurry.\r\n") == "Warning: It is late.\r\nHint: Hurry.\r\n"
        monkeypatch.delenv(name, raising=False)  # `terminal` has put the former one back


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"CLICOLOR_FORCE": "1"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"FORCE_COLOR": ""}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": ""}, True),
    ],
)
def test_colours_can_be_forced_into_a_pipe_but_not_against_no_color(
    with_issue: Path, env: dict[str, str], expected: bool
) -> None:
    claimed = invoke("agent-claim 1 --as worker-1", with_issue, env)
    assert claimed.err.startswith("\x1b[32m✓\x1b[0m " if expected else "✓ ")
    assert ("\x1b[1mISSUE" in invoke("agent-issues", with_issue, env).out) == expected
    shown = invoke("agent-status", with_issue, env | {"COLUMNS": "60"}).out
    assert ("\x1b[1m1 agent\x1b[0m\x1b[2m · \x1b[0m1 working\n" in shown) == expected
    assert shown.startswith("\x1b[1m1 agent" if expected else "AGENT ")
    assert invoke("agent-status --plain", with_issue, env).out.startswith("AGENT ")


@pytest.mark.slow
def test_on_a_terminal_the_message_alone_has_the_number(with_issue: Path) -> None:
    assert capture([(1_750_000_000.0, "agent-issue new Second")], with_issue, 80, {}) == (
        "$ ghp agent-issue new Second\n<32>✓</> Created #2 «Second».\n\n"
    )
    quiet = capture([(1_750_000_000.0, "agent-issue new Third -q")], with_issue, 80, {})
    assert quiet == "$ ghp agent-issue new Third -q\n3\n\n"


# ------------------------------------------------------------------------------ times


def test_at_a_terminal_times_are_local_and_in_a_pipe_they_are_as_recorded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    at = "2026-06-15T13:24:00Z"
    monkeypatch.setenv("TZ", "UTC-2")
    time.tzset()
    with output.clocked(lambda: 1_781_530_200.0):
        output.say(f"Since {at}.")
        assert (capsys.readouterr().err, output.when(at)) == (f"Since {at}.\n", at)
        with terminal() as read:
            output.error(f"Held since {at}.", f"`ghp agent-log --at {at}`")
            assert read(b"`\r\n") == (
                "\x1b[31mError:\x1b[0m Held since 15:24, 6 min ago.\r\n"
                f"\x1b[36mHint:\x1b[0m `ghp agent-log --at {at}`\r\n"
            )
    monkeypatch.undo()
    time.tzset()
