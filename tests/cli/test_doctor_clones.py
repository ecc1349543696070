"""`agent-doctor` on the remote and the other clones."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.doctor import state_checks as records
from ghp_agents.hotpath import heartbeat as pulse
from ghp_agents.state.git.admin import clone_checks
from tests.support import hosts, repos
from tests.support.clock import ManualClock
from tests.support.consent import mine
from tests.support.doctor import clone_id, doctor, finding, findings, house, in_use
from tests.support.ghp import invoke

Clones = Callable[[int], list[Path]]


@pytest.fixture
def used(clone: Path) -> Path:
    """A clone that was set up, where an agent has beaten, and that was synced."""
    return in_use(clone)


# ------------------------------------------------------------------------------ the remote


@pytest.mark.slow
def test_a_remote_that_is_gone_is_a_warning_and_work_goes_on(used: Path, remote: Path) -> None:
    remote.rename(remote.with_name("moved.git"))
    assert findings(used) == {
        "remote": [
            finding(
                "warning",
                f"origin cannot be reached: fatal: '{remote}' does not appear to be a git "
                "repository",
                "Check the address and the network: git ls-remote origin. Records of this "
                "clone wait.",
            )
        ]
    }


@pytest.mark.slow
def test_a_remote_that_hangs_is_left_after_the_configured_time(used: Path, remote: Path) -> None:
    (used / ".ghp/config.json").write_text('{"agents": {"timeout": 0.4}}')
    log = hosts.behind_ssh(used, remote, fetch="exec sleep 60")
    assert findings(used)["remote"] == [
        finding(
            "warning",
            "origin cannot be reached: `git ls-remote` did not finish within 0.4 s.",
            "Check the address and the network: git ls-remote origin. Records of this clone wait.",
        )
    ]
    assert len(log.read_text().splitlines()) == 1, "it was asked once"


@pytest.mark.slow
def test_a_remote_that_only_lets_itself_be_read_is_well_until_it_is_asked_to_write(
    used: Path, remote: Path
) -> None:
    hosts.behind_ssh(used, remote, push=hosts.DENIED)
    assert findings(used).keys() == set()
    (finding,) = findings(used, "--probe")["probe"]
    assert finding["text"] == (
        "origin rejects our refs: ERROR: Permission to owner/repo.git denied to somebody. (tested "
        "0 s ago)."
    )


@pytest.mark.slow
def test_a_configured_remote_that_is_not_there_is_told_once(used: Path) -> None:
    mine({"agents": {"remote": "team"}})
    by_code = findings(used)
    assert by_code.pop("left-out") == [
        finding(
            "info",
            "Not checked, for a reason above: templates, outbox, unsent, sync, view-tracked, "
            "remote, probe.",
            "",
        )
    ]
    assert by_code == {
        "sharing": [
            finding(
                "error",
                "The configured remote 'team' does not exist in this repository.",
                "Remotes: origin. Fix `agents.remote` in the configuration, or add the remote "
                "with `git remote add`.",
            )
        ]
    }


# ------------------------------------------------------------------------------ the other clones


@pytest.mark.slow
def test_a_copied_clone_gets_an_id_of_its_own(used: Path, tmp_path: Path) -> None:
    twin = Path(shutil.copytree(used, tmp_path / "twin", symlinks=True))
    repos.from_elsewhere(twin)
    invoke("agent-lease --name one", used)
    invoke("agent-sync", used)
    invoke("agent-lease --name two", twin)
    invoke("agent-sync --no-push", twin)
    shared = clone_id(used)
    assert findings(twin)["twin"] == [
        finding(
            "warning",
            f"Another clone uses this clone's id, {shared}: a copied folder, or a container image "
            "that holds a clone.",
            "The next sync gives this clone another id; nothing is lost.",
            fixable=True,
        )
    ]
    assert "✓ Fixed: Another clone uses this clone's id" in doctor(twin, "--fix").out
    assert clone_id(twin) != shared == clone_id(used)
    invoke("agent-sync", used)
    for clone in (used, twin):
        text = invoke("agent-leases", clone).out
        assert " one " in text
        assert " two " in text


@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "side"), [(3_600.0, "ahead of"), (-7_200.0, "behind")])
def test_a_clock_that_differs_is_told_and_nobody_is_judged_by_it(
    clones: Clones, seconds: float, side: str
) -> None:
    here, second = clones(2)
    now = ManualClock()
    other = ManualClock(now.now() + seconds)
    _speak(here, now, "first")
    _speak(second, other, "second")
    _speak(here, now, "third")
    results = [one for one in clone_checks.check_clocks(house(here, now).ws)]
    assert [(one.level.value, one.text) for one in results] == [
        ("info", f"The clock of clone {clone_id(second)} is at least {abs(seconds) // 3600:.0f} "
                 f"h {side} this one.".replace("1 h", "60 min"))
    ]  # fmt: skip


@pytest.mark.slow
def test_clocks_that_agree_within_minutes_are_not_told(clones: Clones) -> None:
    here, other = clones(2)
    now = ManualClock()
    for offset in (-200.0, 250.0):
        _speak(here, now, f"here {offset}")
        _speak(other, ManualClock(now.now() + offset), f"there {offset}")
    house(here, now).store.sync()
    assert list(clone_checks.check_clocks(house(here, now).ws)) == []


def test_a_clone_that_said_nothing_for_a_month_is_told(clones: Clones) -> None:
    here, other = clones(2)
    now = ManualClock()
    _speak(other, now, "before it was given away")
    now.wait(31 * 86_400.0)
    there_now = house(here, now)
    there_now.store.sync()
    results = list(records.check_clones(there_now))
    assert [(one.level.value, one.text, one.remedy) for one in results] == [
        (
            "info",
            f"Clone {clone_id(other)} has sent nothing for 31 d.",
            "Nothing to do: its records are kept.",
        )
    ]


def _speak(clone: Path, clock: ManualClock, action: str) -> None:
    """Fetch what the others said, beat, and send it."""
    parts = house(clone, clock)
    parts.store.sync()
    name = f"agent-{clone.name}"
    pulse.beat(parts.ws.folders, name, {"lastAction": action}, clock.now(), epoch=1)
    pulse.beat(parts.ws.folders, name, {"lastAction": action}, clock.now() + 60)
    parts.store.sync()
