"""The night shift from its beginning to its end, as `make demo-night` runs it."""

import re
from pathlib import Path

import pytest

from tests.support.ghp import run_ghp

ENDS = """\
    CHECK                                     FIGURE
ok  jobs done                                 12 of 12
ok  pull requests merged by the queue         12
ok  questions to the person, and the answer   1, sorted
ok  agents, and their runs                    4, 16
ok  the killed agent's job                    failed, then finished
ok  the job whose check failed                failed, then finished
ok  sent back by the queue                    #N: it conflicts with main
ok  jobs that two runs had at once            0
ok  main's tests, in a new clone              13 files, green
ok  lines kept of both sides of the conflict  2
ok  processes left                            0
ok  main worktrees with changes               0
"""


@pytest.mark.slow
@pytest.mark.long
def test_a_night_ends_with_all_merged_and_nothing_left(tmp_path: Path) -> None:
    env = {"TMPDIR": str(tmp_path), "COLUMNS": "80"}
    done = run_ghp("agent-demo --night --checks", tmp_path, env, timeout=900)
    shown = re.sub(r"(?<=back by the queue {20})#\d+", "#N", done.out)
    assert ENDS in shown, shown
    assert done.code == 0, done
    assert "Merged (12)" in shown, "the report tells it"
    assert "12 of 12 checks of both clones passed" in shown
    assert [*tmp_path.glob("ghp-demo.*")] == []
