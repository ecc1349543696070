"""The pages about clients say what is installed, and which clients were run for real."""

import re
from pathlib import Path

import click
import pytest

from ghp_agents.cli.app import COMMANDS, app
from ghp_agents.integrations.clients.hook_entries import HOMES
from tools import client_docs, clients

PAGES = {path.stem: path.read_text() for path in client_docs.PAGES.glob("*.md")}
each_page = pytest.mark.parametrize("name", PAGES)


def test_every_client_and_git_has_a_page() -> None:
    assert sorted(PAGES) == sorted([*HOMES, "git"])


@each_page
def test_what_is_said_to_be_installed_is_what_is_installed(name: str) -> None:
    assert client_docs.with_section(PAGES[name], client_docs.section(name)) == PAGES[name], (
        "Run `make docs` and commit the result."
    )


def test_only_what_is_between_the_marks_is_replaced() -> None:
    page = f"Above.\n{client_docs.BEGIN}\nold\n{client_docs.END}\nBelow.\n"
    assert client_docs.with_section(page, "new") == page.replace("old", "new")
    with pytest.raises(AssertionError, match="the page needs the lines"):
        client_docs.with_section("Nothing.\n", "new")


@each_page
def test_a_page_says_whether_the_client_was_run_for_real(name: str) -> None:
    said = " ".join(PAGES[name].split())
    if name in clients.CLIENTS:
        version = re.escape(clients.CLIENTS[name].version)
        assert re.search(
            rf"Run for real: the tests drive [A-Z]?[A-Za-z ]+ {version} (\(`[^`]+`\) )?with", said
        )
    elif name == "git":
        assert "Run for real" in said
    else:
        assert "**Built from its documentation alone; no test runs" in said
        assert "Run for real" not in said


@each_page
def test_a_page_tells_what_is_enforced_what_is_not_and_how_it_goes(name: str) -> None:
    headings = re.findall(r"^#.*", PAGES[name], re.MULTILINE)
    more = ["## A session that rests"] if name in ("claude", "codex") else []
    more += ["## In Codex's sandbox"] if name == "codex" else []
    assert [each for each in headings if each.startswith("## ")] == [
        *more,
        "## What is installed",
        "## What is enforced",
        "## What is not",
        "## Remove it",
    ]
    assert f"ghp agent-init --hooks {name} --remove" in PAGES[name]
    if name != "git":
        assert "**What a shell command writes" in PAGES[name]


@each_page
def test_every_command_and_every_page_that_is_named_is_there(name: str) -> None:
    for words in re.findall(r"ghp (agent-[^`#\n]*)", PAGES[name]):
        word, *rest = words.split()
        assert word in COMMANDS
        command = app.get_command(click.Context(app), word)
        assert command is not None
        known = {option for each in command.params for option in each.opts}
        assert {each for each in rest if each.startswith("--")} <= known
    for link in re.findall(r"\]\(([^)]*)\)", PAGES[name]):
        assert Path(client_docs.PAGES, link.partition("#")[0]).is_file()
