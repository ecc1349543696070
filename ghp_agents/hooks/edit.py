"""Before an edit: may the agent make it? Decided on the fast road where that knows the answer."""

from ghp_agents.hooks.event import Reply
from ghp_agents.hooks.paths import EditTarget, targets
from ghp_agents.hotpath import check_edit, implicit_leases
from ghp_agents.hotpath.quoting import file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ghp_agents.hooks.scene import HookContext
    from ghp_agents.hotpath.implicit_leases import ImplicitLease
    from ghp_agents.hotpath.locate import Location
    from ghp_agents.hotpath.policy import Verdict

SHOWN = 20  # refused paths that are explained one by one


def edit(scene: "HookContext") -> Reply | None:
    """Refuse, if one of the files must not be changed now; each of those is named."""
    asked = targets(scene.event.paths, scene.event.cwd, scene.place, scene.environ)
    before = _touches(scene, asked) if len(asked) > 1 else {}
    found = [_quick(scene, target) for target in asked]
    if any(verdict is None for verdict in found):
        found = list(_slow_in_time(scene, asked))
    refused = [verdict for verdict in found if verdict is not None and verdict.is_refused]
    if refused and len(asked) > 1:
        _give_up(scene, asked, before)
    return Reply(deny=explain(refused)) if refused else None


def _touches(scene: "HookContext", asked: "Sequence[EditTarget]") -> "dict[str, ImplicitLease]":
    """The implicit leases that the agent has of these files, as the system may spell them."""
    keys = {key for target in asked for key in (target.path, target.path.lower())}
    found = {key: implicit_leases.find(scene.folders, key) for key in keys}
    return {key: one for key, one in found.items() if one and one.agent == scene.agent}


def _give_up(
    scene: "HookContext", asked: "Sequence[EditTarget]", before: "Mapping[str, ImplicitLease]"
) -> None:
    """What is refused changes no file, so the leases that were taken for the others go, too."""
    for key, touch in _touches(scene, asked).items():
        if before.get(key) != touch:
            implicit_leases.drop(scene.folders, scene.agent, key)


def _quick(scene: "HookContext", target: EditTarget) -> "Verdict | None":
    place, path = target.place, target.path
    return check_edit.quick(place, scene.folders, scene.environ, scene.agent, path, scene.now)


def _slow_in_time(scene: "HookContext", asked: "Sequence[EditTarget]") -> "list[Verdict]":
    """The slow road's answer; where it takes too long, what the last known rules say."""
    from ghp_agents.hooks import deadline

    try:
        with deadline.budget(deadline.BUDGET_S):
            return _slow(scene, asked)
    except deadline.OverBudgetError:
        return [
            check_edit.by_last_rules(scene.folders, scene.agent, x.path, scene.now) for x in asked
        ]


def _slow(scene: "HookContext", asked: "Sequence[EditTarget]") -> "list[Verdict]":
    """The same question, answered from the state itself."""
    from ghp_agents.core.ids import AgentName
    from ghp_agents.guard import evaluate
    from ghp_agents.presence import service as presence

    if scene.presence() is None:  # hooks that were installed while the agent was at work
        app = scene.app()
        presence.register(app.ws, app.store, AgentName(scene.agent))
    verdicts: list[Verdict] = []
    for place, paths in _by_worktree(asked):
        app = scene.app_at(place)
        parts = app.ws, app.store, app.leaser, app.knowing_tracker
        verdicts += evaluate.judge(*parts, AgentName(scene.agent), paths, editing=True)
    return verdicts


def _by_worktree(asked: "Sequence[EditTarget]") -> "list[tuple[Location, list[str]]]":
    found: dict[str, tuple[Location, list[str]]] = {}
    for target in asked:
        found.setdefault(target.place.git_dir, (target.place, []))[1].append(target.path)
    return list(found.values())


def explain(refused: "Sequence[Verdict]") -> str:
    """Why not, and what next; what is next for several is said once."""
    lines = list(dict.fromkeys(verdict.why for verdict in refused[:SHOWN]))
    if len(refused) > SHOWN:
        lines.append("Refused, too: " + ", ".join(file(one.path) for one in refused[SHOWN:]))
    hints = dict.fromkeys(verdict.next for verdict in refused[:SHOWN] if verdict.next)
    lines += [f"Next: {hint}" for hint in hints]
    return "\n".join(lines)
