"""What others write starts a bounded number of things here, whomever it names as its writer."""

import json
import re
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.issues import record as issue_record
from ghp_agents.issues.record import IssueEvent
from ghp_agents.leases import record as lease_record
from ghp_agents.leases.record import LeaseEvent
from tests.security.test_hostile_messages import AGENT, message
from tests.state import strangers
from tests.support.ghp import invoke, succeed
from tests.support.git import git
from tests.support.hooks import call, payload

Clones = Callable[[int], list[Path]]
START = {"Kind": "request", "Sender": "lead", "Sender_Type": "person", "Workflow": "review"}
AT_A_TIME = 10
AT = Timestamp("2026-01-02T03:04:05Z")


def forged(count: int, begin: int = 0) -> dict[str, bytes]:
    """Messages in a person's name, which name many clones as their origin."""
    return dict(
        message(f"{n:012x}", Clock=str(n + 9), Clone=f"{n:012x}", Subject=f"Urgent {n}", **START)
        for n in range(begin + 1, begin + count + 1)
    )


def push(remote: Path, name: str, files: dict[str, bytes]) -> None:
    """Another clone's ref, with these files."""
    ref = f"refs/ghp/clone/{name}".encode()
    parts = [b"commit %b\ncommitter e <e@x.invalid> 1 +0000\ndata 9\nClock: 1\n\n" % ref]
    for path, data in {**strangers.GOOD, **files}.items():
        parts.append(b"M 100644 inline %b\ndata %d\n%b\n" % (path.encode(), len(data), data))
    run = ["git", "fast-import", "--quiet"]
    subprocess.run(run, cwd=remote, input=b"".join(parts), capture_output=True, check=True)


def heard(clone: Path, remote: Path, name: str, files: dict[str, bytes]) -> str:
    """What a sync says after another clone has pushed them."""
    push(remote, name, files)
    return sync(clone)


def sync(clone: Path) -> str:
    code, out, err = invoke("agent-sync", clone)
    assert code == 0, err
    return out + err


def steps(clone: Path) -> int:
    """The messages on this clone's own ref."""
    state = ("--git-dir", str(clone / ".git/ghp/state.git"))
    own = (clone / ".git/ghp/state.git/ghp-clone").read_text().strip()
    names = git(clone, *state, "ls-tree", "-r", "--name-only", f"refs/ghp/clone/{own}")
    return sum(name.startswith(".ghp/messages/") for name in names.splitlines())


@pytest.mark.slow
def test_of_a_flood_of_workflows_ten_run_and_keep_no_other_clone_or_this_one_waiting(
    clones: Clones, remote: Path
) -> None:
    clone, _ = clones(2)
    succeed(clone, "agent-init --agent worker-1")
    first = heard(clone, remote, "eve", forged(120))
    assert steps(clone) == AT_A_TIME
    assert "Too much at once, so this waits: clone eve: 110 of its workflows.\n" in first
    heard(clone, remote, "mallory", forged(1, begin=900))
    assert steps(clone) == AT_A_TIME + 1
    succeed(clone, "agent-run review Tabs --as @me")
    assert steps(clone) > AT_A_TIME + 2


def overdue(number: int) -> dict[str, bytes]:
    """Requests in the name of an agent of another clone, of which people are asked."""
    late = {"Sender": "worker-1", "Kind": "request", "Done_Within": "60 s", "Recipient": "worker-2"}
    return dict(message(f"{n:012x}", Subject=f"Old {n}", **late) for n in range(1, number + 1))


def leased(number: int) -> dict[str, bytes]:
    """Leases of everything by many people, before all others."""
    events = [
        LeaseEvent(
            f"{n:012x}", f"{n:012x}", "request", 1, CloneId("eve"), AT, Actor("eve"),
            Actor(f"E {n}", is_person=True), 0, ("/src/",), granted=True,
        )
        for n in range(1, number + 1)
    ]  # fmt: skip
    return {event.path: lease_record.encode(event) for event in events}


def labelled(number: int) -> dict[str, bytes]:
    """Issues with a label that starts a workflow."""
    events = [
        IssueEvent(
            f"{n:012x}", f"{n:012x}", "create", n, CloneId("eve"), AT, Actor("eve"), 100 + n,
            {"title": f"Part {n}"}, {"labels": ("look",)},
        )
        for n in range(1, number + 1)
    ]  # fmt: skip
    return {f"{issue_record.FOLDER}{x.issue}/{x.id}.json": issue_record.encode(x) for x in events}


@pytest.mark.slow
def test_what_one_clone_forges_starts_ten_things_of_each_kind_and_the_rest_is_counted(
    clones: Clones, remote: Path
) -> None:
    clone, _ = clones(2)
    (clone / ".ghp/workflows").mkdir(parents=True)
    (clone / ".ghp/workflows/look.md").write_text(
        "---\nlabel: look\n---\n## Look\n\n- Role: @all\n"
    )
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "Look")
    git(clone, "push", "-q", "origin", "HEAD:main")
    succeed(clone, "agent-init --agent worker-1")
    succeed(clone, "agent-lease docs/ --as worker-1")
    succeed(clone, "agent-lease src/ --as worker-1")
    said = heard(clone, remote, "eve", {**overdue(30), **leased(40), **labelled(50)})
    waits = re.search(r"so this waits: clone eve: (.*)\.", said)
    assert waits
    assert waits[1].split(", ") == [
        "30 of its questions on leases", "20 of its overdue requests", "40 of its labels",
    ]  # fmt: skip
    questions = json.loads(invoke("agent-escalations --open --json", clone).out)
    assert len(questions) == 2 * AT_A_TIME
    assert steps(clone) == 2 * AT_A_TIME, "a start for each of ten labels, and its first step"
    assert len(json.loads(invoke("agent-issues --json", clone).out)) == 50, "nothing is lost"


@pytest.mark.slow
def test_a_flood_of_messages_hides_no_message_of_another_clone(
    clones: Clones, remote: Path
) -> None:
    clone, _ = clones(2)
    succeed(clone, "agent-init --agent worker-1")
    push(remote, "eve", dict(message(f"{n:012x}", Kind="request") for n in range(1, 200)))
    heard(clone, remote, "mallory", dict([message("f" * 12, Subject="The real one", Clock="900")]))
    told = call("claude", payload("claude-UserPromptSubmit", clone), clone, AGENT)
    assert b"The real one" in told.out


@pytest.mark.slow
def test_a_sync_of_five_thousand_forged_starts_takes_less_than_two_seconds_of_processor(
    clones: Clones, remote: Path
) -> None:
    clone, _ = clones(2)
    succeed(clone, "agent-init --agent worker-1")
    push(remote, "eve", forged(5_000))
    before = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    succeed(clone, "agent-sync")
    after = resource.getrusage(resource.RUSAGE_SELF)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = sum(x.ru_utime + x.ru_stime for x in (after, ended))
    assert used - sum(x.ru_utime + x.ru_stime for x in (before, children)) < 2
