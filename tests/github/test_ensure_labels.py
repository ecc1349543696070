"""The labels of a repository: missing ones are made, the others stay as they are."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ghp_agents.github import ensure_labels as labels
from ghp_agents.github.api.errors import ForbiddenError, InvalidError
from ghp_agents.github.labels import Label, of_jobs, standard
from ghp_agents.issues.issue import LABEL_LIMIT
from ghp_agents.settings.settings import Settings
from tests.support import hubs
from tests.support.hubs import Script, says

SETTINGS = Settings(
    capabilities={"worker-1": ("Rust", " browser "), "worker-2": ("rust",)},
    accounts={"worker-3": "acme-bot", "Ada Example": "ada"},
    orchestrators=("lead",),
)


def names(some: list[Label]) -> list[str]:
    return [label.name for label in some]


def test_the_standard_labels_are_wanted_everywhere() -> None:
    assert labels.wanted(Settings()) == standard()


def test_agents_and_capabilities_of_the_configuration_can_be_chosen_from_the_list() -> None:
    assert names(labels.wanted(SETTINGS))[len(standard()) :] == [
        "agent:lead", "agent:worker-1", "agent:worker-2", "agent:worker-3",
        "needs:browser", "needs:rust",
    ]  # fmt: skip


def test_the_label_for_questions_is_the_one_that_the_configuration_names() -> None:
    wanted = labels.wanted(Settings(needs_human_label="ask me"))
    assert "ask me" in names(wanted)
    assert "agent:needs-human" not in names(wanted)


def test_the_states_of_jobs_are_wanted_where_the_settings_show_them() -> None:
    wanted = labels.wanted(Settings(job_labels=True))
    assert wanted == [*standard(), *of_jobs()]


def test_each_is_one_that_github_takes() -> None:
    long = Settings(capabilities={"w" * 60: ("x" * 60,)})
    for label in [*labels.wanted(SETTINGS), *labels.wanted(long)]:
        assert len(label.name) <= LABEL_LIMIT
        assert len(label.description) <= 100
        assert len(label.color) == 6


EPIC = Label("epic", "3e4b9e", "Consists of other issues")


@pytest.fixture
def script() -> Iterator[Script]:
    """A server that answers by a script."""
    server = Script()
    yield server
    server.close()


def test_names_that_differ_in_case_alone_are_one(repo: Path, script: Script) -> None:
    script.then(says(200, [{"name": "EPIC"}, {"name": "Priority:High"}]))
    missing = labels.missing(hubs.hub(repo, script), standard())
    left = ["agent:stale", "agent:needs-human", "priority:critical", "priority:medium"]
    assert names(missing) == [*left, "priority:low"]


def test_one_that_somebody_else_makes_at_that_moment_is_as_good(repo: Path, script: Script) -> None:
    existing = {"message": "Validation Failed", "errors": [{"code": "already_exists"}]}
    script.then(says(422, existing))
    labels.make(hubs.hub(repo, script), EPIC)
    assert script.asked[0].body == EPIC._asdict()


def test_one_that_was_made_though_the_answer_was_lost_is_not_made_again(
    repo: Path, script: Script
) -> None:
    script.then(hubs.cut, says(200, [{"name": "epic"}]))
    labels.make(hubs.hub(repo, script), EPIC)
    assert [line.split("?")[0] for line in script.lines] == [
        "POST /repos/acme/widgets/labels", "GET /repos/acme/widgets/labels",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "error"), [(422, InvalidError), (403, ForbiddenError)], ids=["wrong", "forbidden"]
)
def test_what_github_refuses_is_said(
    repo: Path, script: Script, status: int, error: type[Exception]
) -> None:
    script.then(says(status, {"message": "No", "errors": [{"code": "invalid"}]}))
    with pytest.raises(error):
        labels.make(hubs.hub(repo, script), EPIC)
