"""What an agent reads as a session begins: its name, who else is at work, what they hold, what is
ready, and how to claim, ask and finish. Nothing that its client tells anyway."""

from collections.abc import Collection, Iterable, Mapping

from ghp_agents.core.ids import count
from ghp_agents.handoffs import markdown, resume
from ghp_agents.hotpath.quoting import clean, named, phrase
from ghp_agents.issues import service as issues
from ghp_agents.issues.issue import Issue, short
from ghp_agents.issues.scope import scope
from ghp_agents.leases import service as leases
from ghp_agents.leases.record import what
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.pulls import requested_changes
from ghp_agents.sync import notifications
from ghp_agents.wiring import App

# 150 tokens in a quiet repository and 600 in a busy one, of about four characters each.
LIMIT = 2_400
NEWS = 800  # of them for news, if there is work to continue, too
AGENTS, ISSUES, PATTERNS, TITLE = 5, 3, 2, 40  # shown of each; characters of a title
ASK = 'Ask a person: `ghp agent-escalate "QUESTION"`.'
DONE = "Done: commit, then `ghp agent-finish`. Stop half-way: `ghp agent-handoff --note TEXT`."
CLAIM = "Claim: `ghp agent-claim N` (`--next`: the best)."


def text(app: App, identity: str, *, is_brief: bool) -> tuple[str, tuple[str, ...]]:
    """The text, and the ids of the news in it; it sends no request.

    Brief is what a resumed session reads: its transcript has the rest. Raises GhpError.
    """
    ctx, agent = app.offline, app.ws.agent()
    snapshot, held = ctx.store.snapshot(), ctx.world.claims
    known_issues = ctx.tracker.known()
    chosen = resume.choose(ctx)
    has_issue = chosen.about.number is not None
    lines = [identity, *_others(ctx, snapshot, agent, known_issues, held)]
    if not has_issue:
        lines += _ready(ctx, known_issues, held)
    elif is_brief:
        lines.append(f"Its issue: {markdown.title(chosen.about.issue, chosen.about.number)}.")
    if not is_brief:
        lines.append(" ".join([*([] if has_issue else [CLAIM]), ASK, DONE]))
    if is_brief or not (has_issue or chosen.handoff or chosen.about.notes):
        notices = notifications.gather(app, agent, again=True, limit=LIMIT)
        return "\n".join([*lines, *filter(None, [notices.text])]), notices.ids
    notices = notifications.gather(app, agent, again=True, limit=NEWS, is_resumed=True)
    lines += [notices.text] if notices.text else []
    stopped = notifications.stopped_issues(app, snapshot, agent)
    room = LIMIT - len("\n".join(lines)) - 2
    resumed = resume.resume(
        app,
        chosen,
        max_chars=room,
        stopped=stopped,
        requested=requested_changes.steps(snapshot, chosen.about.numbers),
        is_brief=True,
    )
    ids = (*notices.ids, *(item.id for item in resumed.news))
    return "\n".join([*lines, "", clean(resumed.text.strip("\n"))]), ids


def _others(
    ctx: Context,
    snapshot: Snapshot,
    agent: str,
    known_issues: Collection[Issue],
    held: Mapping[int, Lock],
) -> list[str]:
    views = presence.list_agents(ctx, snapshot)
    living = [
        view.name for view in views if view.liveness in presence.LIVING and view.name != agent
    ]
    work: dict[tuple[str, bool], list[str]] = {(name, False): [] for name in living}
    for issue in known_issues:
        lock = next((held[number] for number in issue.numbers if number in held), None)
        if lock and lock.holder != agent and (lock.holder or "", lock.is_person) in work:
            text = f"{short(issue)} {phrase(issue.title, TITLE)}"
            reserved = scope(issue.form)
            text += f" (has {what(reserved, None, PATTERNS)})" if reserved else ""
            work[lock.holder or "", lock.is_person].append(text)
    for hold in leases.listing(ctx).held:
        if (hold.holder, hold.is_person) != (agent, False):
            texts = work.setdefault((hold.holder, hold.is_person), [])
            texts.append(f"has {what(hold.patterns, hold.name, PATTERNS)}")
    if not work:
        return ["No other agent is at work."]
    busiest = sorted(work, key=lambda who: not work[who])
    shown = [_one(*pair, work[pair]) for pair in busiest[:AGENTS]]
    more = len(work) - len(shown)
    rest = f"; {more} more: `ghp agent-status`" if more else ""
    warning = " Do not edit their files." if any(work.values()) else ""
    return [f"At work: {'; '.join(shown)}{rest}.{warning}"]


def _one(name: str, is_person: bool, texts: Iterable[str]) -> str:
    first, *rest = (*texts, "")
    more = len(rest) - 1
    return f"{named(name, is_person)} {first}".rstrip() + (f" and {more} more" if more > 0 else "")


def _ready(ctx: Context, known_issues: Collection[Issue], held: Mapping[int, Lock]) -> list[str]:
    ready = issues.ready(ctx.ws, [*known_issues], held, issues.commanded(ctx.store))
    if not ready:
        return []
    shown = ", ".join(f"{short(issue)} {phrase(issue.title, TITLE)}" for issue in ready[:ISSUES])
    more = len(ready) - ISSUES
    rest = f"; {count(more, 'more issue')}: `ghp agent-issues --ready`" if more > 0 else ""
    return [f"Ready: {shown}{rest}."]
