"""No option or argument of any command takes a secret to the remote, and nothing else does.

The commands and their parameters are read from the program, so a new one is covered.
"""

import random
import string
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from ghp_agents.cli.app import COMMANDS, app
from ghp_agents.cli.group import Group
from tests.support.ghp import invoke, succeed
from tests.support.git import git


class Line(NamedTuple):
    """A command line with a place for a text."""

    name: str
    words: tuple[str, ...]


def secret(name: str) -> str:
    """A token of GitHub's form that nobody issued; each place has its own."""
    draw = random.Random(name)
    return "gh" + "p_" + "".join(draw.choices(string.ascii_letters + string.digits, k=36))


def lines() -> Iterator[Line]:
    """Each command with each parameter that takes a text; the others have plausible values."""
    context = click.Context(app, info_name="ghp")
    for name in COMMANDS:
        command = app.get_command(context, name)
        if command is not None:
            yield from _of((name,), command)


def _of(path: tuple[str, ...], command: click.Command) -> Iterator[Line]:
    if isinstance(command, Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _of((*path, name), inner)
    for chosen in command.params:
        if _takes_text(chosen):
            yield Line(f"{' '.join(path)} {chosen.name}", (*path, *_words(command, chosen)))


def _takes_text(parameter: click.Parameter) -> bool:
    is_flag = isinstance(parameter, click.Option) and (parameter.is_flag or parameter.count)
    is_closed = isinstance(parameter.type, click.Choice | click.types.IntParamType)
    return not (is_flag or is_closed) and parameter.expose_value


def _words(command: click.Command, chosen: click.Parameter) -> Iterator[str]:
    for parameter in command.params:
        if not (parameter is chosen or parameter.required):
            continue
        value = "text {}" if parameter is chosen else "1"
        if isinstance(parameter, click.Option):
            yield max(parameter.opts, key=len)
        if isinstance(parameter.type, click.Choice) and parameter is not chosen:
            value = str(parameter.type.choices[0])
        yield value


LINES = [*lines()]


def objects(remote: Path) -> bytes:
    """The content of every object that reached the remote, and the names of its refs."""
    done = subprocess.run(
        ["git", "-C", str(remote), "cat-file", "--batch-all-objects", "--batch", "--buffer"],
        capture_output=True,
        check=True,
    )
    return done.stdout + git(remote, "for-each-ref").encode()


@pytest.mark.slow
def test_no_parameter_of_any_command_takes_a_secret_to_the_remote(
    clone: Path, remote: Path
) -> None:
    assert len(LINES) > 150
    succeed(clone, "agent-whoami --set worker-1", "agent-issue new One", "agent-issue new Two")
    codes = {}
    for line in LINES:
        words = [word.replace("{}", secret(line.name)) for word in line.words]
        codes[line.name] = invoke(words, clone).code
    succeed(clone, "agent-sync")
    stored = objects(remote)
    assert [line.name for line in LINES if secret(line.name).encode() in stored] == []
    assert b"One" in stored
    assert sum(code == 2 for code in codes.values()) > 100


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["agent-claim", "1", "--reason", "{}"], "The option --reason"),
        (["agent-lease", "src/", "--reason", "with {}"], "The option --reason"),
        (["agent-lease", "{}"], "The argument"),
        (["agent-release", "1", "--reason", "{}"], "The option --reason"),
        (["agent-issue", "new", "{}"], "The argument TITLE"),
    ],
)
def test_the_error_names_the_option_and_not_the_secret(
    repo: Path, words: list[str], shown: str
) -> None:
    succeed(repo, "agent-whoami --set worker-1", "agent-issue new One")
    token = secret("typed")
    done = invoke([word.replace("{}", token) for word in words], repo)
    assert done.code == 2
    assert done.err.splitlines()[0].lower().startswith(f"error: {shown}".lower())
    assert "seems to contain a GitHub token" in done.err
    assert token not in done.err


@pytest.mark.slow
def test_a_branch_and_a_file_with_a_secret_in_their_name_are_published_without_it(
    clone: Path, remote: Path
) -> None:
    token, path = secret("branch"), secret("file")
    succeed(clone, "agent-whoami --set worker-1", "agent-issue new One", "agent-claim 1")
    git(clone, "switch", "-qc", f"agent/worker-1/{token}")
    (clone / f"{path}.txt").write_text("one\n")
    succeed(clone, "agent-heartbeat --action edits --progress")
    invoke("agent-handoff --checkpoint --note Half", clone)
    succeed(clone, "agent-sync")
    stored = objects(remote)
    assert token.encode() not in stored
    assert path.encode() not in stored
    assert b"worker-1" in stored


def test_a_text_on_standard_input_is_looked_through(repo: Path) -> None:
    succeed(repo, "agent-whoami --set worker-1", "agent-issue new One")
    done = invoke("agent-issue comment 1 -", repo, stdin=f"use {secret('stdin')}\n")
    assert done.code == 2
    assert "seems to contain a GitHub token" in done.err
