"""`agent-inbox --follow` as a process: what it prints, runs, and how it ends."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import pytest

from tests.support.ghp import CHECKOUT, invoke, succeed

SECONDS = 60  # then it is killed


@contextmanager
def following(repo: Path, *words: str) -> "Iterator[subprocess.Popen[str]]":
    """A process that follows worker-2's inbox; it is killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ghp_agents", "agent-inbox", "--follow", *words],
        cwd=repo, env={**os.environ, "PYTHONPATH": str(CHECKOUT), "GHP_AGENT": "worker-2"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    alarm = Timer(SECONDS, process.kill)
    alarm.start()
    with process:
        try:
            yield process
        finally:
            alarm.cancel()
            process.kill()


def line(process: "subprocess.Popen[str]") -> str:
    """The next line that is printed."""
    assert process.stdout is not None
    return process.stdout.readline()


def sent(repo: Path, *words: str) -> str:
    done = invoke(("agent-send", "worker-2", *words, "--as", "worker-1"), repo)
    assert done.code == 0, done.err
    return done.out.strip()


@pytest.fixture
def hall(repo: Path) -> Path:
    """A repository with worker-1 and worker-2."""
    succeed(repo, *(f"agent-heartbeat --as worker-{n}" for n in (1, 2)))
    return repo


@pytest.mark.slow
def test_it_prints_each_message_once_as_it_comes_until_it_is_interrupted(hall: Path) -> None:
    name = sent(hall, "FYI", "--body", "main is red")
    with following(hall) as process:
        assert line(process) == f"Note {name} by agent worker-1: «FYI»:\n"
        assert [line(process), line(process)] == ["> main is red\n", "This is information only.\n"]
        reply = sent(hall, "It is green", "--reply-to", name)
        shown = line(process) + line(process)
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=SECONDS)
    assert shown == (
        f"Note {reply} by agent worker-1, a reply to {name}: «It is green».\n"
        "This is information only.\n"
    )
    assert (process.returncode, rest) == (0, ("", ""))
    assert invoke("agent-status", hall, {"GHP_AGENT": "worker-2"}).out.count("FYI") == 0


@pytest.mark.slow
def test_for_programs_each_message_is_one_line(hall: Path) -> None:
    with following(hall, "--json") as process:
        name = sent(hall, "Line\u2028two", "--body", "a\n\nb")
        shown = json.loads(line(process))
    assert (shown["id"], shown["body"]) == (name, "a\n\nb")


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_it_and_its_command_and_the_message_is_handed_over_again(
    hall: Path, number: signal.Signals, code: int
) -> None:
    name = sent(hall, "Long work")
    script = "echo $GHP_MESSAGE; exec sleep 600"
    with following(hall, "--exec", script) as process:
        assert line(process) == f"{name}\n"
        process.send_signal(number)
        out, err = process.communicate(timeout=SECONDS)  # the command has let go of the pipes
    assert (process.returncode, out, err) == (code, "", "")
    with following(hall, "--exec", script) as process:
        assert line(process) == f"{name}\n"


@pytest.mark.slow
def test_it_ends_when_nobody_reads_any_more(hall: Path) -> None:
    with following(hall) as process:
        sent(hall, "FYI")
        line(process)
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(SECONDS) == 0


@pytest.mark.slow
def test_a_command_reads_the_message_and_its_failure_is_said(hall: Path) -> None:
    hostile = "'; echo pwned $(id) `id`"
    request = sent(hall, "First")
    script = 'cat; echo "$GHP_AGENT $GHP_MESSAGE $GHP_REPLY_TO"; ! mkdir first 2>&-'
    with following(hall, "--exec", script) as process:
        assert [json.loads(line(process))["subject"], line(process)] == [
            "First", f"worker-2 {request} \n",
        ]  # fmt: skip
        assert json.loads(line(process))["subject"] == "First"
        line(process)
        name = sent(hall, hostile, "--reply-to", request)
        assert json.loads(line(process))["subject"] == hostile
        assert line(process) == f"worker-2 {name} {request}\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    assert (out, err) == ("", f"Warning: {request}: the command ended with 1.\n")


@pytest.mark.slow
def test_a_command_that_takes_too_long_is_ended_and_the_message_counts_as_told(hall: Path) -> None:
    name = sent(hall, "Long work")
    script = "echo $GHP_MESSAGE; sleep 600"
    with following(hall, "--exec", script, "--exec-timeout", "1s") as process:
        assert line(process) == f"{name}\n"
        later = sent(hall, "Later")
        assert line(process) == f"{later}\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=SECONDS)
    assert err.splitlines()[:2] == [
        f"Warning: {name}: the command was ended after 1 s; the message counts as delivered.",
        f"Hint: `ghp agent-inbox read {name}` shows it. Longer: --exec-timeout.",
    ]


@pytest.mark.slow
@pytest.mark.long
def test_for_programs_an_overdue_request_is_one_line(hall: Path) -> None:
    name = invoke(
        "agent-send worker-1 Fix --kind request --ack-within 1s --as worker-2", hall
    ).out.strip()
    with following(hall, "--json") as process:
        shown = json.loads(line(process))
    assert (shown["id"], shown["kind"]) == (name, "overdue")
    assert shown["text"].startswith(f"Nobody has begun with your {name} «Fix» to worker-1 in time")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("--exec cat", "--exec needs --follow."),
        ("--follow --all", "--follow excludes --all, --sent, --topic and --at."),
        ("--follow --exec cat --json", "--exec excludes --json."),
        ("--follow --as @me", "'@me' is not a valid agent name."),
    ],
)
def test_what_does_not_fit_together_is_a_usage_error(repo: Path, words: str, error: str) -> None:
    code, out, err = invoke(f"agent-inbox {words}", repo)
    assert (code, out) == (2, "")
    assert err.startswith(f"Error: {error}")
    assert "\nHint: " in err
