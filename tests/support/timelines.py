"""Ledgers for timelines: single entries, and a day of many agents."""

import random
from collections.abc import Iterator

from ghp_agents.core.clock import to_seconds, to_text
from ghp_agents.core.ids import CloneId, Timestamp
from ghp_agents.reports.timeline import Timeline
from ghp_agents.reports.timeline_replay import TimelineFacts, build
from ghp_agents.state import ledger
from ghp_agents.state.ledger import LedgerEntry

START = 1_750_003_200.0  # 2025-06-15T16:00:00Z
HOUR = 3_600.0
DAY = 24 * HOUR
TITLES = (
    "Parse the input", "HTTP/2: the connection pool leaks a stream", "Type the client's request",
    "Replace the hand-written URL parser", "Flaky test of async streams", "Drop Python 3.8",
    "Retry after a rate limit", "Write the manual", "Cache compiled templates",
)  # fmt: skip


def entry(at: float, event: str, actor: str, about: str = "", **fields: object) -> LedgerEntry:
    """An entry `at` seconds after START."""
    result = LedgerEntry(
        int(at) + 1, CloneId("0123456789ab"), f"{event}/{actor}/{at}", event, actor, about,
        Timestamp(to_text(START + at)),
    )  # fmt: skip
    return result._replace(**fields)  # type: ignore[arg-type]


def presence(
    at: float, agent: str, status: str, issue: int | None = None, text: str = ""
) -> LedgerEntry:
    """A new status of an agent."""
    return entry(at, ledger.PRESENCE, agent, status, issue=issue, text=text)


def facts(*entries: LedgerEntry, hours: float = 1.0, **fields: object) -> TimelineFacts:
    """What a timeline of these entries is made of, from START on."""
    end = START + hours * HOUR
    result = TimelineFacts(START, end, end, entries, {}, {}, {})
    return result._replace(**fields)  # type: ignore[arg-type]


def simulated_day(agents: int = 50, seed: int = 1, hours: float = 24.0) -> Timeline:
    """A day of agents that claim, ask, wait, hand over, merge and die."""
    rng = random.Random(seed)
    entries = [
        item
        for number in range(1, agents + 1)
        for item in _day_of(rng, number, agents, hours * HOUR)
    ]
    end = to_text(START + hours * HOUR)
    entries = sorted((x for x in entries if x.at < end), key=lambda item: item.at)
    dead = {f"{_NAMES[n % 3]}-{n}": START + hours * HOUR * 0.9 for n in range(9, agents + 1, 10)}
    entries = [x for x in entries if to_seconds(x.at) < dead.get(x.actor, START * 2)]
    titles = {1 + number: TITLES[number % len(TITLES)] for number in range(agents * int(hours) * 4)}
    return build(facts(*entries, hours=hours, titles=titles, dead=dead))


_NAMES = ("claude", "codex", "worker")


def _day_of(rng: random.Random, number: int, agents: int, end: float) -> Iterator[LedgerEntry]:
    name = f"{_NAMES[number % 3]}-{number}"
    at, issue = rng.uniform(0, HOUR), number
    yield presence(at, name, "idle", text="Started")
    while at < end - HOUR / 2:
        at += rng.uniform(60, 1_800)
        yield entry(at, "claim", name, f"#{issue}", issue=issue)
        yield presence(at + 5, name, "planning", issue, f"Claimed #{issue}")
        for _ in range(rng.randint(2, 9)):
            at += rng.uniform(60, 900)
            status = rng.choice(("implementing", "testing", "implementing", "reviewing"))
            yield presence(at, name, status, issue, f"{status}: step {rng.randint(1, 99)}")
        if rng.random() < 0.3:
            question = f"E-{rng.getrandbits(48):012x}"
            yield entry(at, "escalate", name, question, issue=issue, text="Tabs or spaces?")
            yield presence(at + 1, name, "waiting", issue, "Waiting for an answer")
            at += rng.uniform(120, 5_400)
            if rng.random() < 0.98:
                yield entry(
                    at, "answer", "Ada", question, issue=issue, text="spaces", is_person=True
                )
            yield presence(at + 2, name, "implementing", issue, "Goes on")
        at += rng.uniform(60, 600)
        if rng.random() < 0.15:
            yield entry(at, "handoff", name, "H-1", issue=issue, text="The rest is the writer.")
            yield entry(at + 1, "release", name, f"#{issue}", issue=issue, text="handed over")
        else:
            pull = f"#{issue + 10_000}"
            yield entry(at, "pull-open", name, pull, issue=issue)
            at += rng.uniform(60, 900)
            if rng.random() < 0.1:
                yield entry(at, "pull-return", "Ada", pull, issue=issue, is_person=True)
                at += rng.uniform(300, 900)
            yield entry(at, "pull-merge", "Ada", pull, issue=issue, is_person=True)
        yield presence(at + 3, name, "idle", text=f"Finished #{issue}")
        issue += agents
