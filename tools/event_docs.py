"""Writes docs/events.md, the kinds of events: part of `make docs`."""

from pathlib import Path

from ghp_agents.state import events

PAGE = Path(__file__).parents[1] / "docs/events.md"
RELATIONS = {
    events.HOLDER: "the agent that the issue was given to",
    events.RECEIVER: "the agent that a handoff of work without an issue is for",
    events.ASSIGNEE: "the agents that were assigned, or no longer are",
    events.WORKER: "the agents that work on the issue, hold it or are assigned to it",
    events.WAITING: "the agents whose issues it blocked",
    events.MANAGER: "the agent that manages the epic of the issue",
    events.ORCHESTRATOR: "the orchestrators",
    events.COLLEAGUE: "the agent that holds the issue that another agent asked about",
    events.AFFECTED: "the agents whose work a decision changed",
    events.LENDER: "the agent whose lease somebody waits for",
    events.BORROWER: "the agent whose lease somebody ended",
    events.AUTHOR: "the agent whose pull request it is",
    events.NAMED: "the agent whose files they are",
    events.ADDRESSEE: "whom the record itself names; it gets the record in a block of its own",
}
REACH = {
    events.STEP: "other agents of the clone look for news at their next step",
    events.WAKE: "it may wake a resting session, if it asks for work or ends a wait",
    events.DESKTOP: "it may be shown on a person's desktop, if it is urgent",
}


def main() -> None:
    """Write the page."""
    PAGE.write_text(page())


def page() -> str:
    """The whole page."""
    rows = "\n".join(_row(kind) for kind in events.KINDS.values())
    return f"""# Events

`make docs` writes this page from `ghp_agents/state/events.py`, where each kind of event is declared
once. Every entry of the ledger (`ghp agent-log`) is an event: it has an id, and its kind says what
readers need to know. A reader keeps a cursor, the tips of all clones, and continues there
(`LedgerReader` in `ghp_agents/state/ledger.py`).

A name with a slash also has the cause of the event, or the status of an agent. An event of another
version is kept and shown, and concerns nobody. `{events.CLOSED_THERE}` is in no ledger: this clone
saw on GitHub that an issue was closed.

| event | as text | topics | concerns | mark | interrupts |
|---|---|---|---|---|---|
{rows}

Subscribers to a [topic](messages.md) get an event in one line. The mark is that of the timeline.
Everybody concerned gets the news at the next prompt. Besides that, some events interrupt:

{_meanings(REACH)}

## Whom an event concerns

{_meanings(RELATIONS)}
"""


def _row(kind: events.EventKind) -> str:
    topics = ", ".join(f"`{topic}`" for topic in kind.topics)
    about = kind.subject.upper().replace(" ", "-")
    cells = (
        f"`{kind.name}`", f"NAME {kind.verb} {about}", topics, ", ".join(kind.concerns), kind.mark,
        ", ".join(kind.reach),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _meanings(words: dict[str, str]) -> str:
    return "\n".join(f"- `{word}`: {meaning}" for word, meaning in words.items())


if __name__ == "__main__":
    main()
