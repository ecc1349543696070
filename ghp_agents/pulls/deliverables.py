"""The files that an issue asks for: a pull request that lacks one is not finished."""

from pathlib import Path

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import listed
from ghp_agents.git import worktree
from ghp_agents.hotpath.quoting import file
from ghp_agents.issues import job_fields
from ghp_agents.issues.issue import Issue, short

SHOWN = 10


def refuse_missing(folder: Path, issue: Issue, commit: str, *, draft: bool) -> None:
    """Raise RefusedError if a deliverable of the issue is not in the commit; a draft may lack some.
    Starts a git process only if there are deliverables."""
    wanted = job_fields.deliverables(issue)
    if draft or not wanted:
        return
    present = set(worktree.present(folder, commit, wanted))
    missing = [path for path in wanted if path not in present]
    if missing:
        raise RefusedError(
            f"{short(issue)} asks for {listed([*map(file, missing)], SHOWN)}, which "
            f"{'is' if len(missing) == 1 else 'are'} not committed here.",
            hint="Add what is missing and commit it, or correct `Deliverables` in the issue's "
            "body. `--draft` opens the pull request without it.",
        )
