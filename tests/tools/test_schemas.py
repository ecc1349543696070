"""The published schemas are those of the code, and what is printed and recorded is as they say."""

import json
import re
import shlex
from collections.abc import Iterator

import click
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from ghp_agents.cli.app import COMMANDS, app
from ghp_agents.cli.outputs.table import OUTPUTS
from ghp_agents.core import front_matter
from ghp_agents.messages import payload
from ghp_agents.messages.payload import SHAPES
from ghp_agents.parts.lists import RECORDS
from tests.support.schemas import breaches, output_of
from tools import schemas
from tools.record import RECORDED

PAGES = schemas.pages()
REMEDY = "Run `make docs` and commit the result."
COMMAND = re.compile(r"\S+@\S+ \$ (.+)|\+\d+")
PLACE = re.compile(r"^(?:-- (\.ghp/.+|lease\.json)|-- .+|== .+)\n", re.MULTILINE)


def printing(name: str, command: click.Command | None) -> Iterator[str]:
    """The commands that have `--json`."""
    assert command is not None
    if any("--json" in parameter.opts for parameter in command.params):
        yield name
    for below, inner in getattr(command, "commands", {}).items():
        yield from printing(f"{name} {below}", inner)


def test_the_published_schemas_are_up_to_date() -> None:
    files = (path for path in schemas.FOLDER.rglob("*") if path.is_file())
    published = {str(path.relative_to(schemas.FOLDER)): path.read_text() for path in files}
    assert published == PAGES, REMEDY


def test_every_command_that_prints_json_has_a_schema() -> None:
    context = click.Context(app)
    names = [word for name in COMMANDS for word in printing(name, app.get_command(context, name))]
    assert {*names, "agent-dashboard"} == OUTPUTS.keys(), "List it in cli/outputs/table.py."


def test_every_folder_of_the_state_has_a_schema() -> None:
    places = [place for place, _, _ in schemas.RECORDS.values()]
    kinds = {place.split("/")[1] for place in places if place.startswith(r"\.ghp/")}
    # Messages are header lines, not JSON: docs/messages.md has them.
    assert RECORDS.keys() - {"inbox", "messages"} <= kinds, "List its records in tools/schemas.py."


@pytest.mark.sample(17)
@pytest.mark.parametrize("name", [name for name in PAGES if name.endswith("json")])
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(json.loads(PAGES[name]))


@pytest.mark.parametrize("name", SHAPES)
def test_the_schema_of_a_topic_takes_what_is_sent_and_refuses_what_is_not(name: str) -> None:
    validator = Draft202012Validator(schemas.topics()[f"topic/{name}.json"])
    shape = SHAPES[name].type
    sent = json.loads(payload.example(shape))
    for value, fits in [
        (sent, True), ({**sent, "schemaVersion": 1}, True), ({**sent, "more": 1}, True),
        ({**sent, "schemaVersion": 2}, False), ({}, False), ([], False),
        *(({**sent, field: {}}, False) for field in shape.__required_keys__),
    ]:  # fmt: skip
        assert validator.is_valid(value) is fits, value
        wrong = payload.problem(shape, value)
        assert (not (wrong or payload.version_problem(value))) is fits, value


def answers(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a recording with their outputs."""
    command, lines = "", list[str]()
    for line in [*text.splitlines(), "+0"]:
        if found := COMMAND.fullmatch(line):
            yield command, "\n".join(lines)
            command, lines = found[1] or "", []
        else:
            lines.append(line)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["alone", "remote", "talk"])
def test_recorded_outputs_are_as_their_schemas_say(name: str) -> None:
    checked = 0
    for command, out in answers((RECORDED / f"{name}.txt").read_text()):
        schema = output_of(shlex.split(command)[1:])
        value = re.sub(r"(^|\n)\[\d\]$", "", out)
        if schema and value:
            checked += 1
            assert (command, breaches(schema, json.loads(value))) == (command, [])
    assert checked > 15


@pytest.mark.slow
@pytest.mark.parametrize("name", ["alone", "remote", "talk"])
def test_recorded_records_are_as_their_schemas_say(name: str) -> None:
    checked = 0
    for command, out in answers((RECORDED / f"{name}.txt").read_text()):
        if command != "state":
            continue
        parts = PLACE.split(out)[1:]
        for path, content in zip(parts[::2], parts[1::2], strict=True):
            if path:
                checked += 1
                assert (path, problems(path, content)) == (path, [])
    assert checked > 10


def problems(path: str, content: str) -> list[str]:
    """What differs in one record from its schema."""
    names = [name for name, (place, _, _) in schemas.RECORDS.items() if re.fullmatch(place, path)]
    if not names:  # a message has header lines: docs/messages.md has them
        is_known = path.endswith(".patch") or path.startswith(".ghp/messages/")
        return [] if is_known else ["It has no schema: list it in tools/schemas.py."]
    if path.endswith(".md"):
        return breaches(f"record/{names[0]}", dict(front_matter.parse(content.encode()).meta))
    value, _ = json.JSONDecoder().raw_decode(content)
    return breaches(f"record/{names[0]}", value)


def test_a_field_that_no_schema_lists_is_found() -> None:
    found = problems(".ghp/reviews/1/a.json", '{"head": 1, "mood": "calm"}')
    assert "$.head: 1 is not of type 'string'" in found
    assert "$: Additional properties are not allowed ('mood' was unexpected)" in found
    assert problems(".ghp/dreams/a.json", "{}") == [
        "It has no schema: list it in tools/schemas.py."
    ]
