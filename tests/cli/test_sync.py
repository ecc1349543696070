"""`agent-sync` as people call it, against remotes of every mood."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.clock import SystemClock
from ghp_agents.hotpath import background
from tests.state.clones import store
from tests.support import repos
from tests.support.consent import mine
from tests.support.ghp import invoke
from tests.support.git import git
from tests.support.rulesets import rule

Clones = Callable[[int], list[Path]]
AS = {"GHP_AGENT": "worker-1"}
SECRET = "qz_" + "Abx" * 11 + "c"


def test_a_repository_without_a_remote_keeps_everything(repo: Path) -> None:
    assert invoke("agent-sync", repo) == (
        0,
        "",
        "Nothing leaves this clone: there is no remote.\n✓ Saved in this clone.\n",
    )
    assert invoke("agent-sync --publish", repo) == invoke("agent-sync", repo)


def test_several_remotes_and_no_origin_is_said(repo: Path) -> None:
    for name in ("upstream", "fork"):
        git(repo, "remote", "add", name, f"/nowhere/{name}.git")
    assert invoke("agent-sync", repo).err == (
        "Nothing leaves this clone: none of the remotes fork, upstream is called origin, and "
        "`agents.remote` is not set.\n✓ Saved in this clone.\n"
    )
    note = "• Nothing leaves this clone: none of the remotes fork, upstream is called origin"
    assert note in invoke("agent-doctor", repo).out


@pytest.mark.slow
def test_what_one_clone_says_the_other_hears(clones: Clones) -> None:
    here, other = clones(2)
    invoke("agent-status --set testing", here, AS)
    assert invoke("agent-sync", here).err == (
        "✓ origin: news from 0 clones, pushed local changes.\n"
    )
    assert invoke("agent-sync", other).err == "✓ origin: news from 1 clone, nothing to push.\n"
    assert "worker-1" in invoke("agent-status", other).out


@pytest.mark.slow
def test_a_fresh_clone_needs_no_set_up(clones: Clones, remote: Path, tmp_path: Path) -> None:
    (here,) = clones(1)
    invoke("agent-status --set testing", here, AS)
    invoke("agent-sync", here)
    git(tmp_path, "clone", "--quiet", str(remote), "fresh")
    assert invoke("agent-sync", tmp_path / "fresh").code == 0
    assert "worker-1" in invoke("agent-status", tmp_path / "fresh").out


@pytest.mark.slow
def test_a_remote_that_is_gone_is_unknown_and_nothing_is_lost(clones: Clones, remote: Path) -> None:
    (here,) = clones(1)
    invoke("agent-status --set testing", here, AS)
    remote.rename(remote.with_name("moved.git"))
    code, out, err = invoke("agent-sync", here)
    assert (code, out) == (4, "")
    assert err.startswith("Error: origin: fatal: ")
    assert "(1 change kept here)" in err
    assert "Warning: 1 change not sent yet" in invoke("agent-status", here).err
    remote.with_name("moved.git").rename(remote)
    assert invoke("agent-sync", here).code == 0
    assert invoke("agent-status", here).err.startswith("Last news from origin: 0 s ago")


@pytest.mark.slow
def test_a_contributor_who_may_not_push_is_told_once_and_for_all(
    clones: Clones, remote: Path
) -> None:
    (here,) = clones(1)
    hook = remote / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'You may not push here.' >&2\nexit 1\n")
    hook.chmod(0o755)
    invoke("agent-status --set testing", here, AS)
    code, _, err = invoke("agent-sync", here)
    assert code == 1
    assert "pre-receive hook declined" in err
    assert "Hint: The remote refuses this. Run `ghp agent-doctor` to check the remote." in err


def test_no_push_only_listens(clones: Clones, remote: Path) -> None:
    (here,) = clones(1)
    invoke("agent-status --set testing", here, AS)
    assert invoke("agent-sync --no-push", here).err == (
        "✓ origin: news from 0 clones, 1 change kept here.\n"
    )
    assert git(remote, "for-each-ref", "refs/ghp") == ""


@pytest.mark.slow
def test_publish_makes_a_branch_that_people_can_read(clones: Clones, remote: Path) -> None:
    (here,) = clones(1)
    invoke("agent-status --set testing", here, AS)
    assert invoke("agent-sync --publish", here).code == 0
    published = git(remote, "show", "ghp-state:.ghp/agent-status.json")
    assert '"worker-1"' in published
    assert "| worker-1 | testing |" in git(remote, "show", "ghp-state:README.md")
    assert "up to date" in invoke("agent-sync --publish", here).err


@pytest.mark.slow
def test_a_branch_of_that_name_that_is_not_ours_is_left_alone(clones: Clones, remote: Path) -> None:
    (here,) = clones(1)
    git(remote, "branch", "ghp-state", "main")
    before = git(remote, "rev-parse", "ghp-state")
    invoke("agent-status --set testing", here, AS)
    code, _, err = invoke("agent-sync --publish", here)
    assert code == 1
    assert "a branch ghp-state that ghp-agents did not create" in err
    assert git(remote, "rev-parse", "ghp-state") == before


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody sleeps."""
    monkeypatch.setattr(SystemClock, "wait", lambda *_: None)


@pytest.mark.slow
@pytest.mark.usefixtures("hurried")
def test_in_the_background_nothing_is_said(clones: Clones, remote: Path) -> None:
    (here,) = clones(1)
    invoke("agent-status --set testing", here, AS)
    assert invoke("agent-sync --background", here) == (0, "", "")
    assert git(remote, "for-each-ref", "refs/ghp/clone") != ""
    remote.rename(remote.with_name("moved.git"))
    assert invoke("agent-sync --background", here) == (0, "", "")


@pytest.mark.no_background
@pytest.mark.slow
def test_what_others_wait_for_is_taken_care_of_just_after_a_sync_too(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(background, "spawn", lambda words, _, **__: started.append(words))
    loud = AS | {"GHP_BACKGROUND": "1"}
    invoke("agent-issue new First", clone)
    assert invoke("agent-sync", clone).code == 0
    invoke("agent-issues", clone, loud)
    assert started == [], "nothing is due"
    invoke("agent-escalate Why?", clone, loud)
    assert [words[-2:] for words in started] == [["agent-sync", "--background"]]


def test_a_remote_that_does_not_exist_by_name_is_an_error(clones: Clones) -> None:
    (here,) = clones(1)
    mine({"agents": {"remote": "upstream"}})
    code, _, err = invoke("agent-sync", here)
    assert code == 1
    assert "The configured remote 'upstream' does not exist in this repository." in err
    assert "Remotes: origin." in err


@pytest.mark.slow
def test_a_twin_takes_another_id_and_both_go_on(clones: Clones, tmp_path: Path) -> None:
    import shutil

    (here,) = clones(1)
    invoke("agent-status --set testing", here, AS)
    invoke("agent-sync", here)
    twin = tmp_path / "twin"
    shutil.copytree(here, twin, symlinks=True)
    repos.from_elsewhere(twin)
    invoke("agent-status --set planning", here, AS)
    invoke("agent-status --set reviewing", twin, {"GHP_AGENT": "worker-2"})
    assert invoke("agent-sync", here).code == 0
    code, _, err = invoke("agent-sync", twin)
    assert code == 0
    assert "Another clone has the same id (a copied folder or container image)." in err
    invoke("agent-sync", here)
    documents = {invoke("agent-status --json", folder).out for folder in (here, twin)}
    assert len(documents) == 1
    assert '"worker-2"' in documents.pop()
    assert {path.name for path in here.iterdir()} == {path.name for path in twin.iterdir()}


@pytest.mark.slow
@pytest.mark.usefixtures("hurried")
def test_trouble_with_another_remote_is_forgotten(
    clones: Clones, remote: Path, tmp_path: Path
) -> None:
    (here,) = clones(1)
    invoke("agent-status --set testing", here, AS)
    git(here, "remote", "add", "gone", str(tmp_path / "gone.git"))
    settings = mine({"agents": {"remote": "gone"}})
    assert invoke("agent-sync", here).code == 4
    assert "gone.git" in invoke("agent-status --offline", here).err
    settings.unlink()
    assert "gone.git" not in invoke("agent-status --offline", here).err
    assert invoke("agent-sync --background", here).code == 0
    assert git(remote, "for-each-ref", "refs/ghp/clone") != ""


def refuse_secrets(clones: Clones, remote: Path) -> list[Path]:
    """Two clones of a remote that refuses secrets; the first has said one and two other things."""
    here, other = clones(2)
    rule(remote)
    invoke(["agent-issue", "new", "First"], here, AS)
    invoke(["agent-issue", "new", "Second", "--body", f"with {SECRET}"], here, AS)
    invoke(["agent-issue", "new", "Third"], here, AS)
    return [here, other]


@pytest.mark.slow
def test_a_refused_record_is_said_shown_and_deleted_and_the_rest_is_sent(
    clones: Clones, remote: Path
) -> None:
    here, second = refuse_secrets(clones, remote)
    code, out, err = invoke("agent-sync", here, AS)
    assert (code, out) == (0, "")
    match = re.search("R-[0-9a-f]{8}", err)
    assert match is not None
    name = match.group()
    assert err.startswith(f"Set aside {name}, issue-new ")
    assert err.endswith(
        "the remote refused it.\n✓ origin: news from 0 clones, pushed local changes.\n"
    )
    invoke("agent-sync", second)
    listed = invoke("agent-issues", second).out
    assert [title in listed for title in ("First", "Second", "Third")] == [True, False, True]
    assert "Second" in invoke("agent-issues", here).out
    note = "Warning: The remote refused 1 record: kept here only.\nHint: `ghp agent-sync"
    assert note in invoke("agent-status", here).err
    doctor = invoke("agent-doctor", here).out
    assert f"⚠ {name}, issue-new " in doctor
    assert "  → Revoke the secret if it is real, and take it out of the files." in doctor
    shown = invoke("agent-sync --refused", here, AS)
    assert shown.code == 0
    assert shown.out.startswith(f"{name}, issue-new ")
    assert "GITHUB PUSH PROTECTION Push cannot contain secrets" in shown.out
    assert SECRET in invoke(f"agent-sync --refused {name}", here, AS).out
    other = invoke(f"agent-sync --drop {name}", here, {"GHP_AGENT": "worker-2"})
    assert (other.code, other.err) == (
        3,
        f"Error: {name} is by worker-1, so worker-2 may not delete it.\n"
        "Hint: Leave it: it does no harm. Its author or a person can delete it.\n",
    )
    again = invoke("agent-sync --retry all", here, AS)
    assert (again.code, again.err.startswith(f"Sending {name}, issue-new ")) == (3, True)
    assert f"Set aside {name}" in again.err
    dropped = invoke(f"agent-sync --drop {name}", here, AS)
    assert (dropped.code, dropped.err.startswith(f"✓ Deleted {name}, issue-new ")) == (0, True)
    none = "The remote has refused no record of this clone.\n"
    assert invoke("agent-sync --refused", here, AS).err == none


@pytest.mark.slow
def test_the_agent_whose_record_was_refused_hears_of_it_once(clones: Clones, remote: Path) -> None:
    here, _ = refuse_secrets(clones, remote)
    invoke("agent-status --set testing", here, AS)
    invoke("agent-sync", here, AS)
    heard = invoke("agent-status", here, AS).out
    assert "The remote refused your issue-new " in heard
    assert "so other clones do not have it. It says: " in heard
    assert "The remote refused your" not in invoke("agent-status", here, AS).out


@pytest.mark.no_background
@pytest.mark.slow
def test_a_secret_in_the_patch_of_a_handoff_leaves_everything_else_heard(
    clones: Clones, remote: Path
) -> None:
    here, other = clones(2)
    rule(remote)
    invoke("agent-issue new Parse", here)
    invoke("agent-claim 1", here, AS)
    (here / "notes.txt").write_text(f"see qx_v1_{'ab12' * 16}\n")  # no kind that we know
    done = invoke("agent-handoff --goal Parse", here, AS)
    assert done.code == 0
    note = "Warning: origin refused 1 record: kept here only.\nHint: `ghp agent-sync --refused`"
    assert note in done.err
    (here / "notes.txt").unlink()
    invoke("agent-handoff --goal Again", here, AS)
    invoke("agent-status --set testing", here, AS)
    assert invoke("agent-sync", here, AS).code == 0
    invoke("agent-sync", other)
    assert "worker-1  active  testing" in invoke("agent-status", other).out
    agent = {"GHP_AGENT": "worker-2"}
    assert "Again" in invoke("agent-resume --issue 1", other, agent).out
    kept = store(here).set_aside()
    assert [record.record.event for record in kept] == ["handoff"]
    paths = [path for path, _ in kept[0].record.files]
    assert [path.split("/")[1] for path in paths] == ["handoffs", "patches"]
    assert "qx_v1_" not in git(remote, "log", "--all", "-p")
