"""An agent that holds several issues: where it works decides which one is current."""

from pathlib import Path

import pytest

from tests.support.ghp import invoke, succeed
from tests.support.git import commit


@pytest.fixture
def trees(repo: Path) -> list[Path]:
    """worker-1 holds #1 and #2, each with a worktree; then a person releases #2."""
    for number, title in enumerate(("Parse", "Lex"), 1):
        succeed(repo, f"agent-issue new {title} --as @me", f"agent-start {number} --as worker-1")
    succeed(repo, "agent-release 2 --as @me")
    return [Path(invoke(f"agent-where {number}", repo).out.strip()) for number in (1, 2)]


LOST = "Your claim of #2 was released"


@pytest.mark.slow
def test_in_the_worktree_of_an_issue_that_it_holds_that_is_the_current_one(
    trees: list[Path],
) -> None:
    parse, lex = trees
    (parse / "a.txt").write_text("a\n")
    (lex / "a.txt").write_text("a\n")
    refused = invoke("agent-check a.txt --as worker-1", lex)
    assert refused.code == 3
    assert 'You still hold #1: `cd "$(ghp agent-where 1)"`.' in refused.out + refused.err
    assert invoke("agent-check a.txt --as worker-1", parse).code == 0
    assert (
        "for #1, with 1 uncommitted file"
        in invoke("agent-handoff --note hi --as worker-1", parse).err
    )
    succeed(parse, "agent-check --verify --as worker-1")


@pytest.mark.slow
def test_an_agent_that_reads_that_its_issue_ended_goes_on_with_the_other_that_it_holds(
    trees: list[Path],
) -> None:
    parse, lex = trees
    (lex / "a.txt").write_text("a\n")
    assert '"issue": 1' in invoke("agent-status --json --as @me", lex).out
    shown = invoke("agent-status --as worker-1", lex).out
    assert LOST in shown
    assert 'You still hold #1: `cd "$(ghp agent-where 1)"`.' in shown
    resumed = invoke("agent-resume --as worker-1", parse).out
    assert resumed.startswith("# Resume: #1 «Parse»")
    assert "is not yours" not in resumed
    assert LOST not in invoke("agent-status --as worker-1", parse).out
    refused = invoke("agent-check a.txt --as worker-1", lex)
    assert refused.code == 3
    assert LOST in refused.out + refused.err
    assert "for #2, with 1 uncommitted" in invoke("agent-handoff --as worker-1", lex).err


@pytest.mark.slow
def test_a_status_lists_all_issues_that_an_agent_holds_and_the_place_is_that_of_one_that_it_holds(
    repo: Path, trees: list[Path]
) -> None:
    succeed(repo, "agent-issue new Print --as @me", "agent-start 3 --as worker-1")
    last = Path(invoke("agent-where 3", repo).out.strip())
    shown = invoke("agent-status worker-1 --as @me", repo).out
    assert "\n  issue: #3 «Print»\n  also holds: #1\n" in shown
    assert invoke("agent-where worker-1", repo).out == f"{last}\n"
    succeed(repo, "agent-release 1 --as worker-1")
    commit(trees[1], {"b.txt": "b\n"})
    refused = invoke("agent-finish --as worker-1", trees[1])
    assert f"worker-1 works elsewhere: `cd {last} && ghp agent-finish`." in refused.err
    succeed(repo, "agent-release 3 --as worker-1")
    assert "works elsewhere" not in invoke("agent-finish --as worker-1", trees[1]).err


@pytest.mark.slow
def test_an_agent_that_goes_on_with_finished_work_is_shown_with_its_pull_request(
    repo: Path,
) -> None:
    succeed(repo, "agent-issue new Parse --as @me", "agent-start 1 --as worker-1")
    tree = Path(invoke("agent-where 1", repo).out.strip())
    commit(tree, {"a.txt": "a\n"})
    succeed(tree, "agent-finish --as worker-1")
    succeed(repo, "agent-issue new Lex --as @me", "agent-start 3 --as worker-1")
    succeed(repo, "agent-release 3 --as worker-1")
    shown = invoke("agent-status worker-1 --json --as @me", repo).out
    assert '"status": "reviewing"' in shown
    assert '"pull": 2' in shown
