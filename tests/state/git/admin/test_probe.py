"""Whether the remote takes our refs: found out by a push, remembered for one address."""

from dataclasses import replace
from pathlib import Path

from ghp_agents.state.git.admin import probe as probing
from tests.support import hosts
from tests.support.git import git, refs


def test_a_persons_branch_under_our_name_does_not_make_us_use_branches(
    clone: Path, remote: Path
) -> None:
    git(clone, "push", "--quiet", "origin", "main:refs/heads/ghp/147-dashboard")
    probe = probing.probe(hosts.workspace(clone))
    assert probe is not None
    assert (probe.taken, probe.place) == (True, "refs/ghp/")
    assert refs(remote).keys() == {"refs/heads/ghp/147-dashboard", "refs/heads/main"}


def test_where_other_clones_use_branches_the_probe_looks_there_too(
    clone: Path, remote: Path
) -> None:
    git(clone, "push", "--quiet", "origin", "main:refs/heads/ghp/clone/0123456789ab")
    probe = probing.probe(hosts.workspace(clone))
    assert probe is not None
    assert (probe.taken, probe.place) == (True, "refs/heads/ghp/")


def test_without_a_remote_there_is_nothing_to_probe(repo: Path) -> None:
    ws = hosts.workspace(repo)
    assert probing.probe(ws) is None
    assert probing.last_probe(ws) is None
    assert not (repo / ".git/ghp").exists()


def test_a_probe_of_another_address_is_forgotten_and_a_broken_note_is_none(
    clone: Path, remote: Path
) -> None:
    ws = hosts.workspace(clone)
    probe = probing.probe(ws)
    assert probe is not None
    assert probing.last_probe(ws) == probe
    assert replace(probe, at=0.0) == replace(probe, remote="origin", taken=True, at=0.0)
    note = ws.cache_dir / "probe.json"
    good = note.read_text()
    note.write_text(good.replace('"taken"', '"token"'))
    assert probing.last_probe(ws) is None
    note.write_text(good)
    git(clone, "remote", "set-url", "origin", str(remote.with_name("other.git")))
    assert probing.last_probe(hosts.workspace(clone)) is None
