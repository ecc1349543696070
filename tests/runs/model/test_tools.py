"""The model's tools in a real worktree."""

import os
from pathlib import Path

import pytest

from ghp_agents.runs.model.files import ToolError
from ghp_agents.runs.model.tools import NAMES, OUTPUT_LIMIT, Toolbox, ToolResult, definitions


@pytest.fixture
def box(repo: Path) -> Toolbox:
    (repo / "src").mkdir()
    (repo / "src/a.py").write_text("one = 1\ntwo = 2\nthree = 3\n")
    return Toolbox(repo, {**os.environ, "SOME_TOKEN": "s3cret-value-here"})


def use(box: Toolbox, name: str, **given: object) -> ToolResult:
    _, act = box.prepare(name, given)
    return act()


def test_each_tool_is_described() -> None:
    assert [x["function"]["name"] for x in definitions()] == [*NAMES]


def test_files_are_listed_searched_and_read(box: Toolbox) -> None:
    assert use(box, "list", path="src") == ToolResult("a.py")
    assert "src/" in use(box, "list").text.splitlines()
    assert ".git/" not in use(box, "list").text
    assert use(box, "search", pattern="t[wh]").text.splitlines() == [
        "src/a.py:2:two = 2", "src/a.py:3:three = 3",
    ]  # fmt: skip
    assert use(box, "search", pattern="four") == ToolResult("Nothing was found.")
    assert use(box, "read", path="src/a.py").text == "one = 1\ntwo = 2\nthree = 3\n"
    assert use(box, "read", path="src/a.py", offset="2", limit=1).text == (
        "two = 2\n\n[lines 2 to 2 of 3; continue with offset 3]"
    )
    assert use(box, "read", path="src/a.py", offset=9).text == "[no lines]"


def test_a_hook_sees_the_whole_file_before_it_is_written(box: Toolbox, repo: Path) -> None:
    given, act = box.prepare(
        "edit", {"path": "src/a.py", "old_string": "two = 2", "new_string": "two = 4"}
    )
    path = repo / "src/a.py"
    assert given == {"path": str(path), "content": "one = 1\ntwo = 4\nthree = 3\n"}
    assert "two = 2" in path.read_text()
    assert act() == ToolResult("Wrote a.py, 3 lines.")
    assert path.read_text() == given["content"]


def test_a_command_runs_in_the_worktree(box: Toolbox) -> None:
    assert use(box, "run", command="pwd; ls src").text.endswith("\na.py")
    assert use(box, "run", command="exit 3") == ToolResult("[exit code 3]", True)
    assert use(box, "run", command="echo $SOME_TOKEN") == ToolResult("***")
    assert use(box, "run", command="true") == ToolResult("[no output]")
    assert use(box, "run", command="printf '\\033[31mred'") == ToolResult("red")


def test_a_command_that_takes_too_long_is_ended_with_its_children(box: Toolbox) -> None:
    result = use(box, "run", command="sleep 987654 & echo on; sleep 987654", timeout=1)
    assert result == ToolResult("on\n[it was ended after 1 s]", True)


def test_outputs_are_bounded(box: Toolbox, repo: Path) -> None:
    (repo / "long").write_text("x" * 100_000)
    (repo / "lines").write_text("yes\n" * 100_000)
    for name in range(600):
        (repo / "src" / str(name)).touch()
    results = [
        use(box, "read", path="long"), use(box, "read", path="lines", limit=50_000),
        use(box, "run", command="cat long long"), use(box, "search", pattern="x"),
    ]  # fmt: skip
    assert [len(x.text) < OUTPUT_LIMIT + 100 for x in results] == [True] * 4
    assert "continue with offset 5001]" in results[1].text
    assert use(box, "list", path="src").text.endswith("… and 101 more")


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("rm", {}), ("read", {}), ("read", {"path": 7}), ("run", {"command": ["ls"]}),
        ("write", {"path": "x"}), ("write", {"path": "../x", "content": ""}),
        ("search", {"pattern": "x", "path": "/etc"}), ("list", {"path": "src/a.py"}),
        ("search", {"pattern": "("}), ("run", {"command": "a\0b"}),
    ],
)  # fmt: skip
def test_a_wrong_call_is_told_to_the_model(
    box: Toolbox, name: str, given: dict[str, object]
) -> None:
    with pytest.raises(ToolError) as refused:
        use(box, name, **given)
    assert str(refused.value)
