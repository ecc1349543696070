"""Laws of edits in worktrees: agents that edit one file at random, and ask before each edit.

Nobody makes a conflict that was not refused, a refusal names one who lives, and somebody can always
go on: to give up one's own change, to take over the other's, or to wait for its end.
"""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghp_agents.guard import evaluate
from ghp_agents.hotpath import check_edit, heartbeat, implicit_leases
from ghp_agents.hotpath.locate import Location, locate
from ghp_agents.hotpath.policy import Verdict
from tests.support.claimants import Claimant
from tests.support.clock import ManualClock
from tests.support.git import commit, git, run_git

AGENTS = ("worker-1", "worker-2", "worker-3")
PATH = "a.py"
BASE = [f"line {number}" for number in range(1, 9)]
NOW = 1_790_000_000.0

EDITS = st.one_of(
    st.tuples(st.just("change"), st.integers(0, 7), st.sampled_from("xyz")),
    st.tuples(st.just("insert"), st.integers(0, 7), st.sampled_from("xyz")),
    st.tuples(st.just("delete"), st.integers(0, 7), st.just("")),
    st.tuples(st.just("remove file"), st.just(0), st.just("")),
    st.tuples(st.just("stop"), st.just(0), st.just("")),
)
SCHEDULES = st.lists(st.tuples(st.sampled_from(AGENTS), EDITS), min_size=2, max_size=10)


_PLACES: dict[Path, "Place"] = {}


class Place:
    """A clone with a worktree for each agent."""

    def __init__(self, repo: Path) -> None:
        commit(repo, {PATH: text(BASE) or "", ".gitignore": ".ghp/\n"})
        self.folders = [str(repo / ".git/ghp")]
        self.places: dict[str, Location] = {}
        clock = ManualClock(NOW)
        for agent in AGENTS:
            folder = repo.parent / f"{repo.name}-{agent}"
            git(repo, "worktree", "add", "--quiet", "--detach", str(folder))
            place = locate(str(folder), os.environ)
            assert place
            self.places[agent] = place
            one = Claimant(folder, agent, clock)
            one.beat()
        one.store.fold()
        evaluate.judge(one.parts, None, [])

    @classmethod
    def of(cls, repo: Path) -> "Place":
        """The place in a repository, which all schedules of a test share."""
        if repo not in _PLACES:
            _PLACES.clear()
            _PLACES[repo] = cls(repo)
        return _PLACES[repo]

    def begin(self) -> None:
        """Everybody lives, and nobody has edited anything."""
        for agent, place in self.places.items():
            implicit_leases.drop_all(self.folders, agent)
            self.live(agent, "implementing")
            Path(place.toplevel or "", PATH).write_text(text(BASE) or "")

    def live(self, agent: str, status: str) -> None:
        assert heartbeat.beat(self.folders, agent, {"status": status}, NOW, throttle=0)
        os.utime(f"{self.folders[0]}/agents/{agent}.json", (NOW, NOW))

    def has(self, agent: str) -> str | None:
        place = Path(self.places[agent].toplevel or "", PATH)
        return place.read_text() if place.exists() else None

    def ask(self, agent: str, content: str | None) -> Verdict:
        data = None if content is None else content.encode()
        found = check_edit.quick(
            self.places[agent], self.folders, os.environ, agent, PATH, NOW, lambda: data
        )
        assert found is not None
        return found

    def write(self, agent: str, content: str | None) -> None:
        place = Path(self.places[agent].toplevel or "", PATH)
        if content is None:
            place.unlink(missing_ok=True)
        else:
            place.write_text(content)

    def merges(self, one: str, other: str) -> bool:
        """Whether git merges what both have, as it says itself."""
        repo = Path(self.places[one].toplevel or "")
        commits = [self._commit(repo, self.has(agent)) for agent in (one, other)]
        return run_git(repo, "merge-tree", "--write-tree", *commits).returncode == 0

    def _commit(self, repo: Path, content: str | None) -> str:
        entries = git(repo, "ls-tree", "HEAD", ".gitignore") + "\n"
        if content is not None:
            blob = git(repo, "hash-object", "-w", "--stdin", stdin=content)
            entries += f"100644 blob {blob}\t{PATH}\n"
        tree = git(repo, "mktree", stdin=entries)
        return git(repo, "commit-tree", tree, "-p", "HEAD", "-m", "x")


def text(lines: list[str]) -> str | None:
    return "".join(f"{line}\n" for line in lines)


def edited(before: str | None, how: str, number: int, word: str) -> str | None:
    """The file after an edit."""
    lines = (before or "").splitlines()
    number = min(number, max(0, len(lines) - 1))
    if how == "remove file":
        return None
    if how == "insert":
        lines.insert(number, word)
    elif lines and how == "delete":
        del lines[number]
    elif lines:
        lines[number] = word
    return text(lines)


@pytest.mark.slow
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(schedule=SCHEDULES)
def test_whatever_agents_edit_the_laws_hold(
    repo: Path, schedule: list[tuple[str, tuple[str, int, str]]]
) -> None:
    place = Place.of(repo)
    place.begin()
    living, editing = set(AGENTS), set[str]()
    for agent, (how, number, word) in schedule:
        if agent not in living:
            continue
        if how == "stop":
            place.live(agent, "stopped")
            living.discard(agent)
            continue
        wanted = edited(place.has(agent), how, number, word)
        verdict = place.ask(agent, wanted)
        if verdict.is_refused:
            assert verdict.kind == "conflict"
            assert verdict.holder in living & editing - {agent}, "a refusal names one who lives"
            _check_ways_out(place, agent, wanted, verdict.holder or "")
            continue
        place.write(agent, wanted)
        editing.add(agent)
        for other in living & editing - {agent}:
            assert place.merges(agent, other), "no conflict is made that was not refused"


def _check_ways_out(place: Place, agent: str, wanted: str | None, holder: str) -> None:
    """Somebody can always go on."""
    for one in (agent, holder):
        for content in (text(BASE), place.has(one)):
            assert not place.ask(one, content).is_refused, "one's own change can be given up"
    place.live(holder, "stopped")
    later = place.ask(agent, wanted)
    assert later.holder != holder, "who has ended is in nobody's way"
    place.live(holder, "implementing")
