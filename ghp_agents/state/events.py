"""The kinds of events: what readers know of each entry of the ledger, declared once.

News, topics and timelines look here. `docs/events.md` shows the table. An event of another version
has no row; it is kept and shown, and concerns nobody.
"""

from typing import NamedTuple

from ghp_agents.state import cause

PRESENCE = "presence"
BEGAN = "began"  # the cause of an entry of presence: the agent's life began
STOPPED = "stopped"  # the status of an agent that has ended
CLOSED_THERE = "hub-close"  # an issue was closed on GitHub; it is in no ledger
# Whom an event concerns: what an agent has to do with its subject.
HOLDER, RECEIVER, ASSIGNEE, WORKER, WAITING = "holder", "receiver", "assignee", "worker", "waiting"
MANAGER, ORCHESTRATOR, COLLEAGUE, AFFECTED = "manager", "orchestrator", "colleague", "affected"
LENDER, BORROWER, AUTHOR, NAMED, ADDRESSEE = "lender", "borrower", "author", "named", "addressee"
# How an event interrupts whom it concerns, besides the news at the next prompt: other agents of the
# clone look for news at their next step, a resting session is woken, a person's desktop shows it.
STEP, WAKE, DESKTOP = "step", "wake", "desktop"
# The kinds of marks, the most important first: where two share a place, the first is shown.
DEATH, MERGE, ASK, RETURN, HANDOFF, ANSWER, STOP, CLAIM, RELEASE, PULL, MESSAGE = MARKS = (
    "death", "merge", "question", "return", "handoff", "answer", "stop", "claim", "release", "pull",
    "message",
)  # fmt: skip


class EventKind(NamedTuple):
    """What readers know of one kind of event."""

    name: str  # in the ledger; after a slash its cause, or the status of an agent
    subject: str  # what its object names
    verb: str  # "worker-1 VERB #12"
    concerns: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()  # that reach a subscriber; the first is shown
    mark: str = ""  # of MARKS
    reach: tuple[str, ...] = ()  # of STEP, WAKE and DESKTOP


_GIVEN = (HOLDER, MANAGER)
_RELEASE = EventKind("release", "issue", "released", _GIVEN, ("issue.released",), RELEASE, (STEP,))
_SUGGESTED = (  # by `agent-log --event`
    EventKind(PRESENCE, "status", "is now", (MANAGER,), ("agent.status_changed",)),
    EventKind("claim", "issue", "claimed", _GIVEN, ("issue.claimed",), CLAIM, (STEP,)),
    EventKind("takeover", "issue", "took over", _GIVEN, ("issue.claimed",), CLAIM, (STEP,)),
    EventKind("steal", "issue", "took", _GIVEN, ("issue.claimed",), CLAIM, (STEP,)),
    _RELEASE,
    EventKind("restore", "lock", "restored"),
    EventKind("lease", "lease", "leased"),
    EventKind("lease-wait", "lease", "waits for", (LENDER,), reach=(STEP,)),
    EventKind("lease-renew", "lease", "renewed"),
    EventKind("lease-release", "lease", "ended", (BORROWER,)),
    EventKind("escalate", "question", "asks", (ORCHESTRATOR, MANAGER), (), ASK, (STEP, DESKTOP)),
    EventKind("answer", "question", "answered", (ADDRESSEE, COLLEAGUE), (), ANSWER, (STEP, WAKE)),
    EventKind("decide", "question", "decided", (AFFECTED,), reach=(STEP,)),
    EventKind("handoff", "handoff", "wrote", (RECEIVER,), ("issue.handed_over",), HANDOFF, (STEP,)),
    EventKind("checkpoint", "handoff", "wrote", (RECEIVER,)),
    EventKind("resume-apply", "handoff", "restored"),
    EventKind("issue-new", "issue", "opened", (ASSIGNEE,), ("issue.created",), "", (STEP,)),
    EventKind("issue-number", "issue", "numbered"),
    EventKind("issue-assign", "issue", "assigned", (ASSIGNEE,), ("issue.assigned",), "", (STEP,)),
    EventKind("issue-block", "issue", "changed", (WORKER, MANAGER), reach=(STEP,)),
    EventKind("issue-edit", "issue", "changed", (WORKER,), reach=(STEP,)),
    EventKind("issue-comment", "issue", "commented on", (WORKER,), ("issue.commented",), "",
              (STEP,)),
    EventKind("issue-close", "issue", "closed", (WORKER, WAITING, MANAGER), ("issue.closed",), "",
              (STEP, WAKE)),
    EventKind("issue-reopen", "issue", "reopened", (WORKER,), ("issue.reopened",), "", (STEP,)),
    EventKind("stop", "agent", "stopped", (ADDRESSEE,), (), STOP),
    EventKind("override", "agent", "edits the files of", (NAMED,), reach=(STEP,)),
    EventKind("send", "message", "sent", (ADDRESSEE,), (), MESSAGE, (WAKE, DESKTOP)),
    EventKind("ack", "message", "has begun with", (ADDRESSEE,)),
    EventKind("done", "message", "has done", (ADDRESSEE,), reach=(WAKE,)),
    EventKind("failed", "message", "could not do", (ADDRESSEE,), reach=(WAKE,)),
    EventKind("subscribe", "agent", "changed the topics of"),
    EventKind("dispatch", "issue", "dispatched"),
)  # fmt: skip
_OTHERS = (
    EventKind(f"{PRESENCE}/{BEGAN}", "status", "began as", (MANAGER,), ("agent.registered",)),
    EventKind(f"{PRESENCE}/{STOPPED}", "status", "ended as", (MANAGER,), ("agent.unregistered",)),
    _RELEASE._replace(name=f"release/{cause.MERGED}", mark=MERGE),
    _RELEASE._replace(name=f"release/{cause.SWEPT}", mark=DEATH),
    EventKind(CLOSED_THERE, "issue", "closed", (WAITING, MANAGER), reach=(WAKE,)),
    EventKind("pull-open", "pull request", "opened", (), ("pull.opened",), PULL),
    EventKind("pull-change", "pull request", "changed"),
    EventKind("pull-review", "pull request", "reviewed", (ADDRESSEE,),
              ("pull.reviewed", "code.review_completed")),
    EventKind("pull-return", "pull request", "sent back", (ADDRESSEE,), ("pull.sent_back",), RETURN,
              (WAKE,)),
    EventKind("pull-merge", "pull request", "merged", (AUTHOR,), ("pull.merged",), MERGE),
    EventKind("vote", "message", "voted on"),
    EventKind("command", "issue", "obeyed a command about"),
    EventKind("remember", "note", "wrote"),
    EventKind("note-edit", "note", "changed"),
    EventKind("note-forget", "note", "deleted"),
    EventKind("note-withdraw", "note", "withdrew"),
    EventKind("absorb", "clone", "merged the records of"),
    EventKind("github-comment", "issue", "asked a clone with a token to comment on"),
    EventKind("github-change", "issue", "asked a clone with a token to change"),
    EventKind("github-create", "issue", "asked a clone with a token to open"),
    EventKind("github-pull", "issue", "asked a clone with a token for a pull request of"),
    EventKind("github-sent", "issue", "sent to GitHub a change of"),
    EventKind("github-refused", "issue", "could not send to GitHub a change of"),
)  # fmt: skip
KINDS = {kind.name: kind for kind in (*_SUGGESTED, *_OTHERS)}
EVENTS = tuple([kind.name for kind in _SUGGESTED])


def kind_of(event: str, detail: str = "") -> EventKind:
    """The kind of an event by its name in the ledger, and its cause or status if that matters."""
    kind = KINDS.get(f"{event}/{detail}") or KINDS.get(event)
    return kind or EventKind(event, "thing", event)
