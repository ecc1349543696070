"""Rights that the remote decides: connections that break, hosts that refuse, new remotes."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import ExitCode, GhpError, LostAnswerError, UnknownError
from ghp_agents.locks.git import GitLocks
from ghp_agents.locks.lock import Lock, LockMovedError
from tests.locks.fields import CloneField, LocalField
from tests.support import repos
from tests.support.git import git, refs
from tests.support.hosts import hook, workspace

Clones = Callable[[int], list[Path]]


@pytest.fixture
def field(remote: Path, clones: Clones) -> CloneField:
    return CloneField(remote, clones)


def counted(locks: GitLocks, times: int, name: str = "numbers", who: str = "worker-1") -> Lock:
    """Take a right `times` times; the last lease."""
    current = locks.read(name)
    for _ in range(times):
        current = locks.acquire(name, who, expected=current)
    assert current is not None
    return current


def test_who_wins_on_a_connection_that_breaks_after_the_push_is_told_so(field: CloneField) -> None:
    field.on_written('rm -f "$0"\nkill -9 $PPID\n')
    one = field.locks()
    taken = one.acquire("trunk", "worker-1", expected=None)
    assert taken.generation == 1
    assert field.locks().read("trunk") == taken


def test_a_release_on_a_connection_that_breaks_after_the_push_is_told_so(field: CloneField) -> None:
    one = field.locks()
    taken = one.acquire("trunk", "worker-1", expected=None)
    field.on_written('rm -f "$0"\nkill -9 $PPID\n')
    free = one.release("trunk", expected=taken)
    assert field.locks().read("trunk") == free


def test_who_loses_while_the_connection_breaks_is_told_so(field: CloneField) -> None:
    one, two = field.locks(), field.locks()
    one.read("trunk")
    taken = two.acquire("trunk", "worker-2", expected=None)
    # The rival's lease comes into place while the push of the other is on its way, and breaks it.
    git(field.remote, "update-ref", "-d", "refs/ghp/lease/trunk", taken.revision)
    hook(
        field.remote,
        "pre-receive",
        f'rm -f "$0"\nunset GIT_QUARANTINE_PATH\n'
        f"git update-ref refs/ghp/lease/trunk {taken.revision}\nkill -9 $PPID\n",
    )
    with pytest.raises(LockMovedError) as caught:
        one.acquire("trunk", "worker-1", expected=None)
    assert caught.value.current == taken


def test_a_push_that_broke_off_before_it_happened_is_made_again(field: CloneField) -> None:
    one = field.locks()
    one.read("trunk")
    hook(field.remote, "pre-receive", 'rm -f "$0"\nkill -9 $PPID\n')
    taken = one.acquire("trunk", "worker-1", expected=None)
    assert field.locks().read("trunk") == taken
    assert not (field.remote / "hooks/pre-receive").exists()


def test_after_a_push_of_which_nobody_knows_the_error_says_how_to_find_out(
    field: CloneField,
) -> None:
    one = field.locks()
    counted(one, 1, "trunk")
    field.break_after_write()
    with pytest.raises(UnknownError) as caught:
        one.acquire("issue/12", "worker-1", expected=None)
    field.mend()
    truth = one.read("issue/12")
    assert truth is not None
    assert str(caught.value).startswith(
        "The connection to origin broke while issue/12 was being changed; the change may or "
        "may not have happened: "
    )
    assert caught.value.hint == (
        "Run the command again when origin is reachable: it finds out what happened."
    )
    assert caught.value.exit_code == ExitCode.UNKNOWN
    assert one.acquire("issue/12", "worker-1", expected=truth).generation == truth.generation + 1


def test_a_push_that_never_reached_the_remote_did_not_happen(field: CloneField) -> None:
    one = field.locks()
    taken = counted(one, 1, "trunk")
    field.cut()
    with pytest.raises(UnknownError, match="Only the remote origin can decide this") as caught:
        one.release("trunk", expected=taken)
    assert not isinstance(caught.value, LostAnswerError)
    field.mend()
    assert one.read("trunk") == taken


def test_a_push_that_never_gets_through_while_reading_works_is_unknown(field: CloneField) -> None:
    one = field.locks()
    taken = counted(one, 1, "trunk")
    hook(field.remote, "pre-receive", "kill -9 $PPID\n")
    with pytest.raises(UnknownError, match="broke while trunk was being changed"):
        one.release("trunk", expected=taken)
    assert one.read("trunk") == taken


def test_who_may_not_push_is_told_the_remotes_words_and_what_to_do(field: CloneField) -> None:
    one = field.locks()
    counted(one, 1, "trunk")
    hook(field.remote, "pre-receive", "echo 'Agents may not write here (policy 7).' >&2\nexit 1\n")
    with pytest.raises(GhpError) as caught:
        one.acquire("issue/12", "worker-1", expected=None)
    assert (str(caught.value), caught.value.hint, caught.value.exit_code) == (
        "The remote origin refuses changes of issue/12: [remote rejected] (pre-receive hook "
        "declined) Agents may not write here (policy 7).",
        "Ask for write access, or set `agents.remote` to a repository that you can push to, "
        "e.g. a fork.",
        ExitCode.ERROR,
    )
    assert one.read("issue/12") is None


@pytest.mark.slow
def test_a_right_that_was_taken_before_there_was_a_remote_goes_on(
    repo: Path, remote: Path, field: CloneField
) -> None:
    locks = LocalField(repo).locks()
    taken = counted(locks, 3)
    git(repo, "remote", "add", "origin", str(remote))
    locks = LocalField(repo).locks()  # the next command
    assert locks.read("numbers") == taken
    assert field.locks().read("numbers") == taken
    again = field.locks().acquire("numbers", "worker-2", expected=taken)
    assert again.generation == 4
    assert locks.read("numbers") == again


@pytest.mark.slow
def test_a_right_that_was_taken_before_there_was_a_remote_cannot_be_begun_anew(
    repo: Path, remote: Path
) -> None:
    locks = LocalField(repo).locks()
    taken = counted(locks, 3)
    git(repo, "remote", "add", "origin", str(remote))
    locks = LocalField(repo).locks()  # the next command
    with pytest.raises(LockMovedError) as caught:
        locks.acquire("numbers", "worker-1", expected=None)
    assert caught.value.current == taken
    assert locks.acquire("numbers", "worker-1", expected=taken).generation == 4
    assert locks.release("numbers", expected=locks.read("numbers") or taken).generation == 4


@pytest.mark.slow
def test_a_list_takes_all_that_was_decided_before_there_was_a_remote_along(
    repo: Path, remote: Path, field: CloneField
) -> None:
    locks = LocalField(repo).locks()
    counted_locks = [counted(locks, 2, name) for name in ("issue/1", "issue/2", "trunk")]
    git(repo, "remote", "add", "origin", str(remote))
    locks = LocalField(repo).locks()  # the next command
    assert locks.list("issue/") == counted_locks[:2]
    assert field.locks().list() == counted_locks[:2]
    assert locks.list() == counted_locks
    assert field.locks().list() == counted_locks


@pytest.mark.slow
def test_of_two_clones_that_decided_alone_the_remote_keeps_the_first_and_no_number_is_given_again(
    templates: repos.Templates, remote: Path, tmp_path: Path
) -> None:
    alone = [repos.copy_alone(templates, tmp_path / name) for name in ("one", "two")]
    one, two = (LocalField(path).locks() for path in alone)
    first, second = counted(one, 2), counted(two, 5, who="worker-2")
    for path in alone:
        git(path, "remote", "add", "origin", str(remote))
    one, two = (LocalField(path).locks() for path in alone)
    assert one.read("numbers") == first
    assert two.read("numbers") == first
    assert two.list() == [first]
    with pytest.raises(LockMovedError) as caught:
        two.release("numbers", expected=second)
    assert caught.value.current == first
    # Two knows that it gave out 5 itself, so what it takes next is fenced against that too.
    assert two.acquire("numbers", "worker-2", expected=first).generation == 6
    assert counted(one, 1).generation == 7


@pytest.mark.slow
def test_a_right_goes_on_in_the_clone_when_the_remote_is_taken_away(
    field: CloneField, clones: Clones
) -> None:
    (clone,) = clones(1)
    locks = GitLocks(workspace(clone))
    counted(locks, 1)
    counted(field.locks(), 3, who="worker-2")
    read = locks.read("numbers")
    git(clone, "remote", "remove", "origin")
    locks = GitLocks(workspace(clone))  # the next command
    assert locks.read("numbers") == read
    assert locks.list() == [read]
    assert counted(locks, 1).generation == 5


@pytest.mark.slow
def test_a_right_goes_on_when_the_remote_is_replaced_by_an_empty_one(
    field: CloneField, clones: Clones, templates: repos.Templates, tmp_path: Path
) -> None:
    (clone,) = clones(1)
    locks = GitLocks(workspace(clone))
    taken = counted(locks, 3)
    moved = repos.copy_remote(templates, tmp_path / "moved.git")
    git(clone, "remote", "set-url", "origin", str(moved))
    locks = GitLocks(workspace(clone))  # the next command
    assert locks.read("numbers") == taken
    assert counted(locks, 1).generation == 4
    assert "refs/ghp/lease/numbers" in refs(moved)


def test_what_the_configuration_keeps_at_home_is_decided_here(clone: Path, remote: Path) -> None:
    (clone / ".ghp").mkdir()
    (clone / ".ghp/config.json").write_text('{"agents": {"push": false}}')
    locks = GitLocks(workspace(clone))
    assert counted(locks, 2).generation == 2
    assert not any("/ghp/" in ref for ref in refs(remote))


@pytest.mark.slow
def test_who_may_only_read_sees_what_was_decided_here_and_can_change_nothing(
    repo: Path, remote: Path
) -> None:
    locks = LocalField(repo).locks()
    taken = counted(locks, 2)
    git(repo, "remote", "add", "origin", str(remote))
    locks = LocalField(repo).locks()  # the next command
    hook(remote, "pre-receive", "echo 'no' >&2\nexit 1\n")
    assert locks.read("numbers") == taken
    assert locks.list() == [taken]
    with pytest.raises(GhpError, match="refuses changes of numbers") as caught:
        locks.acquire("numbers", "worker-1", expected=taken)
    assert caught.value.exit_code == ExitCode.ERROR


@pytest.mark.slow
def test_a_lease_that_was_read_elsewhere_can_be_followed_without_its_history_here(
    field: CloneField, clones: Clones
) -> None:
    one, two = field.locks(), field.locks()
    taken = counted(one, 2, "trunk")
    assert two.release("trunk", expected=taken).holder is None


@pytest.mark.slow
def test_a_lost_private_repository_loses_no_right(field: CloneField, clones: Clones) -> None:
    (clone,) = clones(1)
    locks = GitLocks(workspace(clone))
    taken = counted(locks, 2, "trunk")
    shutil.rmtree(clone / ".git/ghp")
    assert locks.acquire("trunk", "worker-1", expected=taken).generation == 3


def test_a_lease_that_never_was_on_the_remote_has_moved(field: CloneField) -> None:
    one = field.locks()
    taken = counted(one, 1, "trunk")
    forged = Lock("trunk", "worker-9", 9, 0, taken.acquired_at, "n", revision="1" * 40)
    with pytest.raises(LockMovedError) as caught:
        one.acquire("trunk", "worker-9", expected=forged)
    assert caught.value.current == taken


@pytest.mark.slow
def test_a_deleted_right_goes_on_from_what_is_known(field: CloneField) -> None:
    one = field.locks()
    taken = counted(one, 2, "trunk")
    git(field.remote, "update-ref", "-d", "refs/ghp/lease/trunk")
    assert one.acquire("trunk", "worker-1", expected=taken).generation == 3


@pytest.mark.slow
def test_what_a_hand_put_on_the_remote_is_named_and_hides_no_other_right(field: CloneField) -> None:
    one = field.locks()
    taken = counted(one, 1, "trunk")
    git(field.remote, "update-ref", "refs/ghp/lease/issue/1", "main")
    git(field.remote, "update-ref", "refs/ghp/lease/issue/2", taken.revision)
    for name, why in (
        ("issue/1", "it has no lease.json"),
        ("issue/2", "it is a record of the lock 'trunk'"),
    ):
        with pytest.raises(GhpError) as caught:
            one.read(name)
        assert (str(caught.value), caught.value.hint) == (
            f"Cannot read the lock {name}: its ref on origin holds no valid record ({why}).",
            f"Somebody changed refs/ghp/lease/{name} by hand. Reset it to the previous commit, "
            "or delete it; then the holder must acquire it again.",
        )
        with pytest.raises(GhpError):
            one.acquire(name, "worker-1", expected=None)
    assert one.list() == [taken]
    assert one.read("trunk") == taken
    assert counted(one, 1, "trunk").generation == 2
