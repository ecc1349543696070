"""Where a workflow stands that waits for a pull request."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.pulls.pull import NewPull, PullChange
from ghp_agents.wiring import App
from ghp_agents.workflows import progress
from ghp_agents.workflows.engine import standing
from tests.support.ghp import invoke, succeed
from tests.support.git import git

CHECKED = """---
description: Its checks are green.
---
## Merge

- Gate: checks
"""


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("state", "end"), [("", "running"), ("open", "completed"), ("closed", "failed")]
)
def test_a_gate_of_checks_passes_with_the_pull_request_of_the_issue(
    repo: Path, worktree: Callable[[Path, str], Path], state: str, end: str
) -> None:
    (repo / ".ghp/workflows").mkdir(parents=True)
    (repo / ".ghp/workflows/checked.md").write_text(CHECKED)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Workflows")
    succeed(repo, "agent-issue new 'A parser' --as @me")
    app = App(repo, {"GHP_AGENT": "worker-1"})
    if state:
        work = worktree(repo, "agent/worker-1/1-a-parser")
        git(work, "commit", "-q", "--allow-empty", "-m", "Parse")
        head = git(work, "rev-parse", "HEAD").strip()
        pull = app.forge.open(
            NewPull("agent/worker-1/1-a-parser", "main", head, "A parser", issue=1), app.ws.actor()
        )
        if state == "closed":
            app.forge.change(pull.number, PullChange(state="closed"), app.ws.actor())
    succeed(repo, "agent-run checked --issue 1 --as worker-1")
    (run,) = progress.runs(app, app.store.snapshot())
    assert standing(run.states) == end
    assert run.standing == end
    assert invoke("agent-workflows --all", repo).out.splitlines()[1].endswith("#1 A parser")
