"""Records that the remote refused: listed, shown, sent again, dropped."""

from collections.abc import Sequence

from ghp_agents.cli import output
from ghp_agents.core.clock import ago
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import count, only_match
from ghp_agents.hotpath.quoting import file, named, phrase
from ghp_agents.state import refusal
from ghp_agents.state.join import SetAside
from ghp_agents.wiring import App

ALL = "all"
LONGEST = 20_000  # characters of a file that is shown


def show(app: App, reference: str) -> None:
    """Print what was set aside, or the content of one record."""
    records = app.store.set_aside()
    if reference:
        _print_content(_one(records, reference))
        return
    for kept in records:
        _print_one(kept, app.ws.clock.now())
    if records:
        output.say(
            "`ghp agent-sync --refused ID` shows one, `--retry ID` sends it again, "
            "`--drop ID` deletes it; `all` means each of them."
        )
    else:
        output.say("The remote has refused no record of this clone.")


def retry(app: App, references: Sequence[str]) -> None:
    """Let the sync that follows send records again. Raises NotFoundError."""
    chosen = _chosen(app, references)
    for kept in app.store.retry_refused([kept.id for kept in chosen]) if chosen else ():
        output.say(f"Sending {title(kept)} again.")


def drop(app: App, references: Sequence[str]) -> None:
    """Delete records. An agent deletes only its own. Raises NotFoundError, RefusedError."""
    chosen, actor = _chosen(app, references), app.ws.actor()
    for kept in chosen:
        if not actor.is_person and kept.record.actor != actor:
            raise RefusedError(
                f"{kept.id} is by {named(*kept.record.actor)}, so {actor.name} may not delete it.",
                hint="Leave it: it does no harm. Its author or a person can delete it.",
            )
    for kept in app.store.drop_refused([kept.id for kept in chosen]) if chosen else ():
        output.done(f"Deleted {title(kept)}.")


def _chosen(app: App, references: Sequence[str]) -> Sequence[SetAside]:
    records = app.store.set_aside()
    return records if ALL in references else [_one(records, reference) for reference in references]


def title(kept: SetAside) -> str:
    """A record, its author and its issue in words."""
    record = kept.record
    issue = f" for #{record.issue}" if record.issue else ""
    return f"{kept.id}, {file(record.event)} {file(record.object)}{issue}"


def _one(records: Sequence[SetAside], reference: str) -> SetAside:
    return only_match(
        [kept for kept in records if kept.id.startswith(reference)],
        reference,
        "refused record",
        lambda kept: kept.id,
        "`ghp agent-sync --refused` lists them.",
    )


def _print_one(kept: SetAside, now: float) -> None:
    output.page(f"{title(kept)}, by {named(*kept.record.actor)}, {ago(now - kept.at)} ago")
    output.page(f"  The remote: {phrase(kept.words, refusal.LONGEST)}")
    for path, content in kept.record.files:
        output.page(f"  {file(path)} ({count(len(content), 'byte')})")
    output.page(f"  → {refusal.of_record(kept.words)}")
    for page in kept.pages:
        output.page(f"  → The remote names a page to allow it: {phrase(page, refusal.LONGEST)}")


def _print_content(kept: SetAside) -> None:
    for path, content in kept.record.files:
        output.page(f"{file(path)}:")
        text = content.decode("utf-8", "replace")
        more = f"\n… {len(text) - LONGEST} more characters" if len(text) > LONGEST else ""
        output.data(output.clean(text[:LONGEST].rstrip("\n") + more))
