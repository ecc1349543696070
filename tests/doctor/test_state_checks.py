"""The doctor on what was said: how far it got, and what stands in its way."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghp_agents.core.finding import Finding, Level, error, info, ok, warning
from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.doctor import state_checks as records
from ghp_agents.parts.lists import RECORDS
from ghp_agents.state.join import SyncStatus
from ghp_agents.state.record import Record
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.context import make_context
from tests.support.doctor import checks_made
from tests.support.twins.locks import MemoryLocks
from tests.support.twins.state import MemoryRemote, MemoryStore

LOCKS = MemoryLocks(ManualClock())

DAY = 86_400.0


class StandingStore(MemoryStore):
    """A store that stands with its remote as a test says."""

    stands = SyncStatus()

    def sync_status(self) -> SyncStatus:
        return self.stands


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def ws(repo: Path, clock: ManualClock) -> Workspace:
    return open_workspace(repo, os.environ, clock, "worker-1")


@pytest.fixture
def store(clock: ManualClock) -> StandingStore:
    return StandingStore(clock)


def one(findings: Iterator[Finding]) -> Finding:
    (finding,) = findings
    return finding


def test_every_check_can_be_made_of_a_clone_that_was_never_used(
    ws: Workspace, store: StandingStore
) -> None:
    results = checks_made("doctor.state_checks:", ctx=make_context(ws, store, LOCKS))
    assert {finding.level for finding in results} == {Level.OK}


def test_without_a_remote_nothing_is_said_of_sending(ws: Workspace, store: StandingStore) -> None:
    assert list(records.check_unsent(make_context(ws, store))) == []
    assert list(records.check_sync(make_context(ws, store))) == []


def test_records_that_wait_can_be_folded_by_the_doctor(store: StandingStore) -> None:
    store.stands = SyncStatus(waiting=2)
    assert one(records.check_outbox(make_context(store=store))) == warning(
        "outbox",
        "2 records in the outbox could not be committed.",
        "`ghp agent-doctor --fix` commits what it can.",
        fixable=True,
    )


@pytest.mark.parametrize(
    ("sent", "level", "since"),
    [
        (None, Level.WARNING, "never sent"),
        (60.0, Level.INFO, "last sent 1 min ago"),
        (1200.0, Level.WARNING, "last sent 20 min ago"),
    ],
)
def test_what_was_not_sent_is_a_warning_once_it_is_late(
    ws: Workspace,
    store: StandingStore,
    clock: ManualClock,
    sent: float | None,
    level: Level,
    since: str,
) -> None:
    at = None if sent is None else clock.now() - sent
    store.stands = SyncStatus(remote="origin", unsent=1, sent_at=at)
    finding = one(records.check_unsent(make_context(ws, store)))
    assert (finding.level, finding.fixable) == (level, True)
    assert finding.text == f"1 change not sent to origin yet ({since})."


def test_a_remote_that_has_all_is_well(
    ws: Workspace, store: StandingStore, clock: ManualClock
) -> None:
    store.stands = SyncStatus(remote="origin", news_at=clock.now() - 12)
    assert one(records.check_unsent(make_context(ws, store))) == ok(
        "unsent", "origin has everything that was committed here."
    )
    assert one(records.check_sync(make_context(ws, store))) == ok(
        "sync", "Last news from origin: 12 s ago."
    )


def test_a_clone_that_never_synced_is_told_how(ws: Workspace, store: StandingStore) -> None:
    store.stands = SyncStatus(remote="origin")
    assert one(records.check_sync(make_context(ws, store))) == info(
        "sync", "Never synced yet.", "Run `ghp agent-sync`."
    )


def test_trouble_that_may_pass_is_a_warning_and_a_refusal_an_error(
    ws: Workspace, store: StandingStore
) -> None:
    store.stands = SyncStatus(remote="origin", trouble="no answer\nin 30 s")
    text = "The last sync with origin failed: no answer in 30 s (never synced)."
    assert one(records.check_sync(make_context(ws, store))) == warning(
        "sync", text, "The next sync tries again: ghp agent-sync"
    )
    store.stands = SyncStatus(remote="origin", trouble="no answer in 30 s", permanent=True)
    assert one(records.check_sync(make_context(ws, store))) == error(
        "sync",
        text,
        "Trying again will not help. Ask for permission to push, or name another remote, such as "
        'a fork: "agents": {"remote": "fork"}.',
    )


@pytest.mark.parametrize(
    ("trouble", "permanent", "advice"),
    [
        ("GH013: Commits must have verified signatures.", True, "A rule asks for signed commits"),
        ("Cannot create ref due to creations being restricted.", True, "A rule restricts who may"),
        ("This repository was archived so it is read-only.", True, "Nobody can write to an"),
        (
            "the organization has enforced SAML SSO",
            True,
            "A person authorizes",
        ),
        (
            "the organization has enforced SAML SSO",
            False,
            "A person authorizes",
        ),
        ("[remote rejected] (hook declined) Policy 7", True, "A rule of the remote refuses"),
        ("Permission to owner/repo.git denied", True, "Trying again will not help. Ask for"),
    ],
)
def test_the_advice_fits_the_cause(
    ws: Workspace, store: StandingStore, trouble: str, permanent: bool, advice: str
) -> None:
    store.stands = SyncStatus(remote="origin", trouble=trouble, permanent=permanent)
    finding = one(records.check_sync(make_context(ws, store)))
    assert (finding.level, finding.remedy[: len(advice)]) == (Level.ERROR, advice)


def test_a_clone_that_is_silent_for_a_month_is_named_and_keeps_its_say(
    ws: Workspace, clock: ManualClock
) -> None:
    hub = MemoryRemote()
    other = MemoryStore(clock, "other", hub)
    other.beat("worker-2", {"status": "idle", "epoch": 1, "seq": 1})
    other.sync()
    here = MemoryStore(clock, CloneId("here"), hub)
    here.sync()
    assert list(records.check_clones(make_context(ws, here))) == []
    clock.wait(31 * DAY)
    assert one(records.check_clones(make_context(ws, here))) == info(
        "clone-silent",
        "Clone other has sent nothing for 31 d.",
        "Nothing to do: its records are kept.",
    )
    assert "worker-2" in here.snapshot().agents()


def test_a_document_that_is_not_the_record_it_should_be_is_named(
    ws: Workspace, store: StandingStore
) -> None:
    an_id, front = "0123456789ab", b"---\nid: X\n---\n\ntext\n"
    broken = {
        f".ghp/answers/{an_id}/{an_id}.md": front,
        f".ghp/commands/{an_id}.json": b"{}",
        f".ghp/escalations/{an_id}.md": front,
        f".ghp/handoffs/1/now-{an_id}.md": front,
        f".ghp/issues/{an_id}/{an_id}.json": b'{"kind": "comment", "clock": []}',
        f".ghp/leases/{an_id}/{an_id}.json": b'{"kind": "request", "clock": null}',
        f".ghp/notes/01/{an_id}.md": front,
        f".ghp/pulls/{an_id}/{an_id}.json": b'{"kind": "open", "clock": "x"}',
        f".ghp/returns/1/{an_id}.json": b"{}",
    }
    unknown = {".ghp/inbox/x.json": b"{}", f".ghp/issues/{an_id}/{an_id}0.json": b'{"kind": "x"}'}
    at, by = Timestamp("2026-01-02T03:04:05Z"), Actor("worker-1")
    record = Record("note", by, "N-1", "1", at, 1, tuple((broken | unknown).items()))
    store.commit([record], expected=store.snapshot().revision)
    results = list(records.check_readable(make_context(ws, store, LOCKS)))
    assert [result.text.partition(": ")[0] for result in results] == sorted(broken)
    assert results[0].text.endswith(": it does not say who wrote it.")


@pytest.mark.parametrize("folder", [folder for folder, reader in RECORDS.items() if reader])
def test_a_record_of_an_unknown_major_version_is_set_aside_and_named(
    ws: Workspace, store: StandingStore, folder: str
) -> None:
    an_id = "0123456789ab"
    path = {
        "answers": f"{an_id}/{an_id}.md", "decisions": f"{an_id}/{an_id}.md",
        "escalations": f"{an_id}.md",
        "handoffs": f"1/now-{an_id}.md", "notes": f"01/{an_id}.md", "messages": f"01/{an_id}.md",
        "reviews": f"1/{an_id}.json", "returns": f"1/{an_id}.json", "commands": f"{an_id}.json",
    }.get(folder, f"{an_id}/{an_id}.json")  # fmt: skip
    place = f".ghp/{folder}/{path}"
    content = b'{"schemaVersion": 2}' if path.endswith("json") else b"---\nschemaVersion: 2\n---\n"
    content = b"Schema-Version: 2\n\n" if folder == "messages" else content
    at, by = Timestamp("2026-01-02T03:04:05Z"), Actor("worker-1")
    store.commit(
        [Record("note", by, "N-1", "1", at, 1, ((place, content),))],
        expected=store.snapshot().revision,
    )
    finding = one(records.check_readable(make_context(ws, store, LOCKS)))
    assert finding.text == f"{place}: its schemaVersion is 2, and this program knows 1."
    assert finding.remedy == (
        "It is kept but ignored. Update ghp-agents to the version that wrote it."
    )


def test_patches_are_not_read_to_see_whether_they_can_be(
    ws: Workspace, store: StandingStore
) -> None:
    at, by = Timestamp("2026-01-02T03:04:05Z"), Actor("worker-1")
    files = ((".ghp/escalations/0123456789ab.md", b"no"), (".ghp/patches/a/applied-b.json", b"no"))
    record = Record("note", by, "N-1", "1", at, store.snapshot().clock + 1, files)
    store.commit([record], expected=store.snapshot().revision)
    finding = one(records.check_readable(make_context(ws, store, LOCKS)))
    assert finding.text.startswith(".ghp/escalations/0123456789ab.md: no front matter")
