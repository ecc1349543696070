"""A storm of messages: fifty agents in five clones, thousands of messages, processes killed at any
point, and syncs that are cut off. Each message arrives, none twice, and one agent has a request."""

import os
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ghp_agents.core.ids import AgentName
from ghp_agents.escalations.delivered import delivered_ids
from ghp_agents.messages import mailbox, news, service
from ghp_agents.messages.message import REPLIES, RESOLVED
from ghp_agents.presence import service as presence
from ghp_agents.wiring import App
from tests.messages import writers
from tests.messages.writers import AGENTS, BATCH, CLONES, clone_of
from tests.state.test_kill import let_live
from tests.state.victims import Nursery, kill
from tests.support.git import git
from tests.support.smart_http import Cut, SmartHost, serve
from tests.support.thorough import count

KILLS, MESSAGES, AT_A_TIME = count(150, sample=20), count(10_000, sample=600), 4


def storm(clones: Sequence[Path], host: SmartHost, logs: Path, chance: random.Random) -> None:
    """Let agents act, and kill each at some point; now and then, a push breaks."""
    alive: list[tuple[int, Path]] = []
    with Nursery("tests.messages.writers") as nursery:
        for number in range(KILLS + AT_A_TIME):
            if number % 3 == 0:
                host.cut(chance.choice([*Cut]))
            if number >= AT_A_TIME:
                pid, log = alive.pop(0)
                let_live(log, chance)
                kill(pid, git_too=chance.random() < 0.5)
            if number < KILLS:
                agent, log = AGENTS[number % len(AGENTS)], logs / f"{number}.log"
                folder, seed = clones[clone_of(agent)], chance.randrange(2**32)
                alive.append((nursery.start(folder, agent, seed, log), log))
    host.cut()


def said(logs: Path) -> dict[str, list[list[str]]]:
    """What was acknowledged, by its first word."""
    events = defaultdict(list)
    for log in sorted(logs.iterdir()):
        for line in log.read_text().splitlines():
            word, *rest = line.split(" ")
            events[word].append(rest)
    return events


@pytest.mark.slow
@pytest.mark.long
def test_in_a_storm_each_message_arrives_once_and_one_agent_has_a_request(
    clones: Callable[[int], list[Path]], remote: Path, tmp_path: Path
) -> None:
    folders, logs = clones(CLONES), tmp_path / "logs"
    logs.mkdir()
    chance = random.Random(17)
    with serve(remote).running() as host:
        for folder in folders:
            git(folder, "remote", "set-url", "origin", f"{host.address}/{remote.name}")
        storm(folders, host, logs, chance)
        apps = {
            agent: App(folders[clone_of(agent)], dict(os.environ), name=agent) for agent in AGENTS
        }
        _calm(apps, logs, chance)
    events = said(logs)
    assert not events["error"]
    sent = [x for ids in events["sent"] for x in ids]
    assert len(sent) == len(set(sent)) >= MESSAGES
    _check_delivered(apps, {*sent})
    deliveries = Counter((agent, key) for agent, *keys in events["told"] for key in keys)
    assert {pair: times for pair, times in deliveries.items() if times > 1} == {}
    _check_claims(apps, events)


def _calm(apps: dict[str, App], logs: Path, chance: random.Random) -> None:
    """The storm is over: what is missing is sent, all clones sync, and all agents hear."""
    number = sum(len(ids) for ids in said(logs)["sent"])
    log = os.open(logs / "calm.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for turn in range(max(0, MESSAGES - number + BATCH - 1) // BATCH):
        agent = AGENTS[turn % len(AGENTS)]
        writers.act(apps[agent], AgentName(agent), "send", chance, log)
    for _ in range(2):
        for agent in AGENTS[:CLONES]:
            report = apps[agent].store.sync()
            assert not report.trouble
    for agent, app in apps.items():
        presence.register(app.ws, app.store, AgentName(agent))
        while writers.hear(app, AgentName(agent), log):
            pass
    os.close(log)


def _check_delivered(apps: dict[str, App], sent: set[str]) -> None:
    """All clones know all messages, and each agent was told of those to it."""
    for agent, app in apps.items():
        messages = mailbox.read(app.ws, app.store.snapshot())
        assert sent <= {message.id for message in messages}
        mine = {
            news.key_of(message)
            for message in messages
            if message.to == (agent,) and not message.about
        }
        assert mine <= delivered_ids(app.ws, AgentName(agent))


def _check_claims(apps: dict[str, App], events: dict[str, list[list[str]]]) -> None:
    """A generation of a claim has one holder, and one agent completes a request."""
    holders, ends = defaultdict(set), defaultdict(set)
    for identity, generation, agent in events["claimed"]:
        holders[identity, generation].add(agent)
    for identity, agent in events["done"]:
        ends[identity].add(agent)
    assert holders
    assert ends
    assert [agents for agents in (*holders.values(), *ends.values()) if len(agents) > 1] == []
    for app in (apps[agent] for agent in AGENTS[:CLONES]):
        letters = service.known_letters(app, app.store.snapshot())
        states = {x.message.id: x for x in letters if x.message.kind not in REPLIES}
        assert all(states[identity].state == RESOLVED for identity in ends)
        assert all({states[identity].holder} == who for identity, who in ends.items())
