"""The report of agents' work names the definitions that a merge would lack."""

from pathlib import Path

import pytest

from tests.support.definitions import EXTRA
from tests.support.git import commit
from tests.support.rivals import agent, base, described, survey

pytest.importorskip("tree_sitter", reason=EXTRA)

UTIL = "def helper(text):\n    return text.strip()\n\n\ndef other():\n    return 1\n"
USE = "from util import helper\n\n\ndef use():\n    return 1\n"
RENAMED = {"util.py": UTIL.replace("helper", "assist"), "use.py": USE.replace("helper", "assist")}
USED = {"use.py": USE.replace("return 1", "return helper('x')")}


def warned(repo: Path, name: str | None = None) -> list[str]:
    return [warning.text for warning in survey(repo, name).warnings]


@pytest.mark.slow
def test_a_renamed_definition_is_a_warning_and_no_conflict(repo: Path) -> None:
    base(repo, {"util.py": UTIL, "use.py": USE})
    agent(repo, "worker-1", 1, RENAMED)
    agent(repo, "worker-2", 2, changed=USED)
    agent(repo, "worker-3", 3, {"c.py": "x = 1\n"})
    report = survey(repo)
    assert (described(report), report.is_clean) == ([], True)
    (warning,) = report.warnings
    assert warning.agents == ("worker-1", "worker-2")
    assert (warning.path, warning.line, warning.lost.line) == ("use.py", 5, 1)
    assert warning.text == (
        "worker-1 renamed the function helper of util.py to assist, and worker-2 uses it in "
        "use.py, line 5. Git merges both without a conflict."
    )


@pytest.mark.slow
def test_the_lines_are_those_of_the_agents_own_file(repo: Path) -> None:
    base(repo, {"util.py": UTIL, "use.py": USE + "\n\n# end\n"})
    agent(repo, "worker-2", 2, {"use.py": USE + "\n\n# end\nhelper(1)\n"})
    commit(repo, {"use.py": f"# new on main\n# too\n{USE}\n\n# end\n"})
    agent(repo, "worker-1", 1, {"util.py": RENAMED["util.py"]})
    (warning,) = survey(repo).warnings
    assert (warning.line, warning.lost.lines) == (9, (9,))


@pytest.mark.slow
def test_only_pairs_with_the_asked_agent_are_told(repo: Path) -> None:
    base(repo, {"util.py": UTIL, "use.py": USE})
    agent(repo, "worker-1", 1, RENAMED)
    agent(repo, "worker-2", 2, USED)
    agent(repo, "worker-3", 3, {"c.py": "x = 1\n"})
    assert len(warned(repo, "worker-2")) == 1
    assert warned(repo, "worker-3") == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mine", "act"),
    [
        ({"util.py": "X = 1\n"}, "removed the function other of util.py"),
        (
            {"util.py": UTIL.partition("\n\n\n")[0], "b.py": UTIL.partition("\n\n\n")[2]},
            "moved the function other of util.py to b.py",
        ),
        (
            {
                "util.py": UTIL.partition("\n\n\n")[0],
                "b.py": UTIL.partition("\n\n\n")[2].replace("other", "another"),
            },
            "moved the function other of util.py to b.py as another",
        ),
    ],
)
def test_the_warning_says_what_became_of_the_definition(
    repo: Path, mine: dict[str, str], act: str
) -> None:
    base(repo, {"util.py": UTIL})
    agent(repo, "worker-1", 1, mine)
    calls = "".join(f"other()\n# {number}\n" for number in range(7))
    agent(repo, "worker-2", 2, {"new.py": f"from util import other\n{calls}"})
    assert warned(repo) == [
        f"worker-1 {act}, and worker-2 uses it in new.py, lines 1, 2, 4, 6, 8 and more. "
        "Git merges both without a conflict."
    ]
