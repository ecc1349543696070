"""The doctor's own ways: one check hides no other, mending goes on until nothing new is found."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ghp_agents.core import finding
from ghp_agents.core.errors import GhpError
from ghp_agents.core.finding import Check, Finding, Level
from ghp_agents.doctor import service as doctor
from ghp_agents.parts.lists import CHECKS
from ghp_agents.state.admin_port import Probe
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.context import Parts, make_context
from tests.support.grounds import ground
from tests.support.twins.locks import MemoryLocks
from tests.support.twins.state import MemoryRemote, MemoryStore

BROKEN = GhpError("The settings are broken.", hint="Mend them.")


def broken() -> Iterator[Finding]:
    yield finding.ok("broken", "So far so good.")
    raise BROKEN


def says(code: str, text: str) -> Check:
    return lambda: [finding.ok(code, text)]


# ------------------------------------------------------------------------------ examining


def parts(ws: Workspace) -> Parts:
    """The parts of a clone in memory."""
    return make_context(ws, MemoryStore(ManualClock()), MemoryLocks(ManualClock()))


def test_a_check_that_cannot_be_made_is_a_finding_and_hides_no_other() -> None:
    def unwritable() -> Iterator[Finding]:
        raise PermissionError(13, "Permission denied", "/x")
        yield

    def mistaken() -> Iterator[Finding]:
        raise KeyError("branch")
        yield

    checks = {
        "first": broken,
        "second": unwritable,
        "third": says("third", "Fine."),
        "fourth": mistaken,
    }
    assert list(doctor.examine(checks)) == [
        finding.ok("broken", "So far so good."),
        finding.error("first", "The settings are broken.", "Mend them."),
        finding.error("second", "[Errno 13] Permission denied: '/x'", "Check its permissions."),
        finding.ok("third", "Fine."),
        finding.error(
            "fourth",
            "Unexpected: KeyError: 'branch'",
            "Run `ghp agent-doctor` again. If it stays, please report it.",
        ),
    ]


def test_what_stands_in_the_way_of_many_checks_is_said_once() -> None:
    def found() -> list[Finding]:
        return [finding.error("settings", "The settings are broken.", "Line 3.")]

    checks: dict[str, Check] = {"settings": found, "sync": broken, "view": broken}
    assert list(doctor.examine(checks)) == [
        finding.error("settings", "The settings are broken.", "Line 3."),
        finding.ok("broken", "So far so good."),
        finding.ok("broken", "So far so good."),
        finding.info("left-out", "Not checked, for a reason above: sync, view."),
    ]


def test_findings_come_as_they_are_made() -> None:
    calls: list[str] = []

    def check(name: str) -> Check:
        def run() -> list[Finding]:
            calls.append(name)
            return [finding.ok(name, name)]

        return run

    findings = doctor.examine({"quick": check("quick"), "slow": check("slow")})
    assert next(findings).code == "quick"
    assert calls == ["quick"]


def test_only_an_error_makes_it_ill() -> None:
    bad = finding.warning("a", "b", "c")
    assert doctor.has_no_errors([finding.ok("a", "b"), finding.info("a", "b"), bad])
    assert not doctor.has_no_errors([bad, finding.error("a", "b", "c")])


# ------------------------------------------------------------------------------ mending


class Patient:
    """Illnesses, by code; curing one can bring the next to light."""

    def __init__(self, ill: list[str], next_ill: dict[str, str] | None = None) -> None:
        self.ill = ill
        self.next_ill = next_ill or {}
        self.asked = 0

    def checks(self) -> dict[str, Check]:
        def local(code: str) -> Check:
            return lambda: [
                finding.warning(code, f"{code} is ill.", "Mend it.", fixable=True)
                if code in self.ill
                else finding.ok(code, f"{code} is well.")
            ]

        def remote() -> list[Finding]:
            self.asked += 1
            return [finding.ok("remote", "It answers.")]

        return {"left": local("left"), "right": local("right"), "remote": remote}

    def cure(self, code: str) -> Callable[[], None]:
        def act() -> None:
            self.ill.remove(code)
            if code in self.next_ill:
                self.ill.append(self.next_ill[code])

        return act


def mended(code: str) -> Finding:
    return Finding(Level.OK, code, f"{code} is ill.", fixed=True)


def test_what_is_fixable_is_mended_and_looked_at_again() -> None:
    patient = Patient(["left"])
    repairs = {code: patient.cure(code) for code in ("right", "left")}
    assert doctor.fix(patient.checks(), repairs) == [
        mended("left"),
        finding.ok("right", "right is well."),
        finding.ok("remote", "It answers."),
    ]


def test_what_a_repair_brings_to_light_is_mended_too_and_the_remote_is_asked_once() -> None:
    patient = Patient(["left"], {"left": "right"})
    repairs = {code: patient.cure(code) for code in ("right", "left")}
    assert doctor.fix(patient.checks(), repairs) == [
        mended("left"),
        mended("right"),
        finding.ok("remote", "It answers."),
    ]
    assert patient.asked == 1


def test_repairs_are_made_in_their_own_order() -> None:
    patient = Patient(["right", "left"])
    order: list[str] = []

    def repair(code: str) -> Callable[[], None]:
        def act() -> None:
            order.append(code)
            patient.cure(code)()

        return act

    repairs = {code: repair(code) for code in ("right", "left")}
    doctor.fix(patient.checks(), repairs)
    assert order == ["right", "left"]


def test_a_repair_that_fails_is_told_and_is_not_tried_for_ever() -> None:
    patient = Patient(["left", "right"])

    def fails() -> None:
        raise BROKEN

    fixed = doctor.fix(patient.checks(), {"left": fails, "right": patient.cure("right")})
    assert fixed == [
        mended("right"),
        finding.error("left", "Could not fix this: The settings are broken.", "Mend them."),
        finding.warning("left", "left is ill.", "Mend it.", fixable=True),
        finding.ok("remote", "It answers."),
    ]


def test_a_repair_that_changes_nothing_ends_and_claims_nothing() -> None:
    patient = Patient(["left"])
    assert doctor.fix(patient.checks(), {"left": lambda: None}) == [
        finding.warning("left", "left is ill.", "Mend it.", fixable=True),
        finding.ok("right", "right is well."),
        finding.ok("remote", "It answers."),
    ]


def test_where_all_is_well_nothing_is_repaired() -> None:
    patient = Patient([])

    def never() -> None:
        pytest.fail("nothing was ill")

    doctor.fix(patient.checks(), {"left": never, "right": never})


# ------------------------------------------------------------------------------ its own checks


def probes(repo: Path, probe: Probe | None, sent_at: float | None = None) -> list[Finding]:
    """What the doctor makes of a probe, in a clone that sent something at that time, or never."""
    clock = ManualClock(1_000.0 if sent_at is None else sent_at)
    store = MemoryStore(clock, hub=MemoryRemote())
    if sent_at is not None:
        store.beat("worker-1", {"status": "idle", "epoch": 1, "seq": 1})
        store.sync()
    ws = open_workspace(repo, {"HOME": "/nonexistent"}, ManualClock(1_120.0))
    under = ground(last_probe=lambda: probe)
    return list(doctor.check_probe(make_context(ws, store), under, probe=False))


def test_what_a_probe_found_out_is_told_with_its_age(repo: Path) -> None:
    assert probes(repo, None) == []
    assert probes(repo, Probe("origin", True, "refs/ghp/", at=1_000.0)) == [
        finding.ok("probe", "origin accepts our refs under refs/ghp/ (tested 2 min ago).")
    ]
    assert probes(repo, Probe("origin", None, words="silence", at=1_000.0)) == [
        finding.warning(
            "probe",
            "Could not ask origin whether it accepts our refs: silence (tested 2 min ago).",
            "Test again: ghp agent-doctor --probe",
        )
    ]
    (refused,) = probes(repo, Probe("origin", False, words="no", at=1_000.0))
    assert refused.level is Level.ERROR
    assert refused.text == "origin rejects our refs: no (tested 2 min ago)."


def test_the_remote_is_looked_at_first_so_that_one_that_is_missing_is_told_once() -> None:
    codes = list(CHECKS)
    assert codes.index("sharing") < codes.index("remote")


def test_a_probe_is_made_only_when_it_is_asked_for(repo: Path) -> None:
    calls: list[str] = []

    def ask(how: str) -> Callable[[], Probe | None]:
        def answer() -> Probe | None:
            calls.append(how)
            return None

        return answer

    under = ground(probe=ask("now"), last_probe=ask("remembered"))
    ws = open_workspace(repo, {"HOME": "/nonexistent"}, ManualClock())
    for probe in (False, True):
        list(doctor.examine(doctor.checks(parts(ws), under, probe=probe)))
    assert calls == ["remembered", "now"]
