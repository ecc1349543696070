"""Agents to be killed: they send, hear, claim, complete and sync until somebody ends them.

Run as `python -m tests.messages.writers`, this is a nursery of them (`tests/state/victims.py`).
"""

import os
import random

from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import Actor, AgentName, Timestamp, digest
from ghp_agents.escalations.delivered import mark_told
from ghp_agents.messages import message as rules
from ghp_agents.messages import reply, service, undelivered
from ghp_agents.messages.message import CLAIMED, NEW, NOTE, Message
from ghp_agents.ports import Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.wiring import App
from ghp_agents.workspace import Workspace
from tests.state.victims import acknowledge, main

CLONES, EACH = 5, 10
AGENTS = [f"w-{number}" for number in range(CLONES * EACH)]
BATCH = 50  # messages that an agent sends in one commit; one of them is for anybody
VERBS = ("send", "send", "hear", "hear", "claim", "claim", "sync")


def clone_of(agent: str) -> int:
    """The number of the clone in which an agent works."""
    return AGENTS.index(agent) % CLONES


def send(app: App, agent: str, chance: random.Random) -> list[str]:
    """Send a batch; the ids."""
    numbers = [chance.randrange(2**64) for _ in range(BATCH)]
    at = Timestamp(to_text(app.ws.clock.now()))

    def decide(snapshot: Snapshot) -> tuple[list[str], list[Record]]:
        messages = [
            _message(agent, number, at, snapshot, turn) for turn, number in enumerate(numbers)
        ]
        return [message.id for message in messages], [
            service.sent_record(message) for message in messages
        ]

    return transact(app.store, decide)


def _message(agent: str, number: int, at: Timestamp, snapshot: Snapshot, turn: int) -> Message:
    to, kind = ("@all", "request") if turn == 0 else (AGENTS[number % len(AGENTS)], NOTE)
    message = Message(
        "", Actor(agent), (to,), f"Part {digest(str(number))}", at, snapshot.clock + 1 + turn,
        snapshot.clone, kind=kind,
    )  # fmt: skip
    return message._replace(id=rules.identity(message, 0))


def hear(app: App, agent: AgentName, log: int) -> int:
    """What the hook after a step does; how much there was."""
    texts = undelivered.texts(app, app.store.snapshot(), agent)
    keys = [key for _, key in texts if key]
    if keys:
        mark_told(app.ws, agent, keys)
        acknowledge(log, f"told {agent} {' '.join(keys)}")
    return len(keys)


def claim(app: App, agent: AgentName, chance: random.Random, log: int) -> None:
    """Claim what was sent to anybody, and sometimes complete it."""
    letters = service.inbox(app, app.store.snapshot(), agent)
    shared = [x for x in letters if x.message.is_shared and x.state in (NEW, CLAIMED)]
    if not shared:
        return
    identity = chance.choice(shared[:5]).message.id
    result = reply.claim(app, identity)
    acknowledge(log, f"claimed {identity} {result.reply.claim} {agent}")
    if chance.random() < 0.7:
        reply.finish(app, identity, fails=False)
        acknowledge(log, f"done {identity} {agent}")


def work(ws: Workspace, name: str, chance: random.Random, log: int) -> None:
    """Act for ever, and write down what is acknowledged."""
    app, agent = App(ws.folder, dict(os.environ), name=name), AgentName(name)
    presence.register(app.ws, app.store, agent)
    while True:
        try:
            act(app, agent, chance.choice(VERBS), chance, log)
        except GhpError as error:
            acknowledge(log, f"trouble {type(error).__name__}: {error}")


def act(app: App, agent: AgentName, verb: str, chance: random.Random, log: int) -> None:
    """One thing that an agent does."""
    if verb == "send":
        acknowledge(log, f"sent {' '.join(send(app, agent, chance))}")
    elif verb == "hear":
        hear(app, agent, log)
    elif verb == "claim":
        claim(app, agent, chance, log)
    else:
        report = app.store.sync()
        acknowledge(log, f"trouble {report.trouble}" if report.trouble else "synced")


if __name__ == "__main__":
    main(work)
