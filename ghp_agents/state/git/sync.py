"""Sync: fetch what the other clones wrote, push what this one wrote.

A clone's ref has one writer, so its push never loses a race. A rejection as not fast-forward means
a twin: someone copied the folder. Then this clone takes a new id and repeats its records under it;
the join unites both. Agents with heartbeats only in the twin since then belong to the twin.
"""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from functools import partial

from ghp_agents.core import files, progress
from ghp_agents.core.errors import GhpError
from ghp_agents.core.files import LockTimeoutError
from ghp_agents.core.ids import count
from ghp_agents.core.json_file import object_file
from ghp_agents.core.remote_url import host_of
from ghp_agents.git import process as git
from ghp_agents.hotpath.background import BOX
from ghp_agents.state import refusal
from ghp_agents.state.coordination import Remote, coordination_remote, why_none
from ghp_agents.state.git import copied_clone, fold, refused_search
from ghp_agents.state.git.sync_status import NOTE, SyncMemory, count_unsent, read_note
from ghp_agents.state.join import SyncReport
from ghp_agents.state.private_repo import (
    LEASE_REFS,
    SEEN_LEASE_REFS,
    SEEN_REFS,
    StateRepository,
    descend,
    find_repository,
    open_repository,
    split_off,
)
from ghp_agents.state.remote import BOXED, Pushed, PushOutcome, fetch, has_refs, push
from ghp_agents.workspace import Workspace

LOCK = "sync.lock"
SHORTEST_S = 0.4  # seconds that a person waits for news; with the program's start, less than 1
SEND_ATTEMPTS = 10  # more than two only where locks are impossible


def sync(
    ws: Workspace, *, send: bool, wait: bool = True, brief: bool = False, fetches: bool = True
) -> SyncReport:
    """One exchange. An unreachable or refusing remote is reported, not raised.

    Without `wait`, it does not wait for a running exchange; without `fetches`, it only sends. If a
    `brief` one ends in trouble, that says nothing of a real one, and only its time is noted.
    """
    remote = coordination_remote(ws)
    if remote is None:
        return SyncReport(remote=None, notes=(f"Nothing leaves this clone: {why_none(ws)}.",))
    if ws.environ.get(BOX):
        return SyncReport(remote=remote.name, trouble=BOXED)
    patience, begun = ws.settings.timeout if wait else 0.05, ws.clock.interval()[1]
    try:
        ws.ghp_dir.mkdir(parents=True, exist_ok=True)
        with ExitStack() as inside:
            other = f"another process of this clone that talks to {remote.name}"
            with progress.waiting(other, patience):
                lock = files.locked_if_possible(ws.ghp_dir / LOCK, patience=patience)
                held = inside.enter_context(lock)
            report = _exchange(ws, remote, held, send=send, fetches=fetches)
    except LockTimeoutError as error:
        # The running exchange may have missed the newest records.
        again_at = None if wait else ws.clock.now()
        return SyncReport(remote=remote.name, trouble=str(error), again_at=again_at)
    except OSError as error:
        return SyncReport(remote=remote.name, trouble=str(error))
    previous = read_note(ws, remote)
    noted = _noted(previous, report, ws.clock.now(), sent=send)
    if brief and report.trouble:
        noted = previous._replace(remote=remote.name, tried_at=ws.clock.now())
    if report.fetched:
        boot, seconds = ws.clock.interval()
        noted = noted._replace(heard_boot=boot, heard_at=seconds, took=seconds - begun)
    object_file(ws.cache_dir / NOTE).write(noted._asdict())
    return report


def _noted(previous: SyncMemory, report: SyncReport, now: float, *, sent: bool) -> SyncMemory:
    # A refusal stands until a push is accepted, or refused again.
    stands = previous.permanent and not sent and not report.trouble
    return SyncMemory(
        remote=report.remote,
        fetched_at=now if report.fetched else previous.fetched_at,
        pushed_at=now if report.pushed else previous.pushed_at,
        tried_at=now,
        refused_at=now if report.permanent else previous.refused_at,
        heard_boot=previous.heard_boot,
        heard_at=previous.heard_at,
        trouble=previous.trouble if stands else report.trouble,
        permanent=stands or report.permanent,
        took=previous.took,
    )


def _exchange(
    ws: Workspace, remote: Remote, held: Sequence[int], *, send: bool, fetches: bool
) -> SyncReport:
    repository = open_repository(ws)
    if held:
        _heal_seen(repository)
    report = SyncReport(remote=remote.name)
    if fetches:
        report = _fetch_all(ws, repository, remote, held)
    if report.trouble or not send:
        return report._replace(unsent=count_unsent(repository))
    return _send(ws, repository, remote, held, report)


def _fetch_all(
    ws: Workspace, repository: StateRepository, remote: Remote, held: Sequence[int]
) -> SyncReport:
    before, rights = repository.refs(SEEN_REFS), repository.refs(SEEN_LEASE_REFS)
    progress.note(f"fetching from {remote.name}")
    trouble = fetch(ws, repository, remote, keep_open=held)
    _keep_locks(repository, rights)
    if trouble:
        return SyncReport(remote=remote.name, trouble=trouble)
    after = repository.refs(SEEN_REFS)
    news = sum(
        1
        for ref, oid in after.items()
        if before.get(ref) != oid and not ref.endswith(repository.clone)
    )
    _note_records("reading {}", repository, after.values(), before.values())
    return SyncReport(remote=remote.name, fetched=True, news=news)


def _send(
    ws: Workspace,
    repository: StateRepository,
    remote: Remote,
    held: Sequence[int],
    report: SyncReport,
) -> SyncReport:
    notes: list[str] = []
    trouble: str | None = None
    for _ in range(SEND_ATTEMPTS):
        if has_twin(repository):
            repository = _split_from_twin(ws, repository)
            notes.append(
                "Another clone has the same id (a copied folder or container image). This "
                f"clone is now {repository.clone}; nothing was lost."
            )
        head = repository.commit_at(repository.ref)
        if head is None or head == repository.commit_at(repository.sent_ref):
            return report._replace(notes=tuple(notes))
        send = partial(_push_own, ws, repository, remote, held)
        pushed = send(head)
        is_sent = False
        if pushed.about_ref and refusal.may_be_about_records(pushed.words):
            pushed, is_sent, more, refused = refused_search.send_rest(
                ws, repository, send, head, pushed
            )
            notes += more
            report = report._replace(refused=report.refused + refused)
        report = report._replace(pushed=report.pushed or is_sent)
        if pushed.answer is PushOutcome.DONE:
            return report._replace(pushed=True, notes=tuple(notes))
        if pushed.answer is not PushOutcome.MOVED:
            return report._replace(
                trouble=pushed.words,
                permanent=pushed.answer is PushOutcome.REFUSED,
                unsent=count_unsent(repository),
                notes=tuple(notes),
            )
        # A twin or another process of this clone moved it: fetch what it sent.
        trouble = fetch(ws, repository, remote, keep_open=held)
        if trouble:
            break
    return report._replace(
        trouble=trouble or "this clone's ref on the remote kept moving",
        unsent=count_unsent(repository),
        notes=tuple(notes),
    )


def _note_records(
    text: str, repository: StateRepository, tips: Iterable[str], bases: Iterable[str]
) -> None:
    """Show how many records are in the commits up to `tips`, but not in those up to `bases`."""
    if not progress.is_shown():
        return  # counting takes a process
    progress.note(text.format("what is new"))
    args = ["log", "-z", "--format=", "--name-only", "--no-renames", *tips, "--not", *bases, "--"]
    paths = {*filter(None, repository.run(*args).out.split(b"\0"))}
    if paths:
        progress.note(text.format(count(len(paths), "record")))


def _push_own(
    ws: Workspace, repository: StateRepository, remote: Remote, held: Sequence[int], commit: str
) -> Pushed:
    """Push a commit to this clone's ref, and note that the remote has it."""
    sent = repository.commit_at(repository.sent_ref)
    _note_records(f"pushing {{}} to {remote.name}", repository, [commit], [sent] if sent else [])
    pushed = push(ws, repository, remote, [f"{commit}:{repository.ref}"], keep_open=held)
    is_sent = pushed.answer is PushOutcome.DONE
    if is_sent and not repository.point(repository.sent_ref, commit, sent):
        repository.check("update-ref", repository.sent_ref, commit)
    return pushed


def has_twin(repository: StateRepository) -> bool:
    """Whether the remote has commits under our id that we never made."""
    sent = repository.commit_at(repository.sent_ref)
    head = repository.commit_at(repository.ref)
    if sent is None or sent == head:
        return False
    if head is None:
        return True
    if repository.commits_between(head, sent) is not None:
        return False
    return repository.run("merge-base", "--is-ancestor", sent, head).code == 1


def _split_from_twin(ws: Workspace, repository: StateRepository) -> StateRepository:
    """Continue under a new id, with all records of the old one. Agents with heartbeats only in the
    twin belong to the twin."""
    with fold.state_lock(ws):
        current = find_repository(ws)
        if current and current.clone != repository.clone:
            return current  # another process did it
        head, twins = (repository.commit_at(x) for x in (repository.ref, repository.sent_ref))
        if head and twins:
            copied_clone.note_copies(ws, repository, head, twins)
        return split_off(ws, repository)


def _keep_locks(repository: StateRepository, before: dict[str, str]) -> None:
    """Keep locks of which the remote now has an older value than before, to restore them there."""
    after = repository.refs(SEEN_LEASE_REFS)
    changed = {ref: oid for ref, oid in before.items() if after.get(ref) != oid}
    pairs = [(after[ref], oid) for ref, oid in changed.items() if ref in after]
    followed = {earlier for _, earlier in descend(repository, pairs)}
    for ref, oid in changed.items():
        if oid not in followed:
            own_ref = LEASE_REFS + ref.removeprefix(SEEN_LEASE_REFS)
            own_oid = repository.commit_at(own_ref) or ""
            if not own_oid or descend(repository, [(oid, own_oid)]):
                repository.run("update-ref", own_ref, oid, own_oid)


def _heal_seen(repository: StateRepository) -> None:
    """Remove stale ref locks. Nobody else writes these refs: we hold the sync lock, which fetches
    inherit."""
    (repository.path / "packed-refs.lock").unlink(missing_ok=True)
    for space in (SEEN_REFS, SEEN_LEASE_REFS):
        for left in (repository.path / space).glob("**/*.lock"):
            left.unlink(missing_ok=True)


def hear(ws: Workspace, timeout: float, *, needed: bool = False) -> SyncReport:
    """Fetch within `timeout` seconds, or less where that is enough, unless `needed`; nothing is
    created where the remote has no refs of ours."""
    remote = coordination_remote(ws)
    if remote is None:
        return SyncReport(remote=None)
    begun = ws.clock.interval()[1]
    is_far = host_of(ws.remotes.get(remote.name, "")) is not None
    if is_far and not needed and timeout < ws.settings.timeout:  # somebody waits for it
        timeout = usual_wait(read_note(ws, remote), timeout)
    if not ws.ghp_dir.exists():
        try:
            is_used = has_refs(ws, remote, timeout)
        except GhpError as error:
            return SyncReport(remote=remote.name, trouble=str(error))
        if not is_used:
            return SyncReport(remote=remote.name, fetched=True)
    left = timeout - (ws.clock.interval()[1] - begun)
    if left <= 0:
        return SyncReport(
            remote=remote.name, trouble=f"it did not answer within {round(timeout, 1):g} s"
        )
    report = safely(ws.with_timeout(left), send=False, wait=False, brief=True)
    return report if report.again_at is None else _of_other(ws, remote.name, left)


def usual_wait(note: SyncMemory, most: float) -> float:
    """Seconds to wait for a remote on another machine, at most `most`: twice what it took last, and
    few for one that did not answer, or was never asked."""
    is_silent = note.trouble or (note.tried_at or 0) > (note.fetched_at or 0)
    usual = 0.0 if is_silent else 2 * (note.took or 0.0)
    return min(most, max(SHORTEST_S, usual))


def _of_other(ws: Workspace, remote: str, timeout: float) -> SyncReport:
    """Wait for the exchange that another process of this clone runs; it fetches for us, too."""
    try:
        with files.locked_if_possible(ws.ghp_dir / LOCK, patience=timeout):
            return SyncReport(remote=remote, fetched=True)
    except LockTimeoutError:
        trouble = "another process of this clone is syncing with it."
        return SyncReport(remote=remote, trouble=trouble)


def safely(
    ws: Workspace, *, send: bool, wait: bool = True, brief: bool = False, fetches: bool = True
) -> SyncReport:
    """`sync`, with git's own failures in the report, too."""
    try:
        return sync(ws, send=send, wait=wait, brief=brief, fetches=fetches)
    except git.GitError as error:
        return SyncReport(remote=ws.settings.remote or "", trouble=str(error))
