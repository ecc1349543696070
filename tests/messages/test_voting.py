"""Proposals in two clones: sent to all, voted on, decided and overruled, with one clone offline."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.clock import ManualClock
from tests.support.ghp import invoke, succeed
from tests.support.repos import Prepared

Clones = Callable[[int], list[Path]]


class Team:
    """worker-1 in one clone, worker-2 and worker-3 in another."""

    def __init__(self, one: Path, two: Path) -> None:
        self.one, self.two = one, two
        self.clock = ManualClock()

    def begin(self) -> None:
        """All are there, and know each other."""
        for name in ("worker-1", "worker-2", "worker-3"):
            folder = self.one if name == "worker-1" else self.two
            self.run(folder, "agent-heartbeat", "--as", name)
        self.exchange()

    def run(self, folder: Path, *words: str) -> tuple[int, str, str]:
        done = invoke(words, folder, clock=self.clock)
        return done.code, done.out, done.err

    def exchange(self) -> None:
        for folder in (self.one, self.two, self.one):
            assert self.run(folder, "agent-sync")[0] == 0

    def proposal(self, *more: str) -> str:
        words = ("worker-2", "worker-3", "Use eight columns", "--kind", "proposal", *more)
        code, out, err = self.run(self.one, "agent-send", *words, "--as", "worker-1")
        assert code == 0, err
        self.exchange()
        return out.strip()

    def vote(self, name: str, choice: str, by: str, *more: str) -> tuple[int, str, str]:
        folder = self.one if by == "worker-1" else self.two
        return self.run(folder, "agent-vote", name, f"--{choice}", *more, "--as", by)

    def news(self, by: str) -> str:
        folder = self.one if by == "worker-1" else self.two
        return self.run(folder, "agent-status", "--as", by)[1]


def begun(one: Path, two: Path) -> None:
    Team(one, two).begin()


@pytest.fixture
def team(prepared: Prepared) -> Team:
    return Team(*prepared(begun))


@pytest.mark.slow
def test_a_proposal_is_voted_on_and_all_read_the_result(team: Team) -> None:
    name = team.proposal("--body", "A tab is eight columns.", "--done-within", "2h")
    news = team.news("worker-2")
    assert f"Proposal {name} by agent worker-1: «Use eight columns»:" in news
    assert f"`ghp agent-vote {name} --for`, `--against` or `--abstain`" in news
    code, out, err = team.vote(name, "for", "worker-2")
    assert (code, out) == (0, "")
    assert err.startswith(f"✓ You voted on {name}: for. Open until ")
    assert err.endswith(": 1 for, 0 against; quorum 2.\n")
    assert team.vote(name, "for", "worker-2")[2].startswith(
        "You already voted this way. Open until "
    )
    err = team.vote(name, "against", "worker-3", "--reason", "Four is enough")[2]
    assert err == f"✓ You voted on {name}: against. Rejected: 1 for, 1 against; quorum 2.\n"
    team.exchange()
    result = (
        f"Proposal {name} «Use eight columns» by worker-1 was rejected: 1 for, 1 against; quorum 2."
        "\nAgainst it: worker-3: «Four is enough»."
    )
    for agent in ("worker-1", "worker-2", "worker-3"):
        assert result in team.news(agent)
        assert result not in team.news(agent)


@pytest.mark.slow
def test_what_is_decided_asks_nobody_for_a_vote(team: Team) -> None:
    name = team.proposal("--done-within", "2h")
    assert team.run(team.two, "agent-vote", name, "--for", "--as", "@me")[0] == 0
    news = team.news("worker-2")
    assert f"Proposal {name} «Use eight columns» by worker-1 was accepted by" in news
    assert "agent-vote" not in news


@pytest.mark.slow
def test_a_vote_that_was_cast_offline_in_time_counts_when_it_arrives(team: Team) -> None:
    name = team.proposal("--done-within", "1h", "--quorum", "1")
    team.vote(name, "for", "worker-2")
    team.clock.wait(4000)
    refused = team.vote(name, "against", "worker-3")
    assert refused == (
        3, "", f"Error: The vote on {name} has ended: 1 for, 0 against; quorum 1.\n"
        "Hint: A person can still decide otherwise.\n",
    )  # fmt: skip
    before = json.loads(team.run(team.one, "agent-vote", name, "--json")[1])
    assert (before["outcome"], before["votesFor"]) == ("without a quorum", 0)
    team.exchange()
    after = json.loads(team.run(team.one, "agent-vote", name, "--json")[1])
    assert (after["outcome"], after["votesFor"], after["quorum"]) == ("accepted", 1, 1)
    assert "was accepted: 1 for, 0 against" in team.news("worker-1")


@pytest.mark.slow
def test_a_person_overrules_the_vote(team: Team) -> None:
    name = team.proposal()
    for agent in ("worker-2", "worker-3"):
        team.vote(name, "for", agent)
    team.exchange()
    assert "was accepted: 2 for" in team.news("worker-1")
    err = team.vote(name, "against", "@me", "--reason", "Not now")[2]
    assert "Rejected by «" in err
    team.exchange()
    assert "was rejected by «" in team.news("worker-1")
    assert "was rejected by «" in team.news("worker-3")
    assert team.run(team.one, "agent-vote", name)[1].splitlines()[-1] == "> Not now"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("by", "error"),
    [
        ("worker-1", "is your own proposal: the others vote."),
        ("worker-9", "was not sent to worker-9."),
    ],
)
def test_only_who_was_asked_votes(team: Team, by: str, error: str) -> None:
    name = team.proposal()
    code, _, err = team.vote(name, "for", by)
    assert (code, err.splitlines()[0]) == (3, f"Error: {name} {error}")


@pytest.mark.slow
def test_a_proposal_is_voted_on_and_not_claimed(team: Team) -> None:
    name = team.proposal()
    code, _, err = team.run(team.two, "agent-inbox", "claim", name, "--as", "worker-2")
    assert (code, err.splitlines()[0]) == (3, f"Error: {name} is a proposal.")
    note = team.run(team.one, "agent-send", "worker-2", "Hi", "--as", "worker-1")[1].strip()
    assert team.vote(note, "for", "worker-1")[2].startswith(f"Error: {note} is not a proposal")


def test_a_topic_for_proposals_makes_them_and_only_they_have_a_quorum(team: Team) -> None:
    payload = '{"title": "Tabs", "description": "Eight", "recommendation": "Do it"}'
    words = ("@arch.proposal_ready", "Tabs", "--payload", payload, "--as", "worker-1", "--json")
    shown = json.loads(team.run(team.one, "agent-send", *words)[1])
    assert shown["kind"] == "proposal"
    wrong = ("worker-2", "Hi", "--quorum", "2", "--as", "worker-1")
    assert team.run(team.one, "agent-send", *wrong) == (
        2, "", "Error: Only a proposal has a quorum.\nHint: Add --kind proposal.\n",
    )  # fmt: skip


@pytest.mark.slow
def test_the_inbox_shows_how_a_vote_stands(team: Team) -> None:
    name = team.proposal()
    listed = team.run(team.two, "agent-inbox", "--as", "worker-2")[1].splitlines()[1].split()
    assert listed[1:3] == ["open", "proposal"]
    team.vote(name, "for", "worker-2")
    assert name[:6] not in team.run(team.two, "agent-inbox", "--as", "worker-2")[1]
    succeed(team.one, "agent-sync")
