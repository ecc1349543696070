"""The doctor's checks of the state, for every store: records, clones, sessions, the sync."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ghp_agents.core import front_matter
from ghp_agents.core.clock import ago, to_seconds
from ghp_agents.core.finding import Finding, error, info, ok, warning
from ghp_agents.core.ids import count, one_line
from ghp_agents.core.remote_url import masked
from ghp_agents.parts.call import find
from ghp_agents.parts.lists import RECORDS
from ghp_agents.parts.plugin import load
from ghp_agents.ports import Context
from ghp_agents.state import refusal
from ghp_agents.state.record import Problem, problem_of

SILENT_AFTER_S = 30 * 86_400.0  # seconds
LATE_AFTER_S = 600.0  # seconds; what is still unsent then will not go by itself
LISTED = 20  # unreadable records that are listed
Reader = Callable[[Mapping[str, bytes]], Sequence[Any]]  # the last are the problems
MESSAGES = ".ghp/messages/"


def check_readable(ctx: Context) -> Iterator[Finding]:
    """Report unreadable records, locks and presence files. They are kept, and hide no other."""
    snapshot = ctx.store.snapshot()
    total, broken = 0, list[Problem]()
    readers = {folder: find(name) if name else None for folder, name in RECORDS.items()}
    for plugin in load(ctx.ws.settings.plugins).plugins.values():
        readers |= plugin.records
    for folder, reader in readers.items():
        files = snapshot.files(f".ghp/{folder}/")
        total += len(files)
        broken += _broken(files, reader)
    problems = [*snapshot.problems(), *ctx.locks.problems(), *broken]
    for problem in problems[:LISTED]:
        yield warning(
            "unreadable",
            f"{one_line(problem.place, 200)}: {one_line(problem.reason, 200)}.",
            one_line(problem.remedy, 200),
        )
    if len(problems) > LISTED:
        yield warning(
            "unreadable", f"Cannot read {len(problems) - LISTED} more.", "See those above."
        )
    if not problems:
        yield ok("unreadable", f"All {count(total, 'record')} can be read.")


def _broken(files: Mapping[str, bytes], reader: Reader | None) -> list[Problem]:
    """Return files that cannot be parsed, and those that are not the expected record."""
    problems: Sequence[Problem] = reader(files)[-1] if reader else ()
    by_place = {problem.place: problem for problem in problems}
    torn = filter(None, (_parse_problem(path, content) for path, content in files.items()))
    by_place |= {problem.place: problem for problem in torn}
    return [by_place[place] for place in sorted(by_place)]


def _parse_problem(path: str, content: bytes) -> Problem | None:
    try:
        if path.endswith(".md") and not path.startswith(MESSAGES):
            front_matter.parse(content)  # messages have header lines, which their reader checks
        elif path.endswith(".json"):
            json.loads(content)
    except (ValueError, RecursionError) as error:
        return problem_of(path, error)
    return None


def check_outbox(ctx: Context) -> Iterator[Finding]:
    """Report records that wait for a fold."""
    waiting = ctx.store.sync_status().waiting
    if waiting:
        text = f"{count(waiting, 'record')} in the outbox could not be committed."
        yield warning("outbox", text, "`ghp agent-doctor --fix` commits what it can.", fixable=True)
    else:
        yield ok("outbox", "The outbox is empty.")


def check_unsent(ctx: Context) -> Iterator[Finding]:
    """Report what the remote does not have, and since when."""
    standing = ctx.store.sync_status()
    if standing.remote is None:
        return
    if not standing.unsent:
        yield ok("unsent", f"{standing.remote} has everything that was committed here.")
        return
    now = ctx.ws.clock.now()
    sent = f"last sent {ago(now - standing.sent_at)} ago" if standing.sent_at else "never sent"
    text = f"{count(standing.unsent, 'change')} not sent to {standing.remote} yet ({sent})."
    remedy = "`ghp agent-sync` or `ghp agent-doctor --fix` sends it."
    late = standing.sent_at is None or now - standing.sent_at > LATE_AFTER_S
    yield (warning if late else info)("unsent", text, remedy, fixable=True)


def check_sync(ctx: Context) -> Iterator[Finding]:
    """Report why the last sync failed, and the age of our news."""
    standing = ctx.store.sync_status()
    if standing.remote is None:
        return
    heard = ago(ctx.ws.clock.now() - standing.news_at) if standing.news_at else None
    news = f"the last news is {heard} old" if heard else "never synced"
    if not standing.trouble:
        line = f"Last news from {standing.remote}: {heard} ago." if heard else "Never synced yet."
        yield ok("sync", line) if heard else info("sync", line, "Run `ghp agent-sync`.")
        return
    words = one_line(masked(standing.trouble), 300)
    text = f"The last sync with {standing.remote} failed: {words} ({news})."
    if standing.permanent or refusal.cause(words) is refusal.Reason.SSO:
        yield error("sync", text, refusal.of_clone(words))
    else:
        yield warning("sync", text, "The next sync tries again: ghp agent-sync")


def check_refused(ctx: Context) -> Iterator[Finding]:
    """Report records that the remote refused, and what to do about each."""
    refused = ctx.store.set_aside()
    for kept in refused[:LISTED]:
        what = one_line(f"{kept.record.event} {kept.record.object}", 100)
        words = one_line(masked(kept.words), 300)
        text = f"{kept.id}, {what} by {kept.record.actor.name}, stays in this clone: {words}."
        yield warning("refused", text, refusal.of_record(kept.words))
    if len(refused) > LISTED:
        text = f"The remote refused {len(refused) - LISTED} more."
        yield warning("refused", text, "`ghp agent-sync --refused` lists them.")


def check_clones(ctx: Context) -> Iterator[Finding]:
    """Report clones that have been silent for long."""
    snapshot = ctx.store.snapshot()
    now = ctx.ws.clock.now()
    for tip in snapshot.tips():
        silent = now - to_seconds(tip.at)
        if tip.clone != snapshot.clone and silent > SILENT_AFTER_S:
            text = f"Clone {tip.clone} has sent nothing for {ago(silent)}."
            yield info("clone-silent", text, "Nothing to do: its records are kept.")
