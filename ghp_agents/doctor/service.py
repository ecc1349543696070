"""The doctor: check everything, repair what it can, and say what to do about the rest."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from ghp_agents.consent import templates
from ghp_agents.core import finding
from ghp_agents.core.clock import ago
from ghp_agents.core.errors import GhpError
from ghp_agents.core.finding import Check, Finding, Level, Repair
from ghp_agents.doctor import (
    card_checks,
    github_checks,
    left_work,
    machine_checks,
    missing_worktrees,
    sandbox_checks,
    state_checks,
    unguarded_clients,
)
from ghp_agents.doctor.setup import KEEP_HOME, probe_line
from ghp_agents.git import worktree_admin
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.integrations.clients import checks as guard_checks
from ghp_agents.ports import Context
from ghp_agents.pulls import update_branch
from ghp_agents.pulls.body_template import TEMPLATES
from ghp_agents.pulls.merging import past_queue
from ghp_agents.state.admin_port import Probe, StoreAdmin
from ghp_agents.state.default_branch import trunk
from ghp_agents.workspace import Workspace

_ASK_THE_REMOTE = ("remote", "github-repository", "probe")


def checks(
    ctx: Context,
    ground: StoreAdmin,
    *,
    probe: bool,
    hub: Callable[[], GitHubRepository | None] = lambda: None,
    shortcomings: Callable[[], Sequence[Finding]] = tuple,
) -> dict[str, Check]:
    """Return all checks by code, in order; those with network requests come last.

    `shortcomings` are those of the knowledge base.
    """
    ask = ground.probe if probe else ground.last_probe
    return {
        **machine_checks.checks(ctx.ws),
        "sharing": partial(check_sharing, ground),
        "main-branch": partial(check_main_branch, ctx),
        templates.CODE: partial(templates.check, ctx.ws, TEMPLATES),
        card_checks.CODE: partial(card_checks.check, ctx.ws),
        sandbox_checks.CODE: partial(sandbox_checks.check, ctx.ws),
        **state_checks.checks(ctx),
        "knowledge": partial(check_knowledge, ctx.ws, shortcomings),
        missing_worktrees.CODE: partial(missing_worktrees.check, ctx),
        left_work.CODE: partial(left_work.check, ctx),
        **guard_checks.checks(ctx.ws),
        unguarded_clients.CODE: partial(unguarded_clients.check, ctx),
        past_queue.CODE: partial(past_queue.check, ctx),
        **ground.checks,
        **github_checks.checks(ctx.ws, hub, ctx.store),
        "probe": partial(check_probe, ctx, ask),
    }


def check_sharing(ground: StoreAdmin) -> Iterator[Finding]:
    """Report the remote that clones share. Raises GhpError if the configured one is missing."""
    sharing = ground.sharing()
    if sharing.remote is None:
        yield finding.info("sharing", f"Nothing leaves this clone: {sharing.why_not}.")
    else:
        yield finding.ok(
            "sharing", f"Clones share state through {sharing.remote} ({sharing.address})."
        )


def check_main_branch(ctx: Context) -> Iterator[Finding]:
    """Report if this clone cannot tell the main branch."""
    if trunk(ctx.ws) is None and worktree_admin.branches(ctx.ws.folder):
        error = update_branch.no_main_branch(ctx.ws)
        yield finding.error("main-branch", str(error), error.hint)


def check_knowledge(
    ws: Workspace, shortcomings: Callable[[], Sequence[Finding]]
) -> Iterator[Finding]:
    """Report how well notes can be searched here."""
    ignored = ws.settings.notes.get("ignored", ())
    if ignored:
        named = ", ".join(f"`memory.{name}`" for name in ignored)
        yield finding.warning(
            "knowledge",
            f"{named} in .ghp/config.json is ignored: it could send notes and keys anywhere.",
            "If you trust it, set it in ~/.config/ghp-cli/config.json.",
        )
    findings = shortcomings()
    yield from findings
    if not findings:
        yield finding.ok("knowledge", "Notes are searched by meaning.")


def check_probe(ctx: Context, ask: Callable[[], Probe | None]) -> Iterator[Finding]:
    """Report whether the remote accepts our refs: from a probe now, or from the last one."""
    probe = ask()
    if probe is None:
        return
    when = f" (tested {ago(ctx.ws.clock.now() - probe.at)} ago)"
    text = f"{probe_line(probe)}{when}."
    if probe.taken:
        yield finding.ok("probe", text)
    elif probe.taken is None:
        yield finding.warning("probe", text, "Test again: ghp agent-doctor --probe")
    elif (ctx.store.sync_status().sent_at or 0.0) < probe.at:
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
