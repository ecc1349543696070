"""Writes that wait: in order, each once, and none that is lost."""

import subprocess
import sys
from pathlib import Path

import pytest

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError, UnknownError
from ghp_agents.github.api import errors
from ghp_agents.github.api.outbox import Job, Outbox, Refused
from tests.support.clock import ManualClock
from tests.support.house import CHECKOUT


def job(name: str, about: str = "12") -> Job:
    return Job(name, "comment", about, f"{name} on #{about}", {"body": "Größe"})


def outbox(folder: Path, token: str = "a", clock: ManualClock | None = None) -> Outbox:
    return Outbox(folder / "outbox", clock or ManualClock(), token)


class Hand:
    """Performs jobs, and notes them; some raise."""

    def __init__(self, **raising: Exception) -> None:
        self.done: list[str] = []
        self.raising = raising

    def __call__(self, job: Job) -> None:
        self.done.append(job.id)
        if job.id in self.raising:
            raise self.raising[job.id]


def forbidden() -> errors.HubError:
    return errors.ForbiddenError("May not.", hint="h").of(403, "May not")


def test_jobs_are_done_in_the_order_they_came(tmp_path: Path) -> None:
    box, hand = outbox(tmp_path), Hand()
    for name in "cab":
        box.add(job(name))
    assert box.waiting() == [job("c"), job("a"), job("b")]
    assert outbox(tmp_path).flush(hand) == ["c on #12", "a on #12", "b on #12"]
    assert hand.done == ["c", "a", "b"]
    assert (box.count(), box.refused()) == (0, [])
    assert box.flush(hand) == []


def test_a_job_that_comes_while_others_are_done_is_behind_them(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    box.add(job("a"))
    box.add(job("b"))
    box.flush(lambda waiting: box.add(job("c")) if waiting.id == "a" else None)
    assert box.waiting() == [job("c")]


def test_said_twice_is_said_once(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    box.add(job("a"))
    box.add(job("a")._replace(data={}))
    assert box.waiting() == [job("a")]


def test_an_id_may_be_anything(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    names = ["../../x", "a/b", "", "ü" * 300, "a\0b"]
    for name in names:
        box.add(job(name))
    assert [waiting.id for waiting in box.waiting()] == names
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outbox"]


@pytest.mark.parametrize(
    "error",
    [
        UnknownError("No.", hint="h"),
        errors.UnreachableError("No.", hint="h"),
        errors.LimitError("No.", hint="h"),
        errors.TokenError("No.", hint="h"),
    ],
)
def test_without_an_answer_the_rest_waits(tmp_path: Path, error: Exception) -> None:
    box, hand = outbox(tmp_path), Hand(b=error)
    for name in "abc":
        box.add(job(name))
    assert box.flush(hand) == ["a on #12"]
    assert hand.done == ["a", "b"]
    assert box.waiting() == [job("b"), job("c")]
    assert box.flush(Hand()) == ["b on #12", "c on #12"]


@pytest.mark.parametrize(
    "error",
    [
        errors.InvalidError("Refused: bad.", hint="h").of(422, "bad"),
        errors.GoneError("Refused: bad.", hint="h").of(410, "bad"),
        GhpError("Refused: bad.", hint="h"),
    ],
)
def test_what_is_refused_for_good_is_put_aside_and_stops_only_what_is_about_the_same(
    tmp_path: Path, error: GhpError
) -> None:
    box, hand = outbox(tmp_path), Hand(a=error)
    for name, about in (("a", "1"), ("b", "2"), ("c", "1"), ("d", "3")):
        box.add(job(name, about))
    assert box.flush(hand) == ["b on #2", "d on #3"]
    assert hand.done == ["a", "b", "d"]
    assert box.count() == 0
    at = ManualClock().now()
    assert box.refused() == [
        Refused(job("a", "1"), "Refused: bad.", "a", at),
        Refused(job("c", "1"), "it comes after a on #1, which GitHub rejected", "a", at),
    ]


def test_what_is_said_after_a_refusal_for_good_is_sent(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    box.add(job("a"))
    box.flush(Hand(a=errors.InvalidError("Bad.", hint="h")))
    box.add(job("b"))
    assert box.flush(Hand()) == ["b on #12"]
    assert [refused.job.id for refused in box.refused()] == ["a"]


def test_what_is_said_after_a_refusal_that_may_end_waits_for_its_end(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    box.add(job("a"))
    box.flush(Hand(a=forbidden()))
    box.add(job("b"))
    box.add(job("c", "13"))
    assert box.flush(Hand()) == ["c on #13"]
    assert [refused.job.id for refused in box.refused()] == ["a", "b"]
    assert outbox(tmp_path, token="another").flush(Hand()) == ["a on #12", "b on #12"]


def test_what_a_token_may_not_is_sent_again_with_another_one_in_the_old_order(
    tmp_path: Path,
) -> None:
    box = outbox(tmp_path)
    box.add(job("a"))
    box.add(job("b"))
    assert box.flush(Hand(a=forbidden())) == []
    hand = Hand()
    assert box.flush(hand) == []
    assert hand.done == []
    assert outbox(tmp_path, token="another").flush(hand) == ["a on #12", "b on #12"]
    assert hand.done == ["a", "b"]
    assert box.refused() == []


@pytest.mark.parametrize("is_missing", [False, True])
def test_what_a_token_may_not_or_github_does_not_find_is_sent_again_after_an_hour(
    tmp_path: Path, is_missing: bool
) -> None:
    clock, hand = ManualClock(), Hand()
    box = outbox(tmp_path, clock=clock)
    box.add(job("a"))
    missing = errors.MissingError("Not found.", hint="h").of(404, "Not Found")
    box.flush(Hand(a=missing if is_missing else forbidden()))
    clock.wait(3_599)
    assert box.flush(hand) == []
    clock.wait(1)
    assert box.flush(hand) == ["a on #12"]


def test_a_job_that_is_done_otherwise_is_forgotten(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    box.add(job("a"))
    box.add(job("b"))
    box.remove("a")
    box.remove("unknown")
    assert box.waiting() == [job("b")]


def test_who_finds_another_at_it_sends_nothing(tmp_path: Path) -> None:
    box, hand = outbox(tmp_path), Hand()
    box.add(job("a"))
    with files.locked(box.folder / "flush.lock"):
        assert box.flush(hand) == []
    assert hand.done == []
    assert box.flush(hand) == ["a on #12"]


def test_a_job_can_be_added_while_another_process_sends(tmp_path: Path) -> None:
    box = outbox(tmp_path)
    box.add(job("a"))
    with files.locked(box.folder / "flush.lock"):
        box.add(job("b"))
    assert box.count() == 2


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"id": "x"}', b"[" * 100_000])
def test_a_job_that_cannot_be_read_is_put_aside_and_stops_nobody(
    tmp_path: Path, content: bytes
) -> None:
    box = outbox(tmp_path)
    box.add(job("a"))
    box.add(job("b"))
    first = min(box.folder.glob("0*.json"))
    first.write_bytes(content)
    assert box.flush(Hand()) == ["b on #12"]
    [refused] = box.refused()
    assert (refused.job.says, refused.why) == (f"the file {first.name}", "it cannot be read")


# A process that is killed, at any step, between saying and doing.
KILLED = """
import os, sys
from pathlib import Path
from tests.support.clock import ManualClock
from ghp_agents.github.api.outbox import Job, Outbox

box = Outbox(Path(sys.argv[1]), ManualClock(), "a")
for name in "abc":
    box.add(Job(name, "comment", "12", name))

def perform(job):
    with open(sys.argv[2], "a") as log:
        log.write(job.id)
    if job.id == "b":
        os._exit(9)

box.flush(perform)
"""


def test_a_process_that_is_killed_while_it_sends_loses_nothing(tmp_path: Path) -> None:
    folder, log = tmp_path / "outbox", tmp_path / "log"
    command = [sys.executable, "-c", KILLED, str(folder), str(log)]
    assert subprocess.run(command, check=False, cwd=CHECKOUT).returncode == 9
    assert log.read_text() == "ab"
    hand = Hand()
    Outbox(folder, ManualClock(), "a").flush(hand)
    assert hand.done == ["b", "c"]  # b again: whoever performs it looks first


# Many processes say things at once.
ADD = """
import sys
from pathlib import Path
from tests.support.clock import ManualClock
from ghp_agents.github.api.outbox import Job, Outbox

box = Outbox(Path(sys.argv[1]), ManualClock(), "a")
sys.stdin.readline()
for number in range(25):
    box.add(Job(f"{sys.argv[2]}.{number}", "comment", "12", "x"))
"""


@pytest.mark.slow
def test_what_many_processes_say_at_once_is_all_kept_each_ones_in_its_order(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "outbox"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", ADD, str(folder), name], stdin=subprocess.PIPE, cwd=CHECKOUT
        )
        for name in "pqrs"
    ]
    for process in processes:
        process.communicate(b"go\n", timeout=60)
    assert [process.returncode for process in processes] == [0] * 4
    names = [waiting.id for waiting in Outbox(folder, ManualClock(), "a").waiting()]
    for name in "pqrs":
        assert [job_id for job_id in names if job_id[0] == name] == [
            f"{name}.{n}" for n in range(25)
        ]
