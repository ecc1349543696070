"""`-C`, `-q` and `-v` of all commands, before or after the command's name."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from ghp_agents.cli import common_options
from ghp_agents.cli.app import COMMANDS, app
from tests.support.ghp import invoke


@pytest.fixture
def one(repo: Path) -> Path:
    invoke(["agent-issue", "new", "Parse the input"], repo)
    return repo


def commands() -> Iterator[click.Command]:
    context = click.Context(app, info_name="ghp")
    for name in COMMANDS:
        command = app.get_command(context, name)
        assert command is not None
        yield command
        if isinstance(command, click.Group):
            yield from command.commands.values()


def test_no_command_has_an_option_that_means_something_else() -> None:
    ours = {name for option in common_options.HIDDEN for name in option.opts}
    for command in commands():
        own = [param for param in command.params if param not in common_options.HIDDEN]
        names = {name for param in own for name in (*param.opts, *param.secondary_opts)}
        assert names.isdisjoint(ours), command.name
        assert {param.name for param in own}.isdisjoint(
            option.name for option in common_options.HIDDEN
        )


def test_no_command_has_one_option_twice() -> None:
    for command in commands():
        names = [name for param in command.params for name in param.opts]
        assert len(names) == len(set(names)), command.name


@pytest.mark.parametrize(
    "words", ["-C {0} agent-issues", "agent-issues -C {0}", "-C {1} agent-issues -C {2}"]
)
def test_a_command_runs_as_if_started_in_the_folder(one: Path, tmp_path: Path, words: str) -> None:
    line = words.format(one, one.parent, one.name)
    assert invoke(line, tmp_path) == invoke("agent-issues", one)


def test_paths_are_relative_to_the_folder(one: Path, tmp_path: Path) -> None:
    (one / "src").mkdir()
    (one / "src/a.py").write_text("")
    invoke("agent-lease -C src a.py --as worker-1", one)
    assert invoke(f"-C {one}/src agent-check a.py --as worker-2", tmp_path).out.startswith(
        "src/a.py is leased by worker-1"
    )


def test_an_empty_folder_changes_nothing_and_a_missing_one_is_an_error(one: Path) -> None:
    assert invoke(["-C", "", "agent-issues"], one) == invoke("agent-issues", one)
    assert invoke("agent-issues -C no/where", one) == (
        2,
        "",
        "Error: Cannot change to no/where: No such file or directory.\n"
        "Hint: Give -C a folder that exists.\n",
    )


@pytest.mark.parametrize("words", ["-q agent-claim 1", "agent-claim 1 --quiet"])
def test_quiet_prints_only_data(one: Path, words: str) -> None:
    assert invoke(f"{words} --as worker-1", one) == (0, "1\n", "")


def test_quiet_prints_errors_all_the_same(one: Path) -> None:
    code, out, err = invoke("agent-claim 7 --as worker-1 -q", one)
    assert (code, out, err.splitlines()[0]) == (1, "", "Error: There is no issue 7.")


def test_verbose_prints_git_commands_once_and_the_next_command_none(one: Path) -> None:
    code, _, err = invoke("-v agent-issue new Second -v", one)
    lines = [line for line in err.splitlines() if line.startswith("+ git ")]
    assert (code, len(lines) > 0) == (0, True)
    assert len(lines) < 8  # each is told once, though the option was given twice
    assert "+ git" not in invoke("agent-issue new Third", one).err


def test_a_hook_ends_with_0_wherever_the_options_are(one: Path) -> None:
    assert invoke("-q agent-heartbeat --nope", one).code == 0
    assert invoke("agent-heartbeat -C no/where", one).code == 0


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("-C dir -q agent-log -n 3", "agent-log"),
        ("agent-log", "agent-log"),
        ("-Cdir agent-log", "agent-log"),
        ("-q", ""),
        ("-C", ""),
    ],
)
def test_the_first_word_that_is_no_option_is_the_command(words: str, command: str) -> None:
    assert common_options.first_word(words.split()) == command
