"""A file that an agent is refused can be asked for, and nothing else."""

import json
from pathlib import Path

import pytest

from tests.support.ghp import invoke, succeed
from tests.support.leases import furnish


@pytest.fixture
def here(repo: Path) -> Path:
    succeed(furnish(repo), "agent-init", "agent-lease src/ --as w-b")
    return repo


@pytest.mark.slow
def test_the_refusal_names_the_command_that_asks(here: Path) -> None:
    refused = invoke("agent-check src/a.py --as w-a", here)
    assert "or ask: `ghp agent-escalate --file src/a.py`." in refused.out
    result = invoke("agent-escalate --file a.py --as w-a", here / "src")
    name = result.out.strip()
    assert (result.code, result.err) == (
        0, f"✓ Asked {name}. To answer: ghp agent-answer {name} TEXT\n",
    )  # fmt: skip
    for again in ("", "'It has a bug.'"):  # a reason does not make it another question
        assert invoke(f"agent-escalate {again} --file src/a.py --as w-a", here).out == result.out
    (question,) = json.loads(invoke("agent-escalations --json", here).out)
    assert (question["question"], question["options"]) == (
        "May I change src/a.py, leased by w-b?", ["yes", "no"],
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "'May I change src/a.py?'",
        "'May I edit `src/a.py`, leased by w-b?'",
        "'may I change src/a.py?' --option yes --option no",
    ],
)
def test_own_words_ask_for_the_file_and_a_yes_is_carried_out(here: Path, words: str) -> None:
    result = invoke(f"agent-escalate {words} --as w-a", here)
    assert result.out == invoke("agent-escalate --file src/a.py --as w-a", here).out
    succeed(here, f"agent-answer {result.out.strip()} yes")
    assert invoke("agent-check src/a.py --as w-a", here).code == 0
    assert invoke("agent-check src/a.py --as w-b", here).code == 3


@pytest.mark.parametrize(
    "words",
    [
        "'May I change docs/a.md?'",  # nobody has it
        "'May I change src/a.py? Or is b.py better?'",
        "'May I change src/a.py?' --option now --option later",
        "'May I change ../../x?'",
    ],
)
def test_other_words_stay_an_ordinary_question(here: Path, words: str) -> None:
    succeed(here, f"agent-escalate {words} --as w-a")
    (question,) = json.loads(invoke("agent-escalations --json", here).out)
    assert question["options"] != ["yes", "no"]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("--file docs/a.md", "Error: You may change docs/a.md: nobody else holds it.\n"),
        ("--file src", "Error: src is not the name of one file.\n"),
        ("--file ../x", "Error: '../x' is outside this repository.\n"),
        (
            "--file src/a.py --option maybe",
            "Error: --option cannot be used with --file: its answers are yes and no.\n",
        ),
        ("", "Error: The question is missing.\n"),
    ],
)
def test_what_cannot_be_asked_is_explained(here: Path, line: str, error: str) -> None:
    result = invoke(f"agent-escalate {line} --as w-a", here)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(error)
    assert "Hint: " in result.err


def test_the_holder_itself_has_nothing_to_ask(here: Path) -> None:
    assert invoke("agent-escalate --file src/a.py --as w-b", here).code == 2


@pytest.mark.slow
def test_the_question_is_on_its_issue_with_what_was_done(here: Path) -> None:
    succeed(here, "agent-issue new Parse")
    result = invoke("agent-escalate --file src/a.py --issue 1 --as w-a", here)
    succeed(
        here, f"agent-answer {result.out.strip()} yes", f"agent-answer {result.out.strip()} yes"
    )
    shown = invoke("agent-issue show 1", here).out
    assert shown.count(f"{result.out.strip()}: w-a may change src/a.py.") == 1
