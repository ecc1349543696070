"""What an issue asks for must be in the commit."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import IssueNumber
from ghp_agents.issues.issue import Issue
from ghp_agents.pulls.deliverables import refuse_missing
from tests.support.git import commit

BODY = "## Deliverables\n\n- src/a.py\n- docs/\n- A working parser\n"
JOB = Issue("0a1b2c3d", IssueNumber(1), "Parse", body=BODY)


def test_files_that_are_not_committed_are_named_and_a_draft_may_lack_them(repo: Path) -> None:
    head = commit(repo, {"docs.txt": "one\n"}, "Begin")
    with pytest.raises(RefusedError) as caught:
        refuse_missing(repo, JOB, head, draft=False)
    assert str(caught.value) == "#1 asks for src/a.py, docs, which are not committed here."
    assert caught.value.hint == (
        "Add what is missing and commit it, or correct `Deliverables` in the issue's body. "
        "`--draft` opens the pull request without it."
    )
    refuse_missing(repo, JOB, head, draft=True)
    head = commit(repo, {"src/a.py": "1\n"}, "Parse")
    with pytest.raises(RefusedError) as caught:
        refuse_missing(repo, JOB, head, draft=False)
    assert str(caught.value) == "#1 asks for docs, which is not committed here."
    refuse_missing(repo, JOB, commit(repo, {"docs/b.md": "1\n"}, "Write"), draft=False)


def test_without_deliverables_git_is_not_asked(tmp_path: Path) -> None:
    refuse_missing(tmp_path / "nowhere", JOB._replace(body=""), "HEAD", draft=False)
