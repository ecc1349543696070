"""What GitHub answered goes from one job to the next, and only as the state vouches for it."""

import json
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from ghp_agents.sweep import kept_cache
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.ghp import invoke
from tests.support.git import git
from tests.support.github import ADMIN, GitHub

MIRROR = "hub/mirror/issues.json"
CHECKED = "hub/mirror-checked.json"


@pytest.fixture
def ws(repo: Path) -> Workspace:
    """A clone that asked GitHub."""
    ws = open_workspace(repo, {}, ManualClock())
    write(ws, MIRROR, {"issues": [1]})
    write(ws, CHECKED, {"at": 1.0, "cursor": "c"})
    write(ws, "hub/comments/7.json", {"comments": []})
    write(ws, "hub/gh.json", {"github.com": 1.0})
    write(ws, f"hub/{'a' * 16}.json", {"budget": 7})
    write(ws, f"hub/{'a' * 16}/answers/x.json", {"body": 7})
    return ws


def write(ws: Workspace, name: str, content: object) -> None:
    path = ws.cache_dir / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def next_job(ws: Workspace, folder: Path, note: bool = True) -> Workspace:
    """A new clone, which has the memory of the one before."""
    git(folder, "clone", "--quiet", "--template=", ws.place.toplevel or "", "next")
    fresh = open_workspace(folder / "next", {}, ManualClock())
    if note:
        content = (ws.cache_dir / kept_cache.NOTE).read_text()
        write(fresh, kept_cache.NOTE, json.loads(content))
    return fresh


def hub_files(ws: Workspace) -> dict[str, str]:
    hub = ws.cache_dir / "hub"
    return {str(x.relative_to(ws.cache_dir)): x.read_text() for x in hub.rglob("*") if x.is_file()}


def test_the_next_job_has_the_answers_and_nothing_of_a_token(ws: Workspace, tmp_path: Path) -> None:
    kept_cache.keep(ws, tmp_path / "cache")
    fresh = next_job(ws, tmp_path)
    assert kept_cache.restore(fresh, tmp_path / "cache")
    before = hub_files(ws)
    assert hub_files(fresh) == {
        name: before[name] for name in (MIRROR, CHECKED, "hub/comments/7.json")
    }


def test_without_an_archive_nothing_is_restored(ws: Workspace, tmp_path: Path) -> None:
    assert not kept_cache.restore(ws, tmp_path / "cache")


@pytest.mark.parametrize("note", [True, False])
def test_an_archive_that_another_job_wrote_is_not_used(
    ws: Workspace, tmp_path: Path, note: bool
) -> None:
    kept_cache.keep(ws, tmp_path / "cache")
    with zipfile.ZipFile(tmp_path / "cache" / kept_cache.ARCHIVE, "w") as forged:
        forged.writestr("../../hooks/pre-commit", "#!/bin/sh\ntouch pwned\n")
        forged.writestr(MIRROR, '{"issues": ["mine"]}')
    fresh = next_job(ws, tmp_path, note)
    before = sorted((tmp_path / "next/.git").rglob("*"))
    assert not kept_cache.restore(fresh, tmp_path / "cache")
    assert sorted((tmp_path / "next/.git").rglob("*")) == before


def test_the_archive_is_written_only_for_what_is_new(ws: Workspace, tmp_path: Path) -> None:
    archive = tmp_path / "cache" / kept_cache.ARCHIVE
    kept_cache.keep(ws, archive.parent)
    first = archive.read_bytes()
    write(ws, CHECKED, {"at": 2.0, "cursor": "c"})  # the time of a request alone
    kept_cache.keep(ws, archive.parent)
    assert archive.read_bytes() == first
    write(ws, CHECKED, {"at": 2.0, "cursor": "d"})
    kept_cache.keep(ws, archive.parent)
    assert archive.read_bytes() != first
    assert kept_cache.restore(next_job(ws, tmp_path), archive.parent)


def test_an_archive_that_lost_its_digest_is_written_again(ws: Workspace, tmp_path: Path) -> None:
    archive = tmp_path / "cache" / kept_cache.ARCHIVE
    kept_cache.keep(ws, archive.parent)
    (ws.cache_dir / kept_cache.NOTE).unlink()
    kept_cache.keep(ws, archive.parent)
    assert kept_cache.restore(next_job(ws, tmp_path), archive.parent)


@pytest.mark.slow
def test_jobs_in_new_clones_ask_github_only_what_is_new(odd: GitHub, tmp_path: Path) -> None:
    clock, cache = ManualClock(1_790_000_000.0), tmp_path / "cache"
    odd.proxy.clock = clock
    for number in range(120):
        clock.wait(1)
        odd.issue(f"Issue {number}", labels=["agent:worker-3"] if number % 20 == 0 else [])

    def job(name: str) -> int:
        """The requests of a sweep in a new clone."""
        clock.wait(600)
        folder, mark = odd.clone(name), len(odd.proxy.exchanges)
        line = ["agent-sweep", "--ephemeral", "--cache", str(cache)]
        done = invoke(line, folder, {**odd.environment(ADMIN), "GHP_BACKGROUND": "0"}, clock=clock)
        assert done.code == 0, done.err
        return len(odd.proxy.since(mark))

    first = job("one")
    archive = (cache / kept_cache.ARCHIVE).read_bytes()
    second, third = job("two"), job("three")
    assert (cache / kept_cache.ARCHIVE).read_bytes() == archive
    assert second < first
    assert max(second, third) <= 8
    clock.wait(7 * 3_600)  # a full read is due
    mark = len(odd.proxy.exchanges)
    assert job("later") <= 9
    assert not any("state=all" in x and "since=" not in x for x in map(str, odd.proxy.since(mark)))
    (cache / kept_cache.ARCHIVE).write_bytes(archive + b"x")
    assert job("four") >= first


@pytest.mark.parametrize(
    ("event", "saves"),
    [("schedule", True), ("workflow_dispatch", True), ("push", True), ("", True),
     ("issue_comment", False), ("issues", False), ("pull_request_target", False)],
)  # fmt: skip
def test_a_job_that_may_not_write_the_cache_leaves_the_digest_of_what_is_in_it(
    ws: Workspace, tmp_path: Path, event: str, saves: bool
) -> None:
    archive = tmp_path / "cache" / kept_cache.ARCHIVE
    kept_cache.keep(ws, archive.parent)
    before = archive.read_bytes(), (ws.cache_dir / kept_cache.NOTE).read_text()
    write(ws, CHECKED, {"at": 2.0, "cursor": "d"})
    later = open_workspace(ws.folder, {"GITHUB_EVENT_NAME": event}, ManualClock())
    kept_cache.keep(later, archive.parent)
    after = archive.read_bytes(), (ws.cache_dir / kept_cache.NOTE).read_text()
    assert (after != before) is saves
    assert kept_cache.restore(next_job(ws, tmp_path), archive.parent)


def test_a_forged_archive_writes_no_other_file(ws: Workspace, tmp_path: Path) -> None:
    fresh, cache = next_job(ws, tmp_path, note=False), tmp_path / "cache"
    cache.mkdir()
    names = ("../escaped.json", f"{tmp_path}/absolute.json", "hub/../up.json", "news.json", MIRROR)
    with zipfile.ZipFile(cache / kept_cache.ARCHIVE, "w") as packed:
        for name in names:
            packed.writestr(name, "{}")
    content = (cache / kept_cache.ARCHIVE).read_bytes()
    write(fresh, kept_cache.NOTE, {"sha256": sha256(content).hexdigest()})
    before = {*fresh.ghp_dir.rglob("*"), *tmp_path.glob("*")}
    assert kept_cache.restore(fresh, cache)
    new = {path for path in {*fresh.ghp_dir.rglob("*"), *tmp_path.glob("*")} if path.is_file()}
    assert new - before == {fresh.cache_dir / MIRROR}
