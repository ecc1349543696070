"""What branches and worktrees are called, and which issue a branch is for again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.ids import issue_of_branch
from ghp_agents.pulls.branches.branch_names import (
    LIMIT,
    above,
    best,
    folder_name,
    free_name,
    names,
    of_agents,
)
from tests.support.git import run_git

NAMES = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,40}[a-z0-9]", fullmatch=True).filter(
    lambda name: ".." not in name and not name.endswith(".lock")
)


def branch_name(
    agent: str, number: int, title: str, pattern: str | None = None, repo: str = ""
) -> str:
    """The branch if nothing is in its way."""
    return next(names(agent, number, title, pattern, repo))


@pytest.mark.parametrize(
    ("agent", "number", "title", "expected"),
    [
        ("worker-1", 12, "Parse files", "agent/worker-1/12-parse-files"),
        ("worker-1", 12, "  Größe: 3 × 4!  ", "agent/worker-1/12-gr-e-3-4"),
        ("worker-1", 12, "", "agent/worker-1/12-issue"),
        ("worker-1", 12, "日本語", "agent/worker-1/12-issue"),
        ("worker-1", 12, "x" * 99, "agent/worker-1/12-" + "x" * 42),
        ("7-up", 12, "Parse", "agent/as-7-up/12-parse"),  # else it would be for #7
        ("w" * 63, 12, "Parse", "agent/" + "w" * 25 + "-eb61/12-parse"),
    ],
)
def test_a_branch_has_the_agent_the_number_and_the_title(
    agent: str, number: int, title: str, expected: str
) -> None:
    assert branch_name(agent, number, title) == expected


@pytest.mark.slow
@given(NAMES, st.integers(1, 2**31), st.text(max_size=80))
def test_every_branch_is_one_for_git_and_names_its_issue(
    agent: str, number: int, title: str
) -> None:
    branch = branch_name(agent, number, title)
    assert len(branch) <= LIMIT
    assert issue_of_branch(branch) == number
    assert branch.startswith("agent/")
    assert not set(branch) & set(" ~^:?*[\\\x7f")
    assert ".." not in branch
    assert "//" not in branch
    assert not branch.endswith((".lock", ".", "/"))


def test_git_takes_the_odd_ones(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("anywhere")
    for agent in ("7-up", "a.b", "w" * 63, "x_y"):
        branch = branch_name(agent, 12, "Größe .lock")
        assert run_git(folder, "check-ref-format", "--branch", branch).returncode == 0


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("{user}/{number}-{title}", "worker-1/12-parse"),
        ("{repo}/{number}-{title}", "widgets/12-parse"),
        ("feature/{title}", "agent/worker-1/12-parse"),  # no number: nobody could tell the issue
        ("{number}", "agent/worker-1/12-parse"),  # nor here, by upstream's patterns
        ("x/../{number}-{title}", "agent/worker-1/12-parse"),
        ("-{number}-{title}", "agent/worker-1/12-parse"),
    ],
)
def test_upstreams_pattern_is_used_where_it_tells_the_issue(pattern: str, expected: str) -> None:
    assert branch_name("worker-1", 12, "Parse", pattern, "widgets") == expected


@pytest.mark.parametrize(
    ("number", "title", "expected"),
    [(12, "Parse files", "12-parse-files"), (12, "", "12-issue"), (1, "a" * 50, "1-" + "a" * 35)],
)
def test_a_worktree_is_called_as_upstream_would(number: int, title: str, expected: str) -> None:
    assert folder_name(number, title) == expected


def test_ones_own_branch_goes_before_that_of_another() -> None:
    worked_on = ["agent/worker-2/12-a", "agents/worker-1/12-b", "12-c"]
    assert best(worked_on, "worker-1") == "agents/worker-1/12-b"
    assert best(worked_on, "worker-2") == "agent/worker-2/12-a"
    assert best(worked_on, "worker-3") == "12-c"
    assert best([], "worker-1") is None


def test_a_branch_of_agents_names_one_and_the_issue() -> None:
    assert of_agents("agent/worker-1/12-b", 12) == "worker-1"
    assert of_agents("agents/as-7-up/12-b", 12) == "7-up"
    assert of_agents("agent/worker-1/12-b", 13) == ""
    assert of_agents("ann/12-b", 12) == ""


@pytest.mark.parametrize(
    ("taken", "expected"),
    [
        ([], "agent/w1/12-a"),
        (["agent/w1/12-a", "Agent/w1/12-A-2"], "agent/w1/12-a-3"),
        (["agent/w1/12-a/part"], "agent/w1/12-a-2"),
        (["agent/w1"], "agent/as-w1/12-a"),
        (["Agent"], "agents/w1/12-a"),
        (["agent", "agents"], "12-a-by-w1"),
        (["agent", "agents", *("12-a-by-w1" + end for end in ("", "/x"))], "12-a-by-w1-2"),
    ],
)
def test_a_name_is_chosen_that_git_can_create_beside_the_others(
    taken: list[str], expected: str
) -> None:
    assert free_name(names("w1", 12, "a"), taken) == expected


SHORT = st.lists(st.sampled_from(["a", "A", "b"]), min_size=1, max_size=3).map("/".join)


@given(st.lists(SHORT, max_size=4), st.lists(SHORT, min_size=1, max_size=2))
def test_a_free_name_is_above_and_below_no_other(taken: list[str], wanted: list[str]) -> None:
    name = (free_name(wanted, taken) or "").casefold()
    for other in (other.casefold() for other in taken):
        assert name != other
        assert name not in above(other)
        assert other not in above(name)
