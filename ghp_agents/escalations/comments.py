"""Post questions and answers as comments on their issue, each once. Idempotent."""

from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError, RefusedError, sentence
from ghp_agents.core.ids import Actor
from ghp_agents.escalations import messages
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.ports import Context
from ghp_agents.workspace import Workspace

# A folder with one file for each escalation whose comments are pending. The file is empty, or has
# the time of a refusal in seconds.
OWED_FOLDER = "owed"
REFUSED_PAUSE = 3_600.0  # seconds until a refused comment is tried again


def post(ctx: Context, escalation: Escalation) -> list[str]:
    """Post the missing comments of a question and its answers; return notes on failures.

    The record counts, so a failing tracker loses nothing: the comments stay pending.
    """
    if escalation.question.issue is None:
        return []
    try:
        _comment(ctx, escalation)
    except GhpError as error:
        refused = isinstance(error, RefusedError)  # archived, locked, no permission
        _add_owed(ctx.ws, escalation.id, ctx.ws.clock.now() if refused else None)
        return [
            f"Cannot comment on #{escalation.question.issue}: {sentence(error)} Nothing is lost: "
            "the next question or answer here retries, and so does this command."
        ]
    _remove_owed(ctx.ws, escalation.id)
    return []


def owed(ws: Workspace) -> set[str]:
    """The escalations with pending comments."""
    return {path.name for path in _owed_files(ws)}


def due(ws: Workspace) -> set[str]:
    """Those to be tried now: a refused comment is tried once an hour."""
    return {path.name for path in _owed_files(ws) if _is_due(path, ws.clock.now())}


def _owed_files(ws: Workspace) -> list[Path]:
    return [path for top in ws.folders for path in Path(top, OWED_FOLDER).glob("[0-9a-f]*")]


def _is_due(path: Path, now: float) -> bool:
    try:
        return not 0 <= now - float(path.read_text("ascii")) < REFUSED_PAUSE
    except (OSError, ValueError):
        return True


def _comment(ctx: Context, escalation: Escalation) -> None:
    issue = escalation.question.issue
    assert issue is not None
    asker, mark = Actor(escalation.question.agent), messages.marker(escalation)
    takes_answers = ctx.tracker.accepts_comment_commands
    how = messages.calling(escalation, ctx.ws.settings.escalate_to) if takes_answers else ""
    ctx.tracker.comment(issue, messages.comment(escalation, how), asker, marker=mark)
    for answer in (*escalation.answers, *escalation.advice):
        if answer.where and takes_answers:
            continue  # it was given on the issue itself
        text, mark = messages.answer_comment(escalation, answer), messages.answer_marker(answer)
        ctx.tracker.comment(issue, text, answer.by, marker=mark)
    for outcome in escalation.outcomes:
        text, mark = messages.outcome_comment(escalation, outcome), messages.outcome_marker(outcome)
        ctx.tracker.comment(issue, text, outcome.by, marker=mark)


def _add_owed(ws: Workspace, identifier: str, refused_at: float | None) -> None:
    content = b"" if refused_at is None else str(refused_at).encode()
    for folder in map(Path, ws.folders):
        if files.usable(folder):
            files.write_atomically(folder / OWED_FOLDER / identifier, content)
            return


def _remove_owed(ws: Workspace, identifier: str) -> None:
    for folder in ws.folders:
        owed = Path(folder, OWED_FOLDER, identifier)
        if owed.exists():
            owed.unlink(missing_ok=True)
