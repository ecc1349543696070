"""Two agents at work: git merges what they did, and `agent-conflicts` says what then is missing."""

import json
from pathlib import Path

import pytest

from tests.support.definitions import EXTRA
from tests.support.ghp import invoke
from tests.support.rivals import agent, base, write

pytest.importorskip("tree_sitter", reason=EXTRA)

PARSER = (
    "def parse_line(text):\n    return text.split(',')\n\n\ndef parse_file(path):\n    return 1\n"
)
CLI = "from tool.parser import parse_line\n\n\ndef main():\n    return 1\n"


@pytest.fixture
def two_agents(repo: Path) -> Path:
    """worker-1 renames a function everywhere; worker-2 calls it in a line that is not committed."""
    base(repo, {"tool/parser.py": PARSER, "tool/cli.py": CLI})
    renamed = {"tool/parser.py": PARSER, "tool/cli.py": CLI}
    agent(
        repo,
        "worker-1",
        1,
        {path: text.replace("parse_line", "parse_row") for path, text in renamed.items()},
    )
    agent(repo, "worker-2", 2, changed={"tool/cli.py": CLI.replace("1", "parse_line('a,b')")})
    return repo


@pytest.mark.slow
def test_the_warning_names_both_agents_both_places_and_the_new_name(two_agents: Path) -> None:
    assert invoke("agent-conflicts", two_agents) == (
        0,
        "",
        "Warning: worker-1 renamed the function parse_line of tool/parser.py to parse_row, and "
        "worker-2 uses it in tool/cli.py, line 5. Git merges both without a conflict.\n"
        "Compared the work of 2 agents: nothing conflicts.\n",
    )


@pytest.mark.slow
def test_it_ends_when_the_second_agent_uses_the_new_name(two_agents: Path) -> None:
    write(
        two_agents.parent / "repo-worker-2",
        {"tool/cli.py": CLI.replace("1", "parse_row('a,b')").replace("_line", "_row")},
    )
    assert invoke("agent-conflicts", two_agents) == (
        0, "", "Compared the work of 2 agents: nothing conflicts.\n",
    )  # fmt: skip


@pytest.mark.slow
def test_the_json_has_the_definition_and_its_use(two_agents: Path) -> None:
    shown = invoke("agent-conflicts --json", two_agents)
    assert shown.code == 0
    (warning,) = json.loads(shown.out)["warnings"]
    assert warning.pop("text").startswith("worker-1 renamed the function parse_line of ")
    assert warning == {
        "agents": ["worker-1", "worker-2"],
        "path": "tool/cli.py",
        "line": 5,
        "lines": [5],
        "definition": {
            "name": "parse_line",
            "kind": "function",
            "path": "tool/parser.py",
            "line": 1,
            "newName": "parse_row",
            "newPath": None,
        },
    }


def test_comparing_with_the_main_branch_alone_warns_of_nothing(two_agents: Path) -> None:
    assert invoke("agent-conflicts --trunk", two_agents) == (
        0, "", "Compared the work of 2 agents: nothing conflicts.\n",
    )  # fmt: skip
