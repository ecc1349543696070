"""The action and the workflow that sweep: least rights, pinned, no text of an event in a shell."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from ghp_agents.core.templates import render_folder
from tests.support.ghp import CHECKOUT
from tests.support.git import commit, git, refs

Clones = Callable[[int], list[Path]]
TOKEN = "not-a-real-token"
LOCK = CHECKOUT / "tools/action.txt"
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
ACTION = "acme/ghp-agents@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v0.1.0"


def action() -> dict[str, Any]:
    return dict(yaml.safe_load((CHECKOUT / "action.yml").read_text()))


def workflow() -> str:
    """The workflow as it is written for a repository."""
    values = {"priorities": ["high"], "default_priority": 0, "needs_human": "x", "people": []}
    return render_folder("github", {**values, "action": ACTION})["workflows/agents.yml"]


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def steps(source: dict[str, Any]) -> Iterator[dict[str, Any]]:
    jobs = source["jobs"].values() if "jobs" in source else [source["runs"]]
    for job in jobs:
        yield from job["steps"]


def test_the_workflow_loses_nothing_and_may_write_only_what_it_must() -> None:
    source = yaml.safe_load(workflow())
    on = source[True]  # YAML takes `on` for a truth
    assert set(on) == {"schedule", "workflow_dispatch", "issues", "issue_comment"}
    (cron,) = on["schedule"]
    minutes = cron["cron"].split()[0]
    assert not minutes.startswith(("0", "*")), "at the full hour GitHub drops the most"
    assert source["permissions"] == {}
    (job,) = source["jobs"].values()
    assert job["permissions"] == {"contents": "write", "issues": "write"}
    assert source["concurrency"] == {"group": "ghp-agents", "cancel-in-progress": False}


def test_everything_is_pinned_and_no_shell_sees_an_expression() -> None:
    for source in (action(), yaml.safe_load(workflow())):
        for step in steps(source):
            assert "${{" not in step.get("run", ""), step
            if "uses" in step:
                assert PINNED.fullmatch(step["uses"]), step


def test_the_workflow_runs_the_action_by_its_commit_and_installs_nothing_itself() -> None:
    last = [*steps(yaml.safe_load(workflow()))][-1]
    assert last["uses"] == ACTION.partition(" ")[0]
    assert not any("run" in step for step in steps(yaml.safe_load(workflow())))


def test_a_job_takes_from_a_cache_only_what_the_program_checks() -> None:
    """Another job of the main branch can write the cache, so no program comes from it."""
    found = [
        (step["uses"].partition("@")[0], step["with"]["path"])
        for source in (action(), yaml.safe_load(workflow()))
        for step in steps(source)
        if "cache" in f"{step.get('uses', '')} {[*step.get('with', {})]}"
    ]
    folder = "${{ runner.temp }}/ghp-agents-cache"
    assert found == [("actions/cache/restore", folder), ("actions/cache/save", folder)]


# ---------------------------------------------------------------------- what starts it


def starts(event: str, **payload: Any) -> bool:
    """Whether the workflow's condition lets an event start it, as GitHub would evaluate it."""
    (job,) = yaml.safe_load(workflow())["jobs"].values()
    text = re.sub(r"fromJSON\('(.*?)'\)", r"\1", job["if"])
    text = re.sub(r"github\.event_name", "event", text)
    text = re.sub(r"github\.event\.([\w.*]+)", r"read('\1')", text)
    text = text.replace("&&", " and ").replace("||", " or ")
    text = re.sub(r"(?<!<)!(?!=)", " not ", text)

    def read(path: str) -> Any:
        found: Any = payload
        for name in path.split("."):
            if name == "*":
                continue
            listed = isinstance(found, list)
            found = [x[name] for x in found] if listed else (found or {}).get(name)
        return found if found is not None else ""

    def contains(where: Any, what: str) -> bool:
        texts = where.lower() if isinstance(where, str) else [each.lower() for each in where]
        return what.lower() in texts

    names = {
        "event": event, "read": read, "contains": contains,
        "startsWith": lambda text, start: str(text).lower().startswith(start),
    }  # fmt: skip
    return bool(eval(" ".join(text.split()), names))


def comment(body: str, author: str = "MEMBER", labels: Sequence[str] = (), **more: Any) -> bool:
    said = {"body": body, "author_association": author}
    issue = {"labels": [{"name": name} for name in labels], **more}
    return starts("issue_comment", comment=said, issue=issue)


def label(name: str, kind: str = "User") -> bool:
    return starts("issues", label={"name": name}, sender={"type": kind})


def test_commands_answers_labels_and_the_schedule_start_it() -> None:
    assert starts("schedule")
    assert starts("workflow_dispatch")
    assert comment("/agent assign worker-3")
    assert comment("> Which port?\n\n8080", "COLLABORATOR")
    assert comment("8080", "OWNER", labels=["x"])  # the label of an open question
    assert label("agent:worker-3")


@pytest.mark.parametrize("author", ["NONE", "CONTRIBUTOR", "FIRST_TIMER", "MANNEQUIN"])
def test_who_may_not_write_starts_nothing(author: str) -> None:
    assert not comment("/agent assign worker-3", author)


def test_talk_pull_requests_and_its_own_writes_start_nothing() -> None:
    assert not comment("Thanks!")
    assert not comment("/agent assign worker-3", pull_request={"url": "…"})
    assert not comment("**worker-1** works here. > x <!-- ghp:{} -->", labels=["x"])
    assert not label("agent:stale")
    assert not label("x")
    assert not label("bug")
    assert not label("agent:worker-3", "Bot")


# ------------------------------------------------------------------------ installation


def test_the_action_installs_libraries_by_their_digests_and_nothing_else() -> None:
    (install,) = [step["run"] for step in steps(action()) if "pip install" in step.get("run", "")]
    assert "--require-hashes --only-binary :all:" in install
    locked = re.findall(r"^([a-z0-9-]+)==([\w.]+)[^\\\n]*\\$", LOCK.read_text(), re.MULTILINE)
    pinned = dict(locked)
    hashes = re.split(r"^[a-z]", LOCK.read_text(), flags=re.MULTILINE)[1:]
    assert all("--hash=sha256:" in block for block in hashes)
    assert len(pinned) == len(hashes)
    for needed in PROJECT["dependencies"]:
        name, _, least = needed.partition(">=")
        assert version(pinned[name.lower()]) >= version(least), needed


@pytest.mark.slow
def test_the_lock_file_can_be_installed_with_these_digests(tmp_path: Path) -> None:
    """Asked of pip without a network: the file is read as pip reads it."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "--no-deps",
         "--require-hashes", "--ignore-installed", "--find-links", str(tmp_path), "-r", str(LOCK)],
        capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert "No matching distribution found for" in done.stderr, "it got as far as looking for them"


# ------------------------------------------------------------------------- its last step


class Job:
    """A job on a runner, whose Python tells with what it was started."""

    def __init__(self, folder: Path, clone: Path) -> None:
        self.clone, self.seen = clone, folder / "seen"
        self.summary, self.output = folder / "summary.md", folder / "output"
        python = folder / "ghp-agents/bin/python"
        python.parent.mkdir(parents=True)
        python.write_text(f'#!/bin/sh\nenv > "{self.seen}"\nexec "{sys.executable}" "$@"\n')
        python.chmod(0o755)
        self.environ = {
            "GITHUB_ACTION_PATH": str(CHECKOUT),
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "RUNNER_TEMP": str(folder),
            "TOKEN": TOKEN,
        }

    def run(self, **environ: str) -> "subprocess.CompletedProcess[str]":
        """The last step, as the action starts it."""
        return subprocess.run(
            [str(CHECKOUT / "tools/sweep.sh")],
            cwd=self.clone,
            env={**os.environ, **self.environ, **environ},
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )

    def environment(self) -> dict[str, str]:
        """What the program was given."""
        return dict(line.split("=", 1) for line in self.seen.read_text().splitlines())


@pytest.fixture
def job(clone: Path, tmp_path: Path) -> Job:
    return Job(tmp_path / "runner", clone)


@pytest.mark.slow
def test_a_job_sweeps_and_leaves_a_summary(job: Job, remote: Path) -> None:
    commit(job.clone, {"click.py": "raise SystemExit('taken for a library')\n"})
    done = job.run()
    assert done.returncode == 0, done.stderr
    assert "refs/heads/ghp-state" not in refs(remote)  # nobody published there before
    assert len(refs(remote, "refs/ghp/clone")) == 1
    assert job.summary.read_text().startswith("## Sweep of agents (release)\n")
    assert job.output.read_text() == "cache=changed\n"


@pytest.mark.slow
def test_the_token_is_for_git_and_the_program_alone(job: Job) -> None:
    done = job.run()
    assert TOKEN not in done.stdout + done.stderr
    assert done.stdout.startswith("::add-mask::")
    given = job.environment()
    assert [name for name, value in given.items() if TOKEN in value] == ["GITHUB_TOKEN"]
    assert given["GIT_CONFIG_KEY_1"] == "http.https://github.com/.extraheader"
    assert given["GIT_CONFIG_VALUE_0"] == "", "a header that a checkout left is taken away first"
    assert "extraheader" not in git(job.clone, "config", "--list")


@pytest.mark.slow
def test_on_another_server_the_token_is_that_servers(job: Job) -> None:
    job.run(GITHUB_SERVER_URL="https://ghe.example.com")
    given = job.environment()
    assert given["GH_HOST"] == "ghe.example.com"
    assert given["GH_ENTERPRISE_TOKEN"] == TOKEN
    assert "GITHUB_TOKEN" not in given


@pytest.mark.slow
def test_the_inputs_are_words_of_the_command_and_nothing_else(job: Job, remote: Path) -> None:
    dry = job.run(POLICY="alert", DRY_RUN="true")
    assert dry.returncode == 0, dry.stderr
    assert "(alert, dry run)" in job.summary.read_text()
    assert refs(remote, "refs/ghp/clone") == {}
    hostile = job.run(POLICY="$(touch pwned); --help")
    assert hostile.returncode == 2
    assert "is not one of" in hostile.stderr
    assert not (job.clone / "pwned").exists()
