"""What runs by itself, and what agents may do, is changed on main only by a person."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.pulls.finish import Finished
from ghp_agents.pulls.merging import record_review
from ghp_agents.pulls.merging.merge import Merged
from ghp_agents.pulls.merging.merge_batch import Passed
from tests.support.git import commit, git
from tests.support.road import Road, merged

CARD = ".ghp/agents/worker-1.md"
LIMITED = "---\npermissions:\n  - tool: write_file\n  - tool: bash\n    scope: [make check]\n---\n"
MACHINES = "agents:\n  night:\n    permissions:\n      - tool: write_file\n        scope: [docs/]\n"
Change = Callable[[Path], object]


@pytest.fixture
def road(repo: Path) -> Road:
    road = Road(repo)
    road.put({CARD: LIMITED, ".ghp/machines.yaml": MACHINES, "tools/set.json": "{}\n"})
    (repo / ".gemini").symlink_to("tools")
    git(repo, "add", ".gemini")
    git(repo, "commit", "--quiet", "-m", "Link")
    road.issue("Parse files")
    return road


def finished(road: Road, change: Change) -> Finished:
    place = road.start("worker-1").path
    change(place)
    git(place, "add", "--all", "--force")
    git(place, "commit", "--quiet", "-m", "Fix a word")
    return road.finish("worker-1", place)


def put(path: str, text: str = "x\n") -> Change:
    def change(place: Path) -> None:
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text)

    return change


def as_link(place: Path) -> None:
    (place / CARD).unlink()
    (place / CARD).symlink_to("../../README.md")


def why_not(road: Road, name: str = "lead") -> str:
    """Why neither the queue nor an agent merges it."""
    (skipped,) = road.queue(name)
    assert isinstance(skipped, Passed)
    with pytest.raises(RefusedError) as refused:
        road.merge(2)
    assert str(refused.value) == skipped.why
    return skipped.why


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "why"),
    [
        (put(CARD, "---\n---\nBe good.\n"), "worker-1 loses its permissions"),
        (put(CARD, LIMITED.replace("[make check]", "[make]")), "worker-1 may do more with bash"),
        (lambda place: (place / CARD).unlink(), "worker-1 loses its card"),
        (lambda place: (place / CARD).rename(place / "w.md"), "worker-1 loses its card"),
        (as_link, "worker-1 gets a card that cannot be read"),
        (put(".ghp/machines.yaml", "agents: {}\n"), "night loses its card"),
        (put(".ghp/machines.yaml", "agents: ["), "night loses its card"),
        (put(".ghp/machines.yaml", MACHINES.replace("docs/", "'**'")),
         "night may do more with write_file"),
    ],
    ids=["emptied", "wider", "deleted", "renamed", "link", "machines", "broken", "pattern"],
)  # fmt: skip
def test_no_agent_and_no_queue_gives_agents_more_than_their_cards(
    road: Road, change: Change, why: str
) -> None:
    done = finished(road, change)
    assert why in " ".join(done.notes)
    review = record_review.review
    assert why_not(road) == f"#2 gives agents more than their cards on main: {why}."
    person = road.house("@me")
    review(person, person.forge.get(2), "approve")
    assert why_not(road, "@me") == f"#2 gives agents more than their cards on main: {why}."
    warnings = merged(road.merge(2, "@me")).warnings
    assert why in " ".join(warnings)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        CARD.replace("worker-1", "worker-9"), ".github/workflows/ci.yml", "sub/.GHP/tasks/a.md",
        ".Claude/settings.json", "sub/.husky/pre-commit", "Jenkinsfile", "tools/set.json",
        ".clau\u200cde/settings.json",
    ],
)  # fmt: skip
def test_what_runs_by_itself_waits_for_a_person_who_approves_this_commit(
    road: Road, path: str
) -> None:
    done = finished(road, put(path))
    assert "files that make programs run" in " ".join(done.notes)
    assert "no person has approved this commit" in why_not(road)
    other, person = road.house("worker-2"), road.house("@me")
    record_review.review(other, other.forge.get(2), "approve")
    assert "no person has approved this commit" in why_not(road)
    record_review.review(person, person.forge.get(2), "approve")
    commit(road.work, {"more.txt": "x\n"}, "More")
    road.finish("worker-1", road.work)
    assert "no person has approved this commit" in why_not(road)
    record_review.review(person, person.forge.get(2), "approve")
    (outcome,) = road.queue()
    assert isinstance(outcome, Merged)


@pytest.mark.slow
def test_other_work_is_merged_while_such_a_change_waits(road: Road) -> None:
    finished(road, put(".github/workflows/ci.yml"))
    road.issue("Write a page")
    road.done("worker-2", 3, {"page.md": "x\n"})
    outcomes = {outcome.pull.number: type(outcome) for outcome in road.queue()}
    assert outcomes == {2: Passed, 4: Merged}


@pytest.mark.slow
def test_instructions_are_named_and_merged(road: Road) -> None:
    done = finished(road, put("AGENTS.md"))
    assert done.notes[0] == "This changes instructions of agents: AGENTS.md."
    (outcome,) = road.queue()
    assert isinstance(outcome, Merged)
    assert os.environ.get("GHP_AGENT") is None
