"""`--json FIELDS` and `--jq EXPR`: as in gh, for each command that prints JSON."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from ghp_agents.cli.app import COMMANDS, app
from ghp_agents.cli.json_choice import fields_of, option, spelled
from ghp_agents.core.extras import how_to_install
from tests.support.ghp import Result, invoke

EXTRA = "the extra `jq` is not installed"


@pytest.fixture
def two(repo: Path) -> Path:
    invoke(["agent-issue", "new", "Parse the input"], repo)
    invoke(["agent-issue", "new", "Print the output"], repo)
    return repo


def commands() -> Iterator[tuple[str, click.Command]]:
    program = click.Context(app, info_name="ghp")
    for name in COMMANDS:
        command = app.get_command(program, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{name} {word}", child) for word, child in command.commands.items())
        else:
            yield name, command


WITH_JSON = [
    (path, command)
    for path, command in commands()
    if any(p.name == "as_json" or "--json" in p.opts for p in command.params)
]


def test_each_command_that_prints_json_has_both_options_and_known_fields() -> None:
    assert len(WITH_JSON) > 25
    for path, command in WITH_JSON:
        names = {name for param in command.params for name in param.opts}
        assert ({"--json", "--jq"} <= names, fields_of(f"ghp {path}") != []) == (True, True), path


def test_only_the_named_fields_are_printed_in_their_order(two: Path) -> None:
    code, out, _ = invoke("agent-issues --json title,number", two)
    assert (code, json.loads(out)) == (
        0, [{"title": "Parse the input", "number": 1}, {"title": "Print the output", "number": 2}]
    )  # fmt: skip
    assert list(json.loads(out)[0]) == ["title", "number"]


def test_fields_follow_an_argument_and_a_missing_one_is_null(two: Path) -> None:
    _, out, _ = invoke("agent-issue show 1 --json state,claim", two)
    assert json.loads(out) == {"state": "open", "claim": None}


def test_json_before_an_argument_takes_no_field_from_it(two: Path) -> None:
    assert json.loads(invoke("agent-issue show --json 2", two).out)["number"] == 2


def test_fields_of_the_status_are_those_of_each_agent(two: Path) -> None:
    invoke("agent-heartbeat --as worker-1 --status testing", two)
    _, out, _ = invoke("agent-status --json agent,status", two)
    assert json.loads(out) == [{"agent": "worker-1", "status": "testing"}]
    _, out, _ = invoke("agent-status --json worker-1", two)
    assert list(json.loads(out)["agents"]) == ["worker-1"]


def test_an_unknown_field_is_an_error_that_lists_the_fields(two: Path) -> None:
    assert invoke("agent-pulls --json=number,\x1bnope", two) == (
        2,
        "",
        "Error: `ghp agent-pulls` has no JSON field 'nope'.\n"
        f"Hint: Fields: {', '.join(fields_of('ghp agent-pulls'))}.\n",
    )  # fmt: skip


def test_an_unknown_field_stops_a_command_before_it_does_anything(two: Path) -> None:
    assert invoke("agent-claim 1 --json=nope --as worker-1", two).code == 2
    assert json.loads(invoke("agent-issues --json claim,number", two).out)[0]["claim"] is None


@click.command()
@click.option("--body")
@click.option("--flag", is_flag=True)
@option("Print it.")
def no_arguments(**_: object) -> None:
    """Take options only."""


@click.command()
@click.argument("number")
@option("Print it.")
def one_argument(**_: object) -> None:
    """Take a number."""


@click.command()
@click.argument("paths", nargs=-1)
@option("Print it.")
def any_arguments(**_: object) -> None:
    """Take any words."""


@pytest.mark.parametrize(
    ("command", "words", "meant"),
    [
        (no_arguments, "--json", "--json="),
        (no_arguments, "--json a,b --flag", "--json=a,b --flag"),
        (no_arguments, "--json --flag", "--json= --flag"),
        (no_arguments, "--json=a --flag", "--json=a --flag"),
        (no_arguments, "--body --json", "--body --json"),
        (no_arguments, "--jq --json --json", "--jq --json --json="),
        (one_argument, "--json 3", "--json= 3"),
        (one_argument, "3 --json title,nope", "3 --json=title,nope"),
        (one_argument, "3 --json nope", "3 --json= nope"),
        (one_argument, "-- --json", "-- --json"),
        (any_arguments, "--json title", "--json= title"),
        (any_arguments, "--json=title a.py", "--json=title a.py"),
    ],
)
def test_the_word_after_json_is_fields_only_where_it_can_be_nothing_else(
    command: click.Command, words: str, meant: str
) -> None:
    assert " ".join(spelled(command, "ghp agent-issue show", words.split())) == meant


@pytest.mark.parametrize(
    ("words", "out"),
    [
        ("--jq .[0].title", "Parse the input\n"),
        ("--json --jq .[1].title", "Print the output\n"),
        (["--jq", '"\\u001b[31m"'], "�[31m\n"),
        ("--jq .[].number", "1\n2\n"),
        ("--json number,claim --jq .[0]", '{"number": 1, "claim": null}\n'),
        ("--jq .[0].claim", "\n"),
        ("--jq empty", ""),
    ],
)
def test_jq_prints_text_as_it_is_and_all_else_as_json(
    two: Path, words: str | list[str], out: str
) -> None:
    pytest.importorskip("jq", reason=EXTRA)
    assert invoke(["agent-issues", *(words.split() if isinstance(words, str) else words)], two) == (
        0,
        out,
        "",
    )


def test_jq_reads_each_event_of_a_log(two: Path) -> None:
    pytest.importorskip("jq", reason=EXTRA)
    events = json.loads(invoke("agent-log --json=event", two).out)
    assert invoke("agent-log --jq .[].event", two).out.split() == [
        event["event"] for event in events
    ]


def test_a_wrong_expression_is_an_error_before_anything_is_done(two: Path) -> None:
    pytest.importorskip("jq", reason=EXTRA)
    code, out, err = invoke("agent-claim 1 --as worker-1 --jq .[", two)
    assert (code, out, err.startswith("Error: --jq: syntax error"), err.count("\n")) == (
        2, "", True, 2
    )  # fmt: skip
    assert json.loads(invoke("agent-issues --json claim,number", two).out)[0]["claim"] is None


def test_an_expression_that_does_not_fit_is_an_error_with_its_reason(two: Path) -> None:
    pytest.importorskip("jq", reason=EXTRA)
    assert invoke("agent-issues --jq .title", two) == (
        1,
        "",
        'Error: --jq: Cannot index array with string ("title").\n'
        "Hint: See the JSON without it: `--json`.\n",
    )


def test_without_the_package_the_error_says_what_to_install(
    two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jq", None)
    assert invoke("agent-issues --jq .", two) == Result(
        2,
        "",
        "Error: --jq needs the Python package jq, which is not installed.\n"
        "Hint: Use the program: `… --json | jq EXPR`. Or install the package: "
        f"{how_to_install('jq')}\n",
    )
