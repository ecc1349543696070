"""A job as YAML, and as an issue."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ghp_agents.core.ids import IssueNumber
from ghp_agents.issues.issue import PRIORITIES, Issue
from ghp_agents.jobs import job_file
from ghp_agents.jobs.job_file import JobFile

words = some.text("abc xyz/.-_é", min_size=1, max_size=20).map(str.strip).filter(bool)
entries = some.lists(
    some.text("abc/._", min_size=1, max_size=20).filter(lambda text: text.strip("._")), max_size=4
).map(tuple)
jobs = some.builds(
    JobFile,
    id=some.from_regex(r"[a-z][a-z0-9_-]{0,10}", fullmatch=True),
    title=words,
    priority=some.sampled_from(PRIORITIES),
    created_by=some.sampled_from(["", "user", "worker-1"]),
    due=some.sampled_from(["", "2026-12-31"]),
    description=some.sampled_from(["", "One line.", "Two\n\nlines: `x`\n- a\n- b"]),
    context_files=entries,
    deliverables=entries,
    requirements=entries,
    capabilities=entries,
    status=some.just("queued"),
    assigned_to=some.just(""),
    dependencies=some.just(()),
    result=some.just(""),
)


def as_issue(job: JobFile) -> Issue:
    return Issue(
        "0a1b2c3d", IssueNumber(7), job.title, body=job_file.body(job), priority=job.priority
    )


@pytest.mark.slow
@given(jobs)
def test_a_job_is_the_same_after_yaml_and_after_its_issue(job: JobFile) -> None:
    assert job_file.parse(job_file.render(job), "a.yaml") == [job]
    issue = as_issue(job)
    assert job_file.mark(issue) == (job.id, job.digest)
    assert job_file.of_issue(issue, "queued", {}) == job


def test_a_job_of_an_issue_that_was_not_imported_has_its_number() -> None:
    issue = Issue("0a", IssueNumber(12), "Parse", body="Text\n\n## Scope\n\n- src/", author="Ann")
    job = job_file.of_issue(issue._replace(blocked_by=(IssueNumber(3),)), "queued", {3: "a"})
    assert job == JobFile(
        "issue-12", "Parse", created_by="Ann", dependencies=("a",),
        description="Text\n\n## Scope\n\n- src/",
    )  # fmt: skip


def test_other_names_of_two_fields_are_read_too() -> None:
    text = "{id: a, title: A, due_date: 2026-12-31, context: [a.md#L1-9], result: null}"
    assert job_file.parse(text, "a.yaml") == [
        JobFile("a", "A", due="2026-12-31", context_files=("a.md#L1-9",))
    ]


def test_only_who_may_write_marks_an_issue_as_a_job() -> None:
    issue = as_issue(JobFile("a", "A"))
    assert job_file.mark(issue._replace(fields_count=False)) == ("", "")
    assert job_file.name_of(issue._replace(fields_count=False)) == "issue-7"
