"""The coordination remote: what a push came to, and whose settings stay out of it."""

import os
import secrets
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from ghp_agents.core.clock import SystemClock
from ghp_agents.core.errors import ExitCode, UnknownError
from ghp_agents.state.coordination import BRANCHES, CUSTOM, Remote, coordination_remote
from ghp_agents.state.private_repo import SEEN_REFS, StateRepository, open_repository
from ghp_agents.state.remote import Pushed, PushOutcome, fetch, fetch_refs, push
from ghp_agents.workspace import Workspace
from tests.support import repos
from tests.support.git import git, refs, run_git
from tests.support.hosts import (
    DENIED,
    OFFLINE,
    ONLY_BRANCHES,
    behind_ssh,
    executable,
    hook,
    workspace,
)

Clones = Callable[[int], list[Path]]
OURS = "refs/ghp/clone/c1"


@dataclass
class Place:
    """A clone with its private repository."""

    ws: Workspace
    repository: StateRepository

    @property
    def remote(self) -> Remote:
        """The coordination remote, as it is known now."""
        coordination = coordination_remote(self.ws)
        assert coordination is not None
        return coordination

    def commit(self, parent: str = "") -> str:
        """A new commit in the private repository; no two are the same."""
        tree = git(self.repository.path, "mktree")
        parents = ["-p", parent] if parent else []
        return git(self.repository.path, "commit-tree", tree, *parents, "-m", secrets.token_hex(8))

    def push(self, *refspecs: str, expected: dict[str, str] | None = None) -> Pushed:
        """A push to the coordination remote."""
        return push(self.ws, self.repository, self.remote, refspecs, expected=expected)

    def fetch(self) -> str | None:
        """A fetch of all that is ours; the words of what went wrong."""
        return fetch(self.ws, self.repository, self.remote)


def place(folder: Path, timeout: float | None = None) -> Place:
    """A clone with its private repository made."""
    ws = workspace(folder, timeout=timeout)
    return Place(ws, open_repository(ws))


@pytest.fixture
def here(clone: Path) -> Place:
    return place(clone)


def ours(remote: Path) -> dict[str, str]:
    """The refs of a remote that are ours."""
    return {ref: oid for ref, oid in refs(remote).items() if "/ghp/" in ref}


# --------------------------------------------------------------------------- what a push came to


def test_a_remote_whose_name_has_slashes_takes_our_refs(repo: Path, remote: Path) -> None:
    git(repo, "remote", "add", "team.hub/one", str(remote))
    other = place(repo)
    assert other.push(f"{other.commit()}:{OURS}") == Pushed(PushOutcome.DONE)
    assert ours(remote).keys() == {OURS}


def test_a_push_that_was_taken_is_done(here: Place, remote: Path) -> None:
    oid = here.commit()
    assert here.push(f"{oid}:{OURS}") == Pushed(PushOutcome.DONE)
    assert ours(remote) == {OURS: oid}
    assert here.push(f":{OURS}") == Pushed(PushOutcome.DONE)
    assert ours(remote) == {}


@pytest.mark.slow
def test_a_push_onto_what_was_not_expected_has_moved(here: Place, remote: Path) -> None:
    first, rival = here.commit(), here.commit()
    assert here.push(f"{first}:{OURS}", expected={OURS: ""}) == Pushed(PushOutcome.DONE)
    for expected in ("", rival):
        pushed = here.push(f"{rival}:{OURS}", expected={OURS: expected})
        assert pushed == Pushed(PushOutcome.MOVED, "[rejected] (stale info)")
    assert here.push(f"{rival}:{OURS}").answer is PushOutcome.MOVED  # not a descendant
    assert ours(remote) == {OURS: first}
    assert here.push(f"{rival}:{OURS}", expected={OURS: first}) == Pushed(PushOutcome.DONE)
    assert ours(remote) == {OURS: rival}


def test_a_push_that_a_rival_overtook_inside_the_remote_has_moved(
    here: Place, remote: Path
) -> None:
    mine, rival = here.commit(), here.commit()
    here.push(f"{rival}:refs/ghp/clone/rival")
    # The rival's ref comes into place between the comparison and the write.
    hook(
        remote,
        "pre-receive",
        f"unset GIT_QUARANTINE_PATH\ngit update-ref {OURS} {rival}\n",
    )
    assert here.push(f"{mine}:{OURS}", expected={OURS: ""}).answer is PushOutcome.MOVED
    assert ours(remote)[OURS] == rival


def test_several_refs_are_swapped_all_or_none(here: Place, remote: Path) -> None:
    first = here.commit()
    here.push(f"{first}:{OURS}")
    oid = here.commit(first)
    other = "refs/ghp/lease/trunk"
    refspecs = (f"{oid}:{OURS}", f"{oid}:{other}")
    pushed = here.push(*refspecs, expected={OURS: first, other: first})
    assert pushed.answer is PushOutcome.MOVED
    assert ours(remote) == {OURS: first}
    assert here.push(*refspecs, expected={OURS: first, other: ""}) == Pushed(PushOutcome.DONE)
    assert ours(remote) == {OURS: oid, other: oid}


def test_a_push_that_a_policy_declines_is_refused_with_the_remotes_words(
    here: Place, remote: Path
) -> None:
    oid = here.commit()
    here.push(f"{oid}:{OURS}")
    hook(
        remote,
        "pre-receive",
        "echo 'Policy 7: ask ops, see http://x:secret@wiki/7.' >&2\necho >&2\nexit 1\n",
    )
    assert here.push(f"{here.commit(oid)}:{OURS}") == Pushed(
        PushOutcome.REFUSED,
        "[remote rejected] (pre-receive hook declined) Policy 7: ask ops, see http://***@wiki/7.",
        about_ref=True,
        lines=("Policy 7: ask ops, see http://x:secret@wiki/7.",),
    )
    assert ours(remote) == {OURS: oid}


def test_who_may_fetch_but_not_push_over_ssh_is_refused(clone: Path, remote: Path) -> None:
    behind_ssh(clone, remote, push=DENIED)
    here = place(clone)
    words = "ERROR: Permission to owner/repo.git denied to somebody."
    assert here.push(f"{here.commit()}:{OURS}") == Pushed(PushOutcome.REFUSED, words)
    assert here.fetch() is None
    assert ours(remote) == {}


def test_who_may_not_even_fetch_over_ssh_is_refused(clone: Path, remote: Path) -> None:
    denied = "echo 'git@host.invalid: Permission denied (publickey).' >&2\nexit 255"
    behind_ssh(clone, remote, push=denied, fetch=denied)
    here = place(clone)
    pushed = here.push(f"{here.commit()}:{OURS}")
    assert pushed.answer is PushOutcome.REFUSED
    assert not pushed.about_ref


def test_a_host_that_cannot_be_found_is_unknown_though_git_speaks_of_access_rights(
    clone: Path, remote: Path
) -> None:
    behind_ssh(clone, remote, push=OFFLINE, fetch=OFFLINE)
    here = place(clone)
    words = "ssh: Could not resolve hostname host.invalid: Name or service not known"
    assert here.push(f"{here.commit()}:{OURS}") == Pushed(
        PushOutcome.UNKNOWN, words, is_unsent=True
    )
    assert here.fetch() == words
    with pytest.raises(UnknownError) as caught:
        fetch_refs(here.ws, here.repository, here.remote, [f"+{OURS}:{SEEN_REFS}c1"])
    assert (str(caught.value), caught.value.hint, caught.value.exit_code) == (
        f"Only the remote origin can decide this, and it did not answer: {words}",
        "Try again when it is reachable; `ghp agent-doctor` tests the connection.",
        ExitCode.UNKNOWN,
    )


def test_a_folder_that_is_not_mounted_is_unknown(here: Place, remote: Path) -> None:
    remote.rename(remote.with_suffix(".away"))
    pushed = here.push(f"{here.commit()}:{OURS}")
    words = f"fatal: '{remote}' does not appear to be a git repository"
    assert pushed == Pushed(PushOutcome.UNKNOWN, words, is_unsent=True)
    assert here.fetch() == words


def test_a_push_whose_connection_broke_after_it_happened_is_unknown(
    here: Place, remote: Path
) -> None:
    first = here.commit()
    here.push(f"{first}:{OURS}")
    hook(remote, "reference-transaction", 'test "$1" != committed || kill -9 $PPID\n')
    oid = here.commit(first)
    pushed = here.push(f"{oid}:{OURS}")
    assert (pushed.answer, pushed.is_unsent) == (PushOutcome.UNKNOWN, False)
    assert ours(remote) == {OURS: oid}


def outlive(log: Path, seconds: float) -> list[int]:
    """The processes of a log that do not end within the time."""
    return [int(line) for line in log.read_text().split() if not _ends(int(line), seconds)]


def _ends(process: int, seconds: float) -> bool:
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    with os.fdopen(descriptor):
        return bool(select.select([descriptor], [], [], seconds)[0])


@pytest.mark.slow
def test_a_remote_that_hangs_is_unknown_in_time_and_nothing_of_it_is_left(
    clone: Path, remote: Path
) -> None:
    log = behind_ssh(clone, remote, push="exec sleep 3600", fetch="exec sleep 3600")
    here = place(clone, timeout=0.5)
    began = SystemClock().now()
    pushed = here.push(f"{here.commit()}:{OURS}")
    words = "`git ls-remote` did not finish within 0.5 s."
    assert pushed == Pushed(PushOutcome.UNKNOWN, words, is_unsent=True)
    settled = here.remote._replace(settled=True)
    pushed = push(here.ws, here.repository, settled, [f"{here.commit()}:{OURS}"])
    assert pushed == Pushed(PushOutcome.UNKNOWN, "`git push` did not finish within 0.5 s.")
    assert here.fetch() == "`git fetch` did not finish within 0.5 s."
    with pytest.raises(UnknownError, match="did not finish within"):
        fetch_refs(here.ws, here.repository, here.remote, [f"+{OURS}:{SEEN_REFS}c1"])
    assert SystemClock().now() - began < 10
    assert len(log.read_text().split()) == 4
    assert outlive(log, seconds=5) == []


@contextmanager
def web_server(status: int) -> Iterator[str]:
    """The address of a server that answers everything with one status."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.end_headers()

        do_POST = do_GET  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "answer", "words"),
    [
        (403, PushOutcome.REFUSED, "fatal: unable to access 'http://{}/x.git/': The requested URL "
         "returned error: 403"),
        (404, PushOutcome.REFUSED, "fatal: repository 'http://{}/x.git/' not found"),
        (500, PushOutcome.UNKNOWN, "fatal: unable to access 'http://{}/x.git/': The requested URL "
         "returned error: 500"),
    ],
)  # fmt: skip
def test_a_web_host_that_says_no_is_told_from_one_that_fails(
    clone: Path, status: int, answer: PushOutcome, words: str
) -> None:
    with web_server(status) as address:
        git(clone, "remote", "set-url", "origin", f"http://{address}/x.git")
        here = place(clone)
        pushed = here.push(f"{here.commit()}:{OURS}")
        is_unsent = answer is PushOutcome.UNKNOWN
        assert pushed == Pushed(answer, words.format(address), is_unsent=is_unsent)


def test_a_web_host_that_wants_a_password_refuses_and_nobody_is_asked(clone: Path) -> None:
    with web_server(401) as address:
        git(clone, "remote", "set-url", "origin", f"http://{address}/x.git")
        here = place(clone)
        pushed = here.push(f"{here.commit()}:{OURS}")
        assert pushed.answer is PushOutcome.REFUSED
        assert pushed.words.startswith(f"fatal: could not read Username for 'http://{address}'")


def test_a_token_in_the_remotes_address_is_in_nobodys_words(clone: Path) -> None:
    with web_server(500) as address:
        git(clone, "remote", "set-url", "origin", f"http://user:t0ken@{address}/x.git")
        here = place(clone)
        words = [here.push(f"{here.commit()}:{OURS}").words, here.fetch() or ""]
        assert "t0ken" not in "".join(words)
        assert all(address in text for text in words)


def test_a_web_host_that_is_down_is_unknown(clone: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    git(clone, "remote", "set-url", "origin", f"http://127.0.0.1:{port}/x.git")
    here = place(clone)
    pushed = here.push(f"{here.commit()}:{OURS}")
    assert (pushed.answer, pushed.is_unsent) == (PushOutcome.UNKNOWN, True)
    settled = here.remote._replace(settled=True)
    assert push(here.ws, here.repository, settled, [f"{here.commit()}:{OURS}"]).is_unsent


# ------------------------------------------------------------------ where on the host our refs are


def test_a_host_that_takes_only_branches_gets_branches_and_that_is_remembered(
    clone: Path, remote: Path
) -> None:
    hook(remote, "update", ONLY_BRANCHES)
    log = behind_ssh(clone, remote)
    here = place(clone)
    first = here.commit()
    assert here.push(f"{first}:{OURS}", expected={OURS: ""}) == Pushed(PushOutcome.DONE)
    assert ours(remote) == {"refs/heads/ghp/clone/c1": first}
    assert here.remote == Remote("origin", BRANCHES, settled=True)
    calls = len(log.read_text().split())
    assert here.push(f"{here.commit(first)}:{OURS}", expected={OURS: first}) == Pushed(
        PushOutcome.DONE
    )
    assert len(log.read_text().split()) == calls + 1


def test_a_host_that_takes_our_refs_is_asked_about_branches_only_once(
    clone: Path, remote: Path
) -> None:
    log = behind_ssh(clone, remote)
    here = place(clone)
    first = here.commit()
    assert here.remote == Remote("origin", CUSTOM, settled=False)
    here.push(f"{first}:{OURS}")
    assert len(log.read_text().split()) == 2
    assert here.remote == Remote("origin", CUSTOM, settled=True)
    here.push(f"{here.commit(first)}:{OURS}")
    assert len(log.read_text().split()) == 3


@pytest.mark.slow
def test_a_clone_finds_the_branches_of_another_even_if_the_host_takes_our_refs_by_now(
    clones: Clones, remote: Path
) -> None:
    one, two = (place(folder) for folder in clones(2))
    policy = hook(remote, "update", ONLY_BRANCHES)
    first = one.commit()
    one.push(f"{first}:refs/ghp/lease/trunk", expected={"refs/ghp/lease/trunk": ""})
    policy.unlink()
    late = two.push(f"{two.commit()}:refs/ghp/lease/trunk", expected={"refs/ghp/lease/trunk": ""})
    assert late.answer is PushOutcome.MOVED
    assert two.remote.namespace == BRANCHES
    assert ours(remote) == {"refs/heads/ghp/lease/trunk": first}
    assert two.fetch() is None
    assert refs(two.repository.path)["refs/ghp/seen-lease/trunk"] == first


@pytest.mark.slow
def test_a_ref_that_is_refused_for_itself_does_not_go_to_another_place(
    clones: Clones, remote: Path
) -> None:
    one, two = (place(folder) for folder in clones(2))
    first = one.commit()
    one.push(f"{first}:{OURS}")
    hook(remote, "update", 'case "$1" in refs/ghp/lease/*) exit 1;; esac\n')
    for who in (one, two):
        pushed = who.push(f"{who.commit()}:refs/ghp/lease/trunk")
        assert pushed.answer is PushOutcome.REFUSED
        assert who.remote.namespace == CUSTOM
    assert ours(remote) == {OURS: first}


def test_a_persons_branch_called_ghp_in_our_way_is_a_refusal_and_stays(
    here: Place, remote: Path
) -> None:
    hook(remote, "update", ONLY_BRANCHES)
    git(remote, "branch", "ghp", "main")
    pushed = here.push(f"{here.commit()}:{OURS}")
    assert pushed.answer is PushOutcome.REFUSED
    assert "refs/heads/ghp" in refs(remote)
    assert ours(remote) == {}


def test_what_was_found_out_belongs_to_the_address_and_not_to_the_name(
    templates: repos.Templates, clone: Path, remote: Path, tmp_path: Path
) -> None:
    hook(remote, "update", ONLY_BRANCHES)
    here = place(clone)
    here.push(f"{here.commit()}:{OURS}")
    assert here.remote.namespace == BRANCHES
    moved = repos.copy_remote(templates, tmp_path / "moved.git")
    git(clone, "remote", "set-url", "origin", str(moved))
    here = place(clone)  # the next command
    assert here.remote == Remote("origin", CUSTOM, settled=False)
    assert here.push(f"{here.commit()}:{OURS}") == Pushed(PushOutcome.DONE)
    assert ours(moved).keys() == {OURS}


@pytest.mark.sample(1)
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"x": 7}', b"\xff"])
def test_a_broken_memory_of_it_is_found_out_again(
    here: Place, remote: Path, content: bytes
) -> None:
    here.push(f"{here.commit()}:{OURS}")
    (here.ws.cache_dir / "remote.json").write_bytes(content)
    assert here.remote == Remote("origin", CUSTOM, settled=False)
    assert here.push(f"{here.commit()}:refs/ghp/clone/c2") == Pushed(PushOutcome.DONE)
    assert here.remote.settled


# -------------------------------------------------------------------- what is the user's stays out


def test_a_fetch_brings_clones_and_rights_and_touches_nothing_of_the_users(
    clones: Clones, remote: Path
) -> None:
    one, two = (place(folder) for folder in clones(2))
    first, right = one.commit(), one.commit()
    one.push(f"{first}:{OURS}", f"{right}:refs/ghp/lease/issue/1")
    user = two.ws.folder
    git(remote, "tag", "v1", "main")
    git(remote, "branch", "new", "main")
    (user / ".git/FETCH_HEAD").write_text("the user's own\n")
    before = refs(user)
    assert two.fetch() is None
    assert refs(two.repository.path) == {
        "refs/ghp/seen/c1": first,
        "refs/ghp/seen-lease/issue/1": right,
    }
    assert refs(user) == before
    assert (user / ".git/FETCH_HEAD").read_text() == "the user's own\n"
    one.push(f":{OURS}")
    assert two.fetch() is None
    assert refs(two.repository.path).keys() == {"refs/ghp/seen-lease/issue/1"}


def test_a_ref_that_the_remote_does_not_have_is_no_error(here: Place) -> None:
    oid = here.commit()
    into = "refs/ghp/seen/c1"
    assert not fetch_refs(here.ws, here.repository, here.remote, [f"+{OURS}:{into}"])
    here.push(f"{oid}:{OURS}")
    assert fetch_refs(here.ws, here.repository, here.remote, [f"+{OURS}:{into}"])
    assert refs(here.repository.path) == {into: oid}
    nothing = "+refs/ghp/nothing/*:refs/ghp/seen/*"
    assert fetch_refs(here.ws, here.repository, here.remote, [nothing])


SETTINGS = {
    "remote.origin.mirror": "true",
    "remote.origin.prune": "true",
    "remote.origin.tagOpt": "--tags",
    "remote.origin.push": "refs/heads/*:refs/heads/*",
    "remote.pushDefault": "elsewhere",
    "push.default": "nothing",
    "push.followTags": "true",
    "push.gpgSign": "true",
    "push.pushOption": "ci.skip",
    "push.recurseSubmodules": "check",
    "push.useForceIfIncludes": "true",
    "fetch.prune": "true",
    "fetch.pruneTags": "true",
    "fetch.fsckObjects": "true",
    "transfer.fsckObjects": "true",
    "commit.gpgSign": "true",
    "gpg.program": "false",
    "core.logAllRefUpdates": "always",
    "core.compression": "9",
    "core.bare": "false",
    "user.useConfigOnly": "true",
    "gc.auto": "1",
    "maintenance.auto": "true",
    "submodule.recurse": "true",
    "protocol.version": "0",
}


@pytest.mark.parametrize("key", [*SETTINGS, "all"])
@pytest.mark.slow
def test_settings_for_the_users_own_work_do_not_meet_ours(
    clone: Path, remote: Path, key: str
) -> None:
    git(clone, "tag", "-a", "v1", "-m", "not for the remote")
    for one, value in SETTINGS.items():
        if key in (one, "all"):
            git(clone, "config", one, value)
    here = place(clone)
    oid = here.commit()
    before = refs(remote)
    assert here.push(f"{oid}:{OURS}", expected={OURS: ""}) == Pushed(PushOutcome.DONE)
    assert here.push(f"{oid}:refs/ghp/clone/c2") == Pushed(PushOutcome.DONE)
    assert here.fetch() is None
    assert refs(remote) == before | {OURS: oid, "refs/ghp/clone/c2": oid}
    assert refs(here.repository.path) == {"refs/ghp/seen/c1": oid, "refs/ghp/seen/c2": oid}


def test_the_users_other_names_for_addresses_hold(clone: Path, remote: Path) -> None:
    git(clone, "config", f"url.{remote.parent}/.insteadOf", "team:")
    git(clone, "remote", "set-url", "origin", f"team:{remote.name}")
    here = place(clone)
    assert here.push(f"{here.commit()}:{OURS}") == Pushed(PushOutcome.DONE)
    assert here.fetch() is None
    assert ours(remote).keys() == {OURS}


def test_the_users_other_address_for_pushes_holds(clone: Path, remote: Path) -> None:
    git(clone, "remote", "set-url", "--push", "origin", remote.as_uri())
    git(clone, "remote", "set-url", "origin", str(remote))
    here = place(clone)
    assert here.push(f"{here.commit()}:{OURS}") == Pushed(PushOutcome.DONE)
    assert ours(remote).keys() == {OURS}


def test_the_users_credentials_are_used(clone: Path) -> None:
    headers: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers.append(self.headers["Authorization"])
            self.send_error(500)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    git(clone, "remote", "set-url", "origin", f"{address}/x.git")
    git(clone, "config", f"http.{address}/.extraHeader", "Authorization: Basic dXNlcg==")
    place(clone).fetch()
    server.shutdown()
    thread.join()
    server.server_close()
    assert headers == ["Basic dXNlcg=="]


HOOKS = (
    "pre-push", "reference-transaction", "post-update", "pre-auto-gc", "post-checkout",
    "pre-commit", "commit-msg", "post-commit", "post-rewrite", "fsmonitor-watchman",
)  # fmt: skip


@pytest.mark.parametrize("where", ["in the clone", "by the user's configuration"])
def test_none_of_the_users_hooks_runs_for_our_exchanges(
    clone: Path, remote: Path, home: Path, tmp_path: Path, where: str
) -> None:
    folder = clone / ".git/hooks" if where == "in the clone" else home / "hooks"
    for name in HOOKS:
        executable(folder / name, f"echo {name} >> {tmp_path}/ran\nexit 1\n")
    if where != "in the clone":
        git(clone, "config", "--global", "core.hooksPath", str(folder))
        git(remote, "config", "core.hooksPath", "hooks")  # another machine has another user
    here = place(clone)
    assert here.push(f"{here.commit()}:{OURS}") == Pushed(PushOutcome.DONE)
    assert here.fetch() is None
    assert not (tmp_path / "ran").exists()
    assert run_git(clone, "push", "origin", "main:other").returncode != 0  # the hooks do work
    assert (tmp_path / "ran").read_text() == "pre-push\n"


def test_inside_a_hook_of_another_repository_ours_is_still_ours(
    clone: Path, remote: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = refs(repo), refs(clone)
    leaked = {
        "GIT_DIR": repo / ".git",
        "GIT_COMMON_DIR": repo / ".git",
        "GIT_WORK_TREE": repo,
        "GIT_INDEX_FILE": repo / ".git/index",
        "GIT_OBJECT_DIRECTORY": repo / ".git/objects",
        "GIT_QUARANTINE_PATH": repo / ".git/objects",
        "GIT_NAMESPACE": "other",
        "GIT_PREFIX": "sub/",
        "GIT_SHALLOW_FILE": repo / "shallow",
    }
    ws = workspace(clone)
    head = git(clone, "rev-parse", "HEAD")
    for name, value in leaked.items():
        monkeypatch.setenv(name, str(value))
    repository = open_repository(ws)
    coordination = coordination_remote(ws)
    assert coordination is not None
    assert fetch_refs(ws, repository, coordination, ["+refs/heads/main:refs/ghp/seen/c1"])
    assert push(ws, repository, coordination, [f"{head}:{OURS}"]) == Pushed(PushOutcome.DONE)
    for name in leaked:
        monkeypatch.delenv(name)
    assert ours(remote) == {OURS: head}
    assert refs(repository.path) == {"refs/ghp/seen/c1": head}
    assert (refs(repo), refs(clone)) == before


@pytest.mark.slow
def test_a_relative_address_counts_from_the_main_worktree(
    clone: Path, remote: Path, worktree: Callable[[Path, str], Path], tmp_path: Path
) -> None:
    git(clone, "remote", "set-url", "origin", "../remote.git")
    linked = tmp_path / "deep/er/linked"
    git(clone, "worktree", "add", "--quiet", "-b", "other", str(linked))
    oids = []
    for folder in (clone, linked, clone / ".git"):
        other = place(folder)
        oids.append(other.commit())
        ref = f"refs/ghp/clone/c{len(oids)}"
        assert other.push(f"{oids[-1]}:{ref}") == Pushed(PushOutcome.DONE)
        assert other.fetch() is None
    assert list(ours(remote).values()) == oids


# -------------------------------------------------------------------------- clones of every kind


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "option", ["--filter=blob:none", "--filter=tree:0", "--depth=1", "--bare", "--no-checkout"]
)
def test_a_clone_of_any_kind_has_all_of_ours_and_stays_what_it_is(
    remote: Path, tmp_path: Path, clones: Clones, option: str
) -> None:
    git(remote, "config", "uploadpack.allowFilter", "true")
    one = place(clones(1)[0])
    path = one.repository.path
    blob = git(path, "hash-object", "-w", "--stdin", stdin="said by one")
    tree = git(path, "mktree", stdin=f"100644 blob {blob}\tfile\n")
    first = git(path, "commit-tree", tree, "-m", "one")
    second = git(path, "commit-tree", tree, "-p", first, "-m", "two")
    assert one.push(f"{second}:{OURS}") == Pushed(PushOutcome.DONE)
    folder = tmp_path / "other"
    git(tmp_path, "clone", "--quiet", option, remote.as_uri(), str(folder))
    before = refs(folder), git(folder, "rev-parse", "--is-shallow-repository")
    two = place(folder)
    assert two.fetch() is None
    remote.rename(remote.with_suffix(".away"))  # whatever is missing cannot be fetched any more
    private = two.repository.path
    assert (
        git(private, "rev-list", "--objects", "--missing=print", "refs/ghp/seen/c1").count("?") == 0
    )
    assert git(private, "cat-file", "blob", "refs/ghp/seen/c1~1:file") == "said by one"
    assert git(private, "rev-parse", "--is-shallow-repository") == "false"
    assert (refs(folder), git(folder, "rev-parse", "--is-shallow-repository")) == before


def test_a_question_that_is_ours_alone_never_goes_to_the_network_in_a_partial_clone(
    remote: Path, tmp_path: Path
) -> None:
    git(remote, "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "partial"
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", remote.as_uri(), str(clone))
    log = behind_ssh(clone, remote)
    here = place(clone)
    missing = "1" * 40
    with here.repository.objects() as reader:
        assert reader.read([missing, f"{missing}:file"]) == [None, None]
    assert here.repository.run("cat-file", "-e", missing).code != 0
    assert not log.exists()


def test_sha256_repositories_exchange_as_others_do(tmp_path: Path) -> None:
    for name in ("remote.git", "clone"):
        bare = ["--bare"] if name.endswith(".git") else []
        git(tmp_path, "init", "--quiet", "--object-format=sha256", *bare, name)
    clone, remote = tmp_path / "clone", tmp_path / "remote.git"
    git(clone, "remote", "add", "origin", str(remote))
    here = place(clone)
    oid = here.commit()
    assert len(oid) == 64
    assert here.push(f"{oid}:{OURS}", expected={OURS: ""}) == Pushed(PushOutcome.DONE)
    assert here.fetch() is None
    assert ours(remote) == {OURS: oid}
    assert refs(here.repository.path) == {"refs/ghp/seen/c1": oid}
