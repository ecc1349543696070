"""The status line: the user's own first, whatever becomes of ours, and back to what it was."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.core.jsonc import parse
from ghp_agents.integrations.clients.statusline import (
    ParsedStatusLine,
    ours,
    own_command,
    put,
    remove_line,
    wrapped,
)

OWN: dict[str, Any] = {
    "type": "command",
    "command": "~/.claude/line.sh | tr 'a' \"b\"",
    "padding": 0,
}
EXACT = '{ "type":"command", "command":"echo \\u00e9" }'  # as no program would write it again


def test_without_one_of_the_users_ours_is_called_directly() -> None:
    text = put("{}", "/py", None)
    assert parse(text).value == {
        "statusLine": {"type": "command", "command": "/py -P -m ghp_agents hook claude-statusline"}
    }
    assert remove_line(text) == "{}"


def test_one_that_stands_in_the_file_is_put_back_to_the_byte() -> None:
    before = '{\n  "a": 1,\n  "statusLine": ' + EXACT + ",\n}\n"
    after = put(before, "/py", {"type": "command", "command": "of the user"})
    line = ours(parse(after).value["statusLine"])
    assert line == ParsedStatusLine("/py", "echo é", EXACT)
    assert put(after, "/py", None) == after
    assert remove_line(after) == before


def test_one_of_a_file_that_counts_less_is_run_by_ours_with_its_options() -> None:
    text = put('{"a": 1}', "/py", OWN)
    value = parse(text).value["statusLine"]
    assert ours(value) == ParsedStatusLine("/py", OWN["command"])
    assert (value["padding"], own_command(value)) == (0, OWN["command"])
    assert put(text, "/py", OWN) == text
    assert remove_line(text) == '{"a": 1}'


def test_when_theirs_or_the_interpreter_changes_ours_follows() -> None:
    text = put(put('{"a": 1}', "/py", OWN), "/new/py", {"type": "command", "command": "date"})
    assert ours(parse(text).value["statusLine"]) == ParsedStatusLine("/new/py", "date")
    assert remove_line(text) == '{"a": 1}'


@pytest.mark.parametrize("value", [None, "x", {}, {"command": 1}, {"command": "a 'b"}, OWN])
def test_what_is_not_ours_is_left_alone(value: Any) -> None:
    assert ours(value) is None
    text = json.dumps({"statusLine": value})
    assert remove_line(text) == text


# ------------------------------------------------------------------------------ running it


def run(value: dict[str, Any], home: Path) -> tuple[int, str]:
    """What Claude Code gets for a status line."""
    done = subprocess.run(
        value["command"], shell=True, input='{"cwd": "/x", "model": "m"}',
        capture_output=True, text=True, env=os.environ | {"HOME": str(home)}, timeout=30,
    )  # fmt: skip
    assert done.stderr == ""
    return done.returncode, done.stdout


@pytest.fixture
def python(tmp_path: Path) -> str:
    """An interpreter that answers as our entry would: with what it was called with."""
    path = tmp_path / "a python"
    path.write_text(
        f"#!{sys.executable}\nimport sys\n"
        "print('ours', len(sys.stdin.read()), *sys.argv[1:], end='')\n"
    )
    path.chmod(0o755)
    return str(path)


SAID = "ours 27 -P -m ghp_agents hook claude-statusline"


def test_the_users_own_comes_first_and_both_read_the_same(python: str, home: Path) -> None:
    value = wrapped(python, {"type": "command", "command": "wc -c | tr -d ' '"})
    assert run(value, home) == (0, f"27\033[0m · {SAID}")


def test_alone_ours_is_all_there_is(python: str, home: Path) -> None:
    assert run(wrapped(python, None), home) == (0, SAID)
    silent = wrapped(python, {"type": "command", "command": "exit 3"})
    assert run(silent, home) == (0, SAID)


def test_of_several_lines_ours_is_on_the_last(python: str, home: Path) -> None:
    value = wrapped(python, {"type": "command", "command": "echo one; echo two"})
    assert run(value, home) == (0, f"one\ntwo\033[0m · {SAID}")


def test_when_ours_is_gone_theirs_is_printed_as_ever(home: Path) -> None:
    value = wrapped("/nonexistent/python", {"type": "command", "command": "printf '%s' 'a \"b'"})
    assert run(value, home) == (0, 'a "b')


def test_what_theirs_says_in_bash_is_understood(python: str, home: Path) -> None:
    value = wrapped("/nonexistent", {"type": "command", "command": "[[ a == a* ]] && echo yes"})
    assert run(value, home) == (0, "yes")
