"""A client that names no session is known by its mark, or by the program of its process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ghp_agents.hotpath import calling_client, heartbeat

CHECKOUT = Path(__file__).parents[2]
# A client: it runs each of its arguments in a shell of its own, with its mark in the environment.
CLIENT = """
import os, subprocess, sys
os.environ.update(word.split("=") for word in {marks!r})
for command in sys.argv[1:]:
    subprocess.run(["sh", "-c", command + "; true"], check=True)
"""
ASK = (
    "import json, os; from ghp_agents.hotpath import calling_client as c; "
    "print(json.dumps(c.session(os.environ)))"
)
needs_proc = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="this system shows no processes in /proc"
)


def run(folder: Path, program: str, *marks: str, times: int = 1, **environ: str) -> list[object]:
    """What commands in the shells of one process of this client learn of it."""
    script = folder / program
    script.write_text(CLIENT.format(marks=marks))
    ask = f"{sys.executable} -c '{ASK}'"
    env = {k: v for k, v in os.environ.items() if k != calling_client.SWITCH} | environ
    done = subprocess.run(
        [sys.executable, script, *[ask] * times],
        cwd=CHECKOUT, env=env, stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.slow
@needs_proc
def test_all_commands_of_a_marked_client_belong_to_one_session(tmp_path: Path) -> None:
    first, second = run(tmp_path, "any.js", "GEMINI_CLI=1", times=2)
    (other,) = run(tmp_path, "any.js", "GEMINI_CLI=1")
    assert first == second
    assert isinstance(first, list)
    assert isinstance(other, list)
    assert (first[0], other[0]) == ("gemini", "gemini")
    assert first[1] != other[1]


@needs_proc
@pytest.mark.parametrize("program", ["aider", "gemini.js", "qwen"])
def test_a_client_without_a_mark_is_known_by_its_program(tmp_path: Path, program: str) -> None:
    first, second = run(tmp_path, program, times=2)
    assert first == second
    assert isinstance(first, list)
    assert first[0] == program.partition(".")[0]


@pytest.mark.slow
@needs_proc
def test_ancestors_are_not_looked_at_where_that_is_switched_off(tmp_path: Path) -> None:
    assert run(tmp_path, "aider", GHP_ANCESTORS="0") == [None]
    assert run(tmp_path, "build.py", GHP_ANCESTORS="0") == [None]


@pytest.mark.parametrize(("kind", "variable"), calling_client.MARKS)
def test_each_mark_names_its_client(kind: str, variable: str) -> None:
    assert calling_client.mark({variable: "1"}) == (kind, variable)
    assert heartbeat.session({variable: "1"})[0] == kind
    assert heartbeat.session({variable: "1", "GHP_SESSION": "abc"}) == (kind, "abc")


def test_a_person_can_say_so_in_a_shell_with_a_mark() -> None:
    assert heartbeat.session({"GEMINI_CLI": "1", "GHP_PERSON": "1"}) == ("shell", None)
    assert heartbeat.session({"GHP_ANCESTORS": "0"}) == ("shell", None)
