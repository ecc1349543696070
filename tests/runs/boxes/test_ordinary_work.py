"""A run in a box by default does ordinary work, and reads in words what it cannot do."""

import sys
from pathlib import Path

import pytest

from ghp_agents.messages import mailbox
from tests.support import boxes
from tests.support.consent import configure
from tests.support.ghp import run_ghp
from tests.support.git import git
from tests.support.runs import shift_of, states

GHP = f"{sys.executable} -m ghp_agents"
WORK = f"""
. "${{0%/*}}/lib.sh"
{GHP} agent-heartbeat --status testing
{GHP} agent-send @all 'Good evening' 2>&1 >/dev/null | grep 'Not sent'
{GHP} agent-claim 2 2>&1
{GHP} agent-sync 2>&1
{GHP} agent-tasks start index 2>&1 | head -n 1
echo new >new.txt; git add . && git commit -qm "Add a file"
git fetch origin && echo fetched
echo "for you" >"$(git rev-parse --git-common-dir)/ghp/agent-out"
{GHP} agent-finish 2>&1 | grep passed
"""
READ = """\
from beside the script
Error: Only the remote origin can decide this, and this run is in a sandbox, which does not reach \
it. Nothing was changed.
Hint: Continue without it, or ask a person: `ghp agent-escalate TEXT`.
Error: origin: this run is in a sandbox; `ghp agent-work` sends what it writes (0 changes kept \
here).
Hint: The next sync tries again. Run `ghp agent-doctor` to check the remote. Nothing is lost.
Error: Main declares no task 'index'.
fetched
✓ `test -f new.txt` passed.
"""


@boxes.works
@pytest.mark.slow
def test_a_run_in_a_box_does_ordinary_work_and_reads_what_it_cannot_do(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The repository, its remote and the runner's script are in a folder that the box has for
    itself."""
    monkeypatch.setenv("GHP_BACKGROUND", "0")
    configure(clone, {"agents": {"checks": ["test -f new.txt"]}})
    shift = shift_of(clone, "One", "Two")
    script = tmp_path / "scripts/agent.sh"
    script.parent.mkdir()
    script.write_text(WORK)
    (script.parent / "lib.sh").write_text("echo from beside the script\n")
    runner = f"sh {script} {{prompt_file}}"
    args = ["agent-work", "--agent", "night", "--once", "--runner", runner]
    done = run_ghp(args, clone, boxes.ENV)
    assert done.code == 0, done.err
    assert states(shift.runs()) == [("night", 1, "finished")]
    assert run_ghp("agent-logs night", clone).out == READ
    assert "You are in a sandbox." in shift.prompt()
    assert (clone / ".git/ghp/agent-out").read_text() == "for you\n"
    assert git(clone, "ls-remote", "origin", "refs/heads/agent/night/1-one")
    app = shift.app()
    (message,) = mailbox.read(app.ws, app.store.snapshot())
    assert message.subject == "Good evening"
    assert app.store.sync_status().unsent == 0
    shift.end_all()
