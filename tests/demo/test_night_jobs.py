"""The jobs of the night fit together: in their order, each part passes its test."""

from typing import Any

import pytest

from ghp_agents.core import front_matter
from ghp_agents.demo import night_jobs
from ghp_agents.demo.night_jobs import ANSWER, JOBS, OPTIONS, RED, NightJob, code
from ghp_agents.jobs import job_file


def run(job: NightJob, names: dict[str, Any], text: str) -> bool:
    """Whether a job's test passes with this module; imports come from the parts before it."""
    lines = [line for line in text.split("\n") if not line.startswith("from ")]
    exec("\n".join(lines), names)
    return bool(eval(job.test, names))


def test_each_part_passes_its_test_after_those_that_it_needs() -> None:
    names: dict[str, Any] = {}
    for job in JOBS:
        assert {*job.needs} <= names.keys()
        assert run(job, names, code(job, ANSWER)), job.id


def test_the_wrong_first_try_and_the_other_answer_fail_their_tests() -> None:
    (red,) = [job for job in JOBS if job.trouble == RED]
    assert not run(red, {}, code(red, wrong=True))
    names: dict[str, Any] = {}
    for job in JOBS[:8]:
        passes = run(job, names, code(job, OPTIONS[1]))
    assert not passes


def test_the_jobs_can_be_imported() -> None:
    jobs = job_file.parse(night_jobs.job_files(), "jobs.yaml")
    assert [job.id for job in jobs] == [job.id for job in JOBS]
    assert [job.dependencies for job in jobs] == [job.needs for job in JOBS]
    assert len(jobs) == 12
    assert front_matter.load(night_jobs.job_files(), 20_000, "jobs")[0]["deliverables"] == [
        "words.py", "test_words.py",
    ]  # fmt: skip


def test_a_job_is_found_by_its_title() -> None:
    assert night_jobs.find("Write the manual").id == "manual"
    with pytest.raises(StopIteration):
        night_jobs.find("Sleep")
