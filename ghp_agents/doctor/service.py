"""The doctor: check everything, repair what it can, and say what to do about the rest."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ghp_agents.core import finding
from ghp_agents.core.clock import ago
from ghp_agents.core.errors import GhpError
from ghp_agents.core.finding import Check, Finding, Level, Repair
from ghp_agents.doctor.setup import KEEP_HOME, probe_line
from ghp_agents.parts.call import call, call_function
from ghp_agents.parts.lists import CHECKS
from ghp_agents.parts.plugin import load
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state.admin_port import StoreAdmin
from ghp_agents.workspace import Workspace

_ASK_THE_REMOTE = ("remote", "github-repository", "probe")


class Patient(NamedTuple):
    """What is examined: each check takes of it what its parameters name."""

    ctx: Context
    ground: StoreAdmin
    probe: bool  # whether to ask the remote if it accepts our refs
    hub: Callable[[], object | None]  # the repository on GitHub
    shortcomings: Callable[[], Sequence[Finding]]  # of the knowledge base

    @property
    def ws(self) -> Workspace:
        """The repository, and who works in it."""
        return self.ctx.ws

    @property
    def snapshot(self) -> Snapshot:
        """The records."""
        return self.ctx.store.snapshot()


def checks(
    ctx: Context,
    ground: StoreAdmin,
    *,
    probe: bool,
    hub: Callable[[], object | None] = lambda: None,
    shortcomings: Callable[[], Sequence[Finding]] = tuple,
) -> dict[str, Check]:
    """Return all checks by code, in order."""
    patient = Patient(ctx, ground, probe, hub, shortcomings)
    own: dict[str, Check] = {code: partial(call, name, patient) for code, name in CHECKS.items()}
    try:
        plugins = load(ctx.ws.settings.plugins).plugins
    except GhpError:  # no repository, which the checks report
        plugins = {}
    added: dict[str, Check] = {
        f"{name}:{code}": partial(call_function, check, patient)
        for name, plugin in plugins.items()
        for code, check in plugin.checks.items()
    }
    return own | added


def check_plugins(ws: Workspace) -> Iterator[Finding]:
    """Report the plug-ins that are loaded, and why others are not."""
    loaded = load(ws.settings.plugins)
    for name, problem in loaded.problems.items():
        text = f"The plug-in {name} cannot be loaded: {problem}."
        remedy = "Install it beside ghp-agents, or take it out of `agents.plugins`."
        yield finding.warning("plug-ins", text, remedy)
    if loaded.plugins:
        yield finding.ok("plug-ins", f"Plug-ins: {', '.join(loaded.plugins)}.")


def check_sharing(ground: StoreAdmin) -> Iterator[Finding]:
    """Report the remote that clones share. Raises GhpError if the configured one is missing."""
    sharing = ground.sharing()
    if sharing.remote is None:
        yield finding.info("sharing", f"Nothing leaves this clone: {sharing.why_not}.")
    else:
        yield finding.ok(
            "sharing", f"Clones share state through {sharing.remote} ({sharing.address})."
        )


def check_probe(ctx: Context, ground: StoreAdmin, probe: bool) -> Iterator[Finding]:
    """Report whether the remote accepts our refs: from a `probe` now, or from the last one."""
    result = ground.probe() if probe else ground.last_probe()
    if result is None:
        return
    when = f" (tested {ago(ctx.ws.clock.now() - result.at)} ago)"
    text = f"{probe_line(result)}{when}."
    if result.taken:
        yield finding.ok("probe", text)
    elif result.taken is None:
        yield finding.warning("probe", text, "Test again: ghp agent-doctor --probe")
    elif (ctx.store.sync_status().sent_at or 0.0) < result.at:
        yield finding.error(
            "probe",
            text,
            'Name a remote that accepts them, such as a fork: "agents": {"remote": "fork"} '
            f"in .ghp/config.json. Or keep everything in this clone: {KEEP_HOME}.",
        )


def examine(checks: Mapping[str, Check]) -> Iterator[Finding]:
    """Run all checks. A check that fails is a finding, too, and hides no other."""
    texts: set[str] = set()
    left_out: list[str] = []
    for code, check in checks.items():
        try:
            for result in check():
                texts.add(result.text)
                yield result
        except Exception as error:  # noqa: BLE001 - the other checks are made all the same
            # A broken configuration or a missing git stops many checks: report it once.
            if str(error) in texts:
                left_out.append(code)
                continue
            texts.add(str(error))
            yield _failure(code, error)
    if left_out:
        names = ", ".join(left_out)
        yield finding.info("left-out", f"Not checked, for a reason above: {names}.")


def fix(checks: Mapping[str, Check], repairs: Mapping[str, Repair]) -> list[Finding]:
    """Check, repair, and check again. Return what was repaired, then all present findings.

    One repair may reveal the next (a fold makes something to send), so it repeats until nothing
    new can be repaired. The remote is asked once.
    """
    before = list(examine(checks))
    here = {code: check for code, check in checks.items() if code not in _ASK_THE_REMOTE}
    elsewhere = [item for item in before if item.code in _ASK_THE_REMOTE]
    now, broken, failed = before, list[Finding](), list[Finding]()
    while new := [
        item
        for item in now
        if item.fixable and item.code not in {problem.code for problem in broken}
    ]:
        broken += new
        failed += _repair({item.code for item in new}, repairs)
        now = [*examine(here), *elsewhere]
    still = {item.code for item in (*now, *failed) if item.level is not Level.OK}
    mended = {item.code: item for item in broken if item.code not in still}
    return [
        *(Finding(Level.OK, code, item.text, fixed=True) for code, item in mended.items()),
        *failed,
        *(item for item in now if item.code not in mended),
    ]


def _repair(codes: set[str], repairs: Mapping[str, Repair]) -> list[Finding]:
    failed: list[Finding] = []
    for code, repair in repairs.items():
        if code not in codes:
            continue
        try:
            repair()
        except (GhpError, OSError) as error:
            failed.append(_failure(code, error, "Could not fix this: "))
    return failed


def _failure(code: str, error: Exception, what: str = "") -> Finding:
    if isinstance(error, GhpError):
        return finding.error(code, f"{what}{error}", error.hint)
    if isinstance(error, OSError):
        return finding.error(code, f"{what}{error}", "Check its permissions.")
    text = f"Unexpected: {type(error).__name__}: {error}"
    return finding.error(code, text, "Run `ghp agent-doctor` again. If it stays, please report it.")


def has_no_errors(findings: Sequence[Finding]) -> bool:
    """Return whether `findings` has no error."""
    return all(item.level is not Level.ERROR for item in findings)
