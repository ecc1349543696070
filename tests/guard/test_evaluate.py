"""The slow road: over clones, for people, and for who is about to edit."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.ids import AgentName
from ghp_agents.guard import evaluate as ruling
from ghp_agents.hotpath import implicit_leases as touched
from ghp_agents.hotpath import policy_cache as rulebook
from ghp_agents.hotpath.policy import Verdict
from ghp_agents.leases.request import LeaseRequest
from tests.support.claimants import Claimant
from tests.support.clock import ManualClock
from tests.support.consent import anyone_steals
from tests.support.git import git
from tests.support.repos import Restored, Site
from tests.support.taking import take

NOW = 1_790_000_000.0


@pytest.fixture
def pair(restored: Restored) -> tuple[Claimant, Claimant]:
    """Two agents in two clones; the second has a lease and a claim of which the first heard."""
    return agents_of(restored(both_work))


def agents_of(site: Site) -> tuple[Claimant, Claimant]:
    clock = ManualClock(NOW)
    one, two = (Claimant(path, f"worker-{n}", clock) for n, path in enumerate(site.clones, 1))
    return one, two


def both_work(site: Site) -> None:
    site.make_clones()
    one, two = agents_of(site)
    one.beat()
    one.new("Parse files", body="## Scope\n- src/parser/\n")
    one.sync()
    two.beat()
    two.sync().claim(1)
    take(two.parts, LeaseRequest(("/lib/",), reason="sorting"))
    two.sync()
    one.sync()


def judge(one: Claimant, *paths: str, person: bool = False, editing: bool = False) -> list[Verdict]:
    name = None if person else AgentName(one.name)
    return ruling.judge(one.parts, name, paths, editing=editing)


def words(verdicts: list[Verdict]) -> list[tuple[str, str, str | None]]:
    return [(verdict.word, verdict.kind, verdict.holder) for verdict in verdicts]


PATHS = ("lib/a.py", "src/parser/a.py", "README.md")


@pytest.mark.slow
def test_what_another_clone_holds_is_denied_as_long_as_its_agent_lives(
    pair: tuple[Claimant, Claimant],
) -> None:
    one, two = pair
    held = [("deny", "lease", "worker-2"), ("deny", "scope", "worker-2"), ("allow", "", None)]
    assert words(judge(one, *PATHS)) == held
    two.beat(status="stopped")
    two.sync()
    one.sync()
    assert words(judge(one, *PATHS)) == [("allow", "", None)] * 3


@pytest.mark.slow
def test_an_agent_elsewhere_dies_by_news_alone(pair: tuple[Claimant, Claimant]) -> None:
    one, _ = pair
    one.clock.wait(4_000)
    one.beat()
    assert judge(one, "lib/a.py")[0].is_refused, "nothing was heard, so nothing is known"
    one.sync()
    one.clock.wait(4_000)
    one.sync()
    assert words(judge(one, "lib/a.py")) == [("allow", "", None)]


@pytest.mark.slow
def test_a_person_is_told_of_all_and_refused_nothing(pair: tuple[Claimant, Claimant]) -> None:
    one, _ = pair
    verdicts = judge(one, *PATHS, person=True)
    assert [(verdict.word, verdict.kind) for verdict in verdicts] == [
        ("allow", "lease"), ("allow", "scope"), ("allow", ""),
    ]  # fmt: skip
    assert [verdict.why.partition(" since ")[0] for verdict in verdicts] == [
        "lib/a.py is leased by worker-2",
        "src/parser/a.py is in the scope of #1 «Parse files», which worker-2 has held",
        "",
    ]


def test_a_person_is_not_told_of_their_own(clone: Path) -> None:
    one = Claimant(clone, "@me", ManualClock(NOW))
    take(one.parts, LeaseRequest(("/lib/",)))
    assert judge(one, "lib/a.py", person=True) == [Verdict("allow", "lib/a.py")]


@pytest.mark.slow
def test_only_who_is_about_to_edit_takes_implicit_leases(pair: tuple[Claimant, Claimant]) -> None:
    one, _ = pair
    judge(one, "README.md")
    judge(one, "README.md", person=True, editing=True)
    assert touched.list_all(one.ws.folders) == []
    judge(one, *PATHS, "../outside", editing=True)
    assert [touch.path for touch in touched.list_all(one.ws.folders)] == ["README.md"]


@pytest.mark.slow
def test_a_former_holder_is_refused_everything(pair: tuple[Claimant, Claimant]) -> None:
    anyone_steals()
    one, two = (Claimant(x.ws.folder, x.name, x.clock) for x in pair)
    one.claim(1, steal=True, reason="it is urgent")
    one.sync()
    two.sync()
    (verdict,) = judge(two, "README.md")
    assert (verdict.word, verdict.kind, verdict.holder) == ("deny", "fenced", "worker-1")
    assert "it is urgent" in verdict.why


@pytest.mark.slow
def test_a_claim_that_is_given_back_while_one_judges_bars_nobody(
    pair: tuple[Claimant, Claimant], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = pair
    compiled = ruling.current(one.parts)
    two.release(1)
    one.sync()
    monkeypatch.setattr(ruling, "current", lambda *parts: compiled)
    assert words(judge(one, "src/parser/a.py")) == [("allow", "", None)]


def test_the_worktree_of_another_is_left_alone_while_it_works(
    clone: Path, worktree: Callable[[Path, str], Path]
) -> None:
    clock = ManualClock(NOW)
    theirs = worktree(clone, "12")
    other = Claimant(theirs, "worker-2", clock)
    (other.ws.git_dir / "ghp-agent").write_text("worker-2\n")
    other.beat()
    one = Claimant(theirs, "worker-1", clock)
    one.beat()
    assert words(judge(one, "a.py")) == [("deny", "worktree", "worker-2")]
    assert words(judge(other, "a.py")) == [("allow", "", None)]
    assert words(judge(one, "a.py", person=True)) == [("allow", "", None)]
    other.beat(status="stopped")
    assert words(judge(one, "a.py")) == [("allow", "", None)]


@pytest.mark.slow
def test_a_book_that_cannot_be_kept_is_made_each_time(pair: tuple[Claimant, Claimant]) -> None:
    one, _ = pair
    path = Path(rulebook.path_of(one.ws.home_folder))
    path.unlink(missing_ok=True)
    path.mkdir(parents=True)
    for _ in range(2):
        assert words(judge(one, "lib/a.py")) == [("deny", "lease", "worker-2")]


def test_in_a_bare_repository_paths_are_judged_all_the_same(remote: Path) -> None:
    one = Claimant(remote, "@me", ManualClock(NOW))
    git(remote, "config", "user.name", "Ann Example")
    assert judge(one, "a.py", person=True) == [Verdict("allow", "a.py")]
