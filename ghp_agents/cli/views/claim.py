"""Messages about a claim, for people."""

from ghp_agents.claims import service as services
from ghp_agents.claims.service import ClaimResult
from ghp_agents.cli import output
from ghp_agents.cli.terminal.closest import closest
from ghp_agents.cli.views import issue as issue_view
from ghp_agents.core.ids import Actor, count, listed
from ghp_agents.hotpath.quoting import named, reason
from ghp_agents.locks.lock import Lock
from ghp_agents.settings import rights
from ghp_agents.state import cause
from ghp_agents.state.record import HANDOFFS
from ghp_agents.wiring import App

SHOWN = 3  # leases that are named


def say_claimed(claimed: ClaimResult, actor: Actor | None = None) -> None:
    """Print the result of a claim, and that it is a person's if `actor` is one."""
    name, lock = issue_view.name(claimed.issue), claimed.lock
    if actor and actor.is_person:
        name += f" for you, {named(actor.name, is_person=True)}"
    if claimed.how == services.MINE:
        output.say(_mine(claimed))
    elif claimed.how == "claim":
        output.done(f"Claimed {name}.")
    else:
        before = named(claimed.previous or "")
        output.done(f"Claimed {name}; {before} held it before.{reason(lock.reason)}")
    if claimed.passed_over:
        issue_view.say_passed_over(claimed.passed_over)
    wide = issue_view.too_wide(claimed.issue)
    if wide:
        output.warn(
            f"Its scope lists {wide}, which matches everything, so it is ignored.",
            "Name the folders and files under `Scope`.",
        )
    if claimed.waits_for:
        output.warn(
            f"It is blocked by {', '.join(claimed.waits_for)}.",
            "`ghp agent-claim --next` picks an issue that is not blocked.",
        )


def _mine(claimed: ClaimResult) -> str:
    """That the claim is the agent's already, and who gave it."""
    name, lock = issue_view.name(claimed.issue), claimed.lock
    if lock.cause.kind == cause.GIVEN and lock.cause.by:
        return f"You hold {name}: {named(lock.cause.by)} gave it to you at {lock.acquired_at}."
    rest = " Restored its missing assignment." if claimed.mended else ""
    return f"You already hold {name}, since {lock.acquired_at}.{rest}"


def say_waiting(app: App, issue: int, lock: Lock | None = None) -> None:
    """Name the last handoff of an issue to whoever takes it, and warn of work that former holders
    left in other clones, and that is not here. `lock` is of a claim that was just made."""
    files = app.store.snapshot().files(f"{HANDOFFS}{issue}/")
    if not files and lock is not None and lock.generation == 1:
        return  # nobody had it before
    from ghp_agents.handoffs import left_work
    from ghp_agents.handoffs.latest import of_issue

    last = of_issue(app.store.snapshot(), [issue])
    if last and last.by != app.ws.actor():
        stored = count(last.work.files, "uncommitted file") if last.work and last.work.size else ""
        packed = count(last.commits.total, "unpushed commit") if last.commits else ""
        has = " and ".join(filter(None, [stored, packed]))
        output.say(
            f"The handoff {last.name} waits for you{f', with {has}' if has else ''}: "
            f"`ghp agent-resume --issue {issue}{' --apply' if has else ''}`."
        )
    for sentence in left_work.awaited(app, issue):
        output.warn(sentence)


def say_left_over(app: App, agent: str) -> None:
    """Name the leases that an agent keeps although its last issue has ended."""
    from ghp_agents.leases import service as leases
    from ghp_agents.leases.record import what

    held = leases.left_over(app, agent)
    if not held:
        return
    shown = listed([f"{hold.short} ({what(hold.patterns, hold.name)})" for hold in held], SHOWN)
    output.say(
        f"{named(agent)} holds no issue, and still has {shown}. To let others edit: "
        f"`ghp agent-release {' '.join(hold.short for hold in held[:SHOWN])}`."
    )


def warn_of_unknown(app: App, name: str, issue: int | None) -> None:
    """Warn if nobody knows the agent to whom something was given: its name may be mistyped."""
    agents, me = app.store.snapshot().agents(), app.ws.actor()
    if name in agents:
        return
    alike = closest(name, sorted(agents.keys() - {me.name}))
    text = f"No agent {name} is known yet."
    if alike:
        text += f" Similar: {', '.join(map(named, alike))}."
    if issue is not None:
        held = app.world.claims.get(issue)
        undo = f"agent-release {issue}"
        if held is None or held.holder != name:
            undo = f"agent-issue assign {issue} {name} --remove"
        may = rights.may_assign(me, app.ws.settings.orchestrators)
        whose = "" if may else ", a person can run this"
        text += f" If the name is wrong{whose}: `ghp {undo}`."
    output.warn(text)
