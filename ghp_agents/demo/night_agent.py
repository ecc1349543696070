"""The scripted client of the night: it does one job as a model would, with what goes wrong."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import issue_of_branch
from ghp_agents.demo import night_jobs as jobs
from ghp_agents.demo.night_jobs import NightJob
from ghp_agents.demo.sandbox import ghp, run, run_git
from ghp_agents.git import process as git
from ghp_agents.ports import Clock

HANGS = "I measure, and do not come back."  # in the log of the run that is killed then
Say = Callable[[str], None]
STUCK_S = 600.0  # seconds; it is killed long before


def play(folder: Path, environ: Mapping[str, str], clock: Clock, say: Say) -> int:
    """Do the job of this worktree's branch; returns the exit code. `say` writes to the log of this
    run. Raises GhpError."""
    number = issue_of_branch(run_git(folder, "branch", "--show-current"))
    issue = json.loads(ghp(folder, environ, "agent-issue", "show", str(number), "--json"))
    job = jobs.find(issue["title"])
    _bring_up_to_main(folder, job, say)
    answer = ""
    if job.trouble == jobs.ASKS:
        answer = _answer(folder, environ, int(number or 0))
        if not answer:
            options = [word for option in jobs.OPTIONS for word in ("--option", option)]
            ghp(folder, environ, "agent-escalate", jobs.QUESTION, *options)
            return 0
    path = folder / job.module
    is_first = not path.exists()
    path.write_text(jobs.code(job, answer, wrong=is_first and job.trouble == jobs.RED))
    if is_first and job.trouble == jobs.KILLED:
        say(HANGS)
        clock.wait(STUCK_S)
        return 1
    (folder / f"test_{job.module}").write_text(jobs.test_code(job))
    if job.trouble == jobs.CONFLICT:
        _add_line(folder, job)
    run_git(folder, "add", "-A")
    if run_git(folder, "status", "--porcelain"):
        run_git(folder, "commit", "-q", "-m", job.title)
    done = run(folder, environ, "agent-finish")
    say(done.out + done.err)
    return done.code


def _answer(folder: Path, environ: Mapping[str, str], issue: int) -> str:
    """The answer to the question about an issue; empty if there is none yet."""
    questions = json.loads(ghp(folder, environ, "agent-escalations", "--json"))
    answers = [x["answers"][-1]["text"] for x in questions if x["issue"] == issue and x["answers"]]
    return str(answers[-1]) if answers else ""


def _bring_up_to_main(folder: Path, job: NightJob, say: Say) -> None:
    """Merge main into the branch. Where both add a line, both lines stay."""
    # Each worktree has its own FETCH_HEAD. Two agents at once cannot both change `origin/main`.
    run_git(folder, "fetch", "-q", "--refmap=", "origin", "main")
    done = git.run(["merge", "-q", "--no-edit", "FETCH_HEAD"], cwd=folder)
    if done.code == 0:
        return
    names = run_git(folder, "diff", "--name-only", "--diff-filter=U").split()
    if names != [jobs.PAGE]:
        raise GhpError(f"Cannot merge main: {done.err}", hint="See the log of this run.")
    page = folder / jobs.PAGE
    page.write_text(run_git(folder, "show", f"FETCH_HEAD:{jobs.PAGE}") + "\n")
    _add_line(folder, job)
    say(f"Both sides changed {jobs.PAGE}: I keep both lines.")
    run_git(folder, "add", jobs.PAGE)
    run_git(folder, "commit", "-q", "--no-edit")


def _add_line(folder: Path, job: NightJob) -> None:
    page = folder / jobs.PAGE
    line, text = f"- `{job.module}`: {job.title}\n", page.read_text()
    if line not in text:
        page.write_text(text + line)


def main(clock: Clock, say: Say) -> int:
    """The client in its own process."""
    return play(Path.cwd(), dict(os.environ), clock, say)
