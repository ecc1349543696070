"""What the remote refuses is found and set aside, and the rest is sent; with real git."""

import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.core.ids import Actor
from ghp_agents.ports import Snapshot
from ghp_agents.state.git import set_aside
from ghp_agents.state.git.refused_search import describe
from ghp_agents.state.git.set_aside import all_of
from ghp_agents.state.join import Settled
from ghp_agents.state.ledger import PRESENCE
from ghp_agents.state.private_repo import StateRepository
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from tests.state import worker
from tests.state.clones import AT, RECORDS, say, store, workspace, write_presence
from tests.state.conftest import Start
from tests.support.git import git, refs
from tests.support.hosts import hook
from tests.support.rulesets import rule

Clones = Callable[[int], list[Path]]
SECRET = "qz_" + "Abx" * 11 + "c"
BEAT = {"issue": 7, "status": "testing", "lastAction": "Reads", "timestamp": "T", "epoch": 1}
# What GitHub's push protection does and says, for one kind of secret: it looks at what is new.
PUSH_PROTECTION = """\
found=
while read -r _ new _; do
  for commit in $(git rev-list "$new" --not --all); do
    for path in $(git grep -l "qz_[A-Za-z0-9]*" "$commit" 2>/dev/null | cut -d: -f2); do
      git rev-list --objects "$new" --not --all | grep -q " $path$" || continue
      found="$found
         - commit: $commit
           path: $path:1"
    done
  done
done
[ -z "$found" ] && exit 0
cat >&2 <<END
error: GH013: Repository rule violations found for refs/ghp/clone.

- GITHUB PUSH PROTECTION
  —————————————————————————————————————————
    Resolve the following violations before pushing again

    - Push cannot contain secrets

      (?) Learn how to resolve a blocked push
      https://docs.github.com/code-security/secret-scanning/working-with-push-protection

      —— Hugging Face User Access Token ————————————————————
       locations:$found

       (?) To push, remove secret from commit(s) or follow this URL to allow the secret.
       https://github.com/acme/widgets/security/secret-scanning/unblock-secret/2abc
END
exit 1
"""
# The same, in words that name no commit.
SILENT = PUSH_PROTECTION.replace("- commit: $commit", "").replace("path: $path:1", "")


def say_secret(folder: Path, name: str) -> None:
    """A record that the remote will refuse."""

    def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
        files = ((f"{RECORDS}{name}", f"token {SECRET} {name}".encode()),)
        actor = Actor("worker-1")
        return None, [
            Record("handoff", actor, name, name, AT, snapshot.clock + 1, files, 12, text="why")
        ]

    transact(store(folder), decide)


def names(folder: Path) -> list[str]:
    return [path.removeprefix(RECORDS) for path in store(folder).snapshot().files(RECORDS)]


def ledger(folder: Path) -> list[str]:
    return [entry.object for entry in store(folder).ledger()]


@pytest.mark.slow
def test_what_was_only_seen_elsewhere_is_left_out_and_the_rest_goes_on(
    clones: Clones, remote: Path
) -> None:
    hook(remote, "pre-receive", PUSH_PROTECTION)
    one, other = clones(2)
    say(one, "good-0")
    files = ((f"{RECORDS}seen", SECRET.encode()),)  # such as a stranger's issue
    elsewhere = Record(PRESENCE, Actor("ghp-agents"), "issues", "0" * 12, AT, 9, files)
    transact(store(one), lambda _: (None, [elsewhere]))
    say(one, "good-1")
    report = store(one).sync()
    assert (report.trouble, report.pushed, report.unsent) == (None, True, 0)
    assert report.notes == ("Left out what was seen elsewhere: the remote refused its text.",)
    store(other).sync()
    assert names(other) == names(one) == ["good-0", "good-1"]


@pytest.mark.slow
@pytest.mark.parametrize("script", [PUSH_PROTECTION, SILENT], ids=["named", "not named"])
@pytest.mark.parametrize("place", [0, 2, 4])
@pytest.mark.sample(2)
def test_one_refused_record_is_set_aside_and_the_rest_goes_on(
    clones: Clones, remote: Path, script: str, place: int
) -> None:
    hook(remote, "pre-receive", script)
    one, other = clones(2)
    for number in range(5):
        say_secret(one, "bad") if number == place else say(one, f"good-{number}")
    report = store(one).sync()
    good = [f"good-{number}" for number in range(5) if number != place]
    assert (report.trouble, report.pushed, report.unsent) == (None, True, 0)
    store(other).sync()
    assert names(other) == good
    assert ledger(other) == ledger(one) == good
    assert names(one) == ["bad", *good]  # this clone still reads it
    (kept,) = all_of(workspace(one))
    assert describe(kept) == f"{kept.id}, handoff bad by worker-1 (#12)"
    assert report.notes == (f"Set aside {describe(kept)}: the remote refused it.",)
    assert kept.record.files == ((f"{RECORDS}bad", f"token {SECRET} bad".encode()),)
    assert kept.words == (
        "[remote rejected] (pre-receive hook declined) GH013: Repository rule violations found for "
        "refs/ghp/clone. GITHUB PUSH PROTECTION Push cannot contain secrets Hugging Face User "
        "Access Token"
    )
    unblock = "https://github.com/acme/widgets/security/secret-scanning/unblock-secret/2abc"
    assert kept.pages == (unblock,)
    assert store(one).sync_status().refused == 1
    assert SECRET not in git(remote, "log", "--all", "-p")


@pytest.mark.slow
def test_a_record_that_names_its_commit_costs_few_pushes(clones: Clones, remote: Path) -> None:
    count = "echo >> pushes\n"
    hook(remote, "pre-receive", count + PUSH_PROTECTION)
    one = clones(1)[0]
    say(one, "first")
    store(one).sync()  # now it is known that the remote takes our refs
    (remote / "pushes").unlink()
    for number in range(20):
        say_secret(one, "bad") if number == 9 else say(one, f"good-{number:02}")
    store(one).sync()
    # all; what is before it; with it; the rest
    assert (remote / "pushes").read_text().count("\n") == 4


@pytest.mark.slow
def test_where_the_server_names_contents_the_record_is_found_by_them(
    clones: Clones, remote: Path
) -> None:
    rule(remote)
    one, other = clones(2)
    for number in range(9):
        say_secret(one, "bad") if number == 4 else say(one, f"good-{number}")
    report = store(one).sync()
    assert (report.trouble, report.unsent) == (None, 0)
    store(other).sync()
    assert len(names(other)) == 8
    (kept,) = all_of(workspace(one))
    assert kept.record.object == "bad"


@pytest.mark.slow
def test_several_refused_records_are_found_one_after_another(clones: Clones, remote: Path) -> None:
    hook(remote, "pre-receive", PUSH_PROTECTION)
    one, other = clones(2)
    say(one, "a")
    say_secret(one, "b")
    say_secret(one, "c")
    say(one, "d")
    assert store(one).sync().trouble is None
    store(other).sync()
    assert names(other) == ["a", "d"]
    assert [kept.record.object for kept in all_of(workspace(one))] == ["b", "c"]


@pytest.mark.slow
def test_a_clone_that_refuses_everything_loses_no_record(clones: Clones, remote: Path) -> None:
    hook(remote, "pre-receive", "echo 'not today' >&2; exit 1\n")
    one = clones(1)[0]
    say(one, "a", "b")
    report = store(one).sync()
    assert (report.permanent, report.unsent) == (True, 3)  # the third one asks
    assert report.trouble == "[remote rejected] (pre-receive hook declined) not today"
    assert all_of(workspace(one)) == []
    store(one).sync()
    assert store(one).sync_status().unsent == 3
    hook(remote, "pre-receive", "exit 0\n")
    assert store(one).sync().trouble is None
    assert names(one) == ledger(one) == ["a", "b"]


@pytest.mark.slow
def test_a_search_that_is_too_long_goes_on_with_the_next_sync(
    clones: Clones, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ghp_agents.state.git.refused_search.MOST_PUSHES", 3)
    hook(remote, "pre-receive", SILENT)
    one, other = clones(2)
    for number in range(16):
        say_secret(one, "bad") if number == 13 else say(one, f"good-{number:02}")
    reports = [store(one).sync() for _ in range(4)]
    assert [(report.trouble or "")[:13] for report in reports] == [
        "still looking",
        "still looking",
        "",
        "",
    ]
    assert [report.permanent for report in reports] == [False] * 4
    store(other).sync()
    assert len(names(other)) == 15


@pytest.mark.slow
def test_a_compaction_that_contains_a_refused_record_is_left_out(
    clones: Clones, remote: Path
) -> None:
    one, other = clones(2)
    say(one, "a")
    say_secret(one, "bad")
    say(one, "b")
    for name in ("a", "bad"):
        path = frozenset({f"{RECORDS}{name}"})
        assert store(one).compact([Settled(path, path)]) == 1
    hook(remote, "pre-receive", PUSH_PROTECTION)
    say(one, "c")
    assert store(one).sync().trouble is None
    store(other).sync()
    assert names(other) == ["a", "b", "c"]
    assert list(store(other).snapshot().settled([RECORDS])) == [f"{RECORDS}a"]
    assert store(other).snapshot().problems() == []
    assert [kept.record.object for kept in all_of(workspace(one))] == ["bad"]


@pytest.mark.slow
@pytest.mark.parametrize("step", ["put", "point"])
def test_a_search_that_is_killed_loses_nothing_and_the_next_one_finds_the_same(
    clones: Clones, remote: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    hook(remote, "pre-receive", PUSH_PROTECTION)
    one, other = clones(2)
    say(one, "a")
    store(one).sync()
    say_secret(one, "bad")
    say(one, "b")
    with monkeypatch.context() as patch:
        steps: dict[str, Callable[..., Any]]
        steps = {"put": set_aside.put, "point": StateRepository.point}
        place = steps[step]

        def killed(*args: Any, **options: Any) -> Any:
            place(*args, **options)
            raise KeyboardInterrupt

        patch.setattr(set_aside if step == "put" else StateRepository, step, killed)
        with pytest.raises(KeyboardInterrupt):
            store(one).sync()
    assert names(one) == ["a", "b", "bad"]
    assert store(one).sync().trouble is None
    store(other).sync()
    assert names(other) == ["a", "b"]
    assert [kept.record.object for kept in all_of(workspace(one))] == ["bad"]


@pytest.mark.slow
def test_a_record_that_is_written_meanwhile_is_kept(
    clones: Clones, remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook(remote, "pre-receive", PUSH_PROTECTION)
    one, other = clones(2)
    say_secret(one, "bad")
    put = set_aside.put

    def put_and_say(*args: Any) -> Any:
        say(one, "meanwhile")
        return put(*args)

    monkeypatch.setattr(set_aside, "put", put_and_say)
    store(one).sync()
    store(one).sync()
    store(other).sync()
    assert names(other) == ["meanwhile"]


@pytest.mark.slow
def test_a_last_action_that_is_refused_is_removed_and_presence_goes_on(
    clones: Clones, remote: Path
) -> None:
    hook(remote, "pre-receive", PUSH_PROTECTION)
    one, other = clones(2)
    say(one, "a")
    beat = {**BEAT, "seq": 1, "lastAction": f"Runs curl {SECRET}"}
    write_presence(one, "worker-1", beat, 1.75e9)
    say(one, "b")
    store(one).fold()
    write_presence(one, "worker-1", {**beat, "seq": 2}, 1.75e9)
    report = store(one).sync()
    assert report.trouble is None
    assert report.notes == ("Removed the text of a last action: the remote refused it.",)
    store(other).sync()
    assert store(other).snapshot().agents()["worker-1"] == {**beat, "seq": 2, "lastAction": ""}
    assert (store(one).sync().pushed, store(one).sync().notes) == (False, ())
    assert all_of(workspace(one)) == []
    assert SECRET not in git(remote, "log", "--all", "-p")


@pytest.mark.slow
def test_killed_searches_beside_a_writer_lose_nothing_and_send_no_secret(
    clones: Clones, remote: Path, start: Start
) -> None:
    rule(remote)
    one, other = clones(2)
    good = [f"good-{number:02}" for number in range(24)]
    bad = [f"qz_{number:02}{'Ab' * 16}" for number in range(6)]
    order = [name for number, some in enumerate(bad) for name in (*good[number::6], some)]
    writer = start(one, *(f"say:{name}" for name in order))
    dice, tick = random.Random(5), threading.Event()
    while writer.poll() is None:
        search = start(one, *["sync"] * 50)
        tick.wait(dice.uniform(0.3, 1.5))
        worker.kill(search)
    assert len(worker.finish(writer)) == len(order)
    for _ in range(8):
        store(one).sync()
    store(other).sync()
    assert names(one) == sorted([*good, *bad])
    assert names(other) == sorted(ledger(other)) == good
    assert sorted(kept.record.object for kept in all_of(workspace(one))) == bad
    assert len(refs(remote, "refs/ghp/clone")) == 1
    assert "qz_" not in git(remote, "log", "--all", "-p")
