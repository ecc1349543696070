"""The night shift from its beginning to its end, as `make demo-night` runs it."""

import re
import tempfile
from pathlib import Path

import pytest

from ghp_agents.demo import night_jobs
from tests.support.ghp import invoke
from tests.support.thorough import IS_THOROUGH

# All that goes wrong is among these, and what they need.
FEW = ("words", "lines", "letters", "longest", "counts", "as_json")
ENDS = """\
    CHECK                                     FIGURE
ok  jobs done                                 {jobs} of {jobs}
ok  pull requests merged by the queue         {jobs}
ok  questions to the person, and the answer   1, sorted
ok  agents, and their runs                    4, {runs}
ok  the killed agent's job                    failed, then finished
ok  the job whose check failed                failed, then finished
ok  sent back by the queue                    #N: it conflicts with main
ok  jobs that two runs had at once            0
ok  main's tests, in a new clone              {files} files, green
ok  lines kept of both sides of the conflict  2
ok  processes left                            0
ok  main worktrees with changes               0
"""


@pytest.mark.slow
@pytest.mark.long
def test_a_night_ends_with_all_merged_and_nothing_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = tuple(job for job in night_jobs.JOBS if IS_THOROUGH or job.id in FEW)
    monkeypatch.setattr(night_jobs, "JOBS", jobs)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    env = {"TMPDIR": str(tmp_path), "COLUMNS": "80"}
    done = invoke("agent-demo --night --checks", tmp_path, env)
    shown = re.sub(r"(?<=back by the queue {20})#\d+", "#N", done.out)
    count = len(jobs)
    assert ENDS.format(jobs=count, runs=count + 4, files=count + 1) in shown, shown
    assert done.code == 0, done
    assert f"Merged ({count})" in shown, "the report tells it"
    assert "12 of 12 checks of both clones passed" in shown
    assert [*tmp_path.glob("ghp-demo.*")] == []
