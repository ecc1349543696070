"""What a change does to programs that run by themselves, in words."""

from pathlib import Path

from ghp_agents.handoffs import what_runs
from ghp_agents.handoffs.what_runs import WhatRuns
from tests.support.git import commit, git


def test_a_branch_that_changes_a_workflow_says_so(repo: Path) -> None:
    base = git(repo, "rev-parse", "HEAD")
    commit(repo, {"src/a.py": "a\n"})
    plain = git(repo, "rev-parse", "HEAD")
    commit(repo, {".github/workflows/ci.yml": "on: push\n", "AGENTS.md": "Do it.\n"})
    head = git(repo, "rev-parse", "HEAD")
    assert what_runs.of_branch(repo, base, plain) == WhatRuns()
    seen = what_runs.of_branch(repo, base, head)
    assert seen.running == (".github/workflows/ci.yml",)
    assert seen.words.startswith("files that make programs run: .github/workflows/ci.yml")


def test_nothing_has_no_words_and_findings_are_joined_once() -> None:
    assert WhatRuns().words == ""
    one, other = WhatRuns(("a",), (), ("w1 may do more.",)), WhatRuns(("a", "b"))
    assert what_runs.together([one, other]) == WhatRuns(("a", "b"), (), ("w1 may do more.",))
