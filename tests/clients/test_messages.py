"""Real clients that talk to each other: a review is asked for, done and acted upon."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clients.steps import edit, run, set_up, shell, start
from tests.support.clients import Bench, end, ghp
from tests.support.fake_models import Request, Turn
from tests.support.git import commit

pytestmark = pytest.mark.slow

PAIRS = [("claude", "codex"), ("codex", "claude"), ("claude", "claude")]
ASK = ghp(
    "agent-send worker-3 'Review the parser' --kind review --as worker-1 --body 'See src/parser.py'"
)


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_a_review_is_asked_for_done_and_acted_upon_without_a_person(
    bench: Bench, repo: Path, worktree: Callable[[Path, str], Path], first: str, second: str
) -> None:
    commit(repo, {"src/parser.py": "old\n"}, "Files")
    there = worktree(repo, "two")
    set_up(bench, repo, first)
    set_up(bench, there, second, agent="worker-3")

    def review(request: Request) -> Turn:
        """The second agent reads of the request at its start, and does it."""
        found = re.search(
            r"Review (M-[0-9a-f]+) by agent worker-1: «Review the parser»", request.said
        )
        assert found, request.said
        answer = "--verdict changes --result 'Say new, not old'"
        done = f"agent-inbox done {found[1]} --as worker-3 {answer}"
        return Turn(calls=[shell(second, ghp(done))])

    def meanwhile(request: Request) -> Turn:
        bench.models.script("two", review, Turn("Reviewed."))
        assert end(start(bench, second, there, "two")).code == 0
        return Turn(calls=[shell(first, "echo go on")])

    def act(request: Request) -> Turn:
        """The first agent reads the result after its next step, and follows it."""
        assert "agent worker-3 requests changes to your M-" in request.said
        assert "> Say new, not old" in request.said
        return Turn(calls=[edit(first, repo / "src/fixed.py")])

    bench.models.script("one", Turn(calls=[shell(first, ASK)]), meanwhile, act, Turn("Done."))
    assert end(start(bench, first, repo, "one")).code == 0
    assert (repo / "src/fixed.py").exists()
    assert run("agent-inbox", cwd=there, env={"GHP_AGENT": "worker-3"}) == ""
    assert bench.models.requests("one")[-1].said.count("requests changes to your M-") == 1
