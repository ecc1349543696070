"""Before an edit: may the agent make it? The fast check decides if it can."""

from ghp_agents.hooks import deadline, persons_files
from ghp_agents.hooks.event import Reply
from ghp_agents.hooks.paths import EditTarget, targets
from ghp_agents.hotpath import check_edit, implicit_leases
from ghp_agents.hotpath.policy import FENCED
from ghp_agents.hotpath.quoting import file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ghp_agents.hooks.scene import HookContext
    from ghp_agents.hotpath.implicit_leases import ImplicitLease
    from ghp_agents.hotpath.locate import Location
    from ghp_agents.hotpath.policy import Verdict

SHOWN = 20  # refused paths that are explained; the rest are listed
MOST = 1_000  # files of one event
TOO_MANY = "The edit names {} files; at most {} can be decided at once.\nNext: Split it."


def edit(contexts: "Sequence[HookContext]") -> Reply | None:
    """Refuse the edit if any of its files must not be changed now; name each of them. Each of the
    repositories that have such files is asked."""
    count = len(contexts[0].event.paths)
    if count > MOST:
        return Reply(deny=TOO_MANY.format(count, MOST))
    with deadline.budget(deadline.PROCESSOR_S, processor=True):
        checks = [_Check(context) for context in contexts]
    persons = persons_files.refusal([target for check in checks for target in check.files])
    if persons:
        return Reply(deny=persons)
    is_many = sum(len(check.files) for check in checks) > 1
    return _reply(checks, [verdict for check in checks for verdict in check.verdicts(is_many)])


def by_last_rules(contexts: "Sequence[HookContext]") -> Reply | None:
    """The reply where the edit could not be decided."""
    checks = [_Check(context) for context in contexts]
    return _reply(checks, [verdict for check in checks for verdict in check.last_verdicts()])


def _reply(checks: "Sequence[_Check]", verdicts: "Sequence[Verdict]") -> Reply | None:
    refused = [verdict for verdict in verdicts if verdict.is_refused]
    if not refused:
        warnings = dict.fromkeys(verdict.why for verdict in verdicts if verdict.why)
        return Reply(context="\n".join(warnings)) if warnings else None
    for check in checks:
        check.drop_new_leases()

    def sent() -> None:
        for check in checks:
            check.mark_fence()

    return Reply(deny=explain(refused), on_sent=sent)


class _Check:
    """The check of the files of one repository."""

    def __init__(self, context: "HookContext") -> None:
        event = context.event
        self.files = targets(event.paths, event.cwd, context.place, context.environ)
        self._context = context
        self._before: Mapping[tuple[str, str], ImplicitLease] | None = None
        self._is_fenced = False

    def verdicts(self, is_many: bool) -> "list[Verdict]":
        """The verdict on each file. `is_many`: others may be refused, so that none is edited."""
        context, files = self._context, self.files
        if is_many:
            self._before = _leases(context, files)
        verdicts = list(_decided(context, files))
        self._is_fenced = any(x.kind == FENCED for x in verdicts if x.is_refused)
        return verdicts

    def last_verdicts(self) -> "Sequence[Verdict]":
        """The verdicts by the policy that was read last."""
        return _by_last_rules(self._context, self.files)

    def drop_new_leases(self) -> None:
        """Drop leases taken for this edit: a refused edit changes no file."""
        if self._before is not None:
            _drop_new_leases(self._context, self.files, self._before)

    def mark_fence(self) -> None:
        """The refusal was sent."""
        if self._is_fenced:
            _mark_fence(self._context)


def _decided(context: "HookContext", files: "Sequence[EditTarget]") -> "Sequence[Verdict]":
    """The decision about each file: the fast check's, else the full check's, else that of the
    policy that was read last."""
    try:
        with deadline.budget(deadline.PROCESSOR_S, processor=True):
            verdicts = [_check_fast(context, target, files) for target in files]
        if all(verdicts):
            return [verdict for verdict in verdicts if verdict]
        with deadline.budget(deadline.BUDGET_S):
            return _check_slow(context, files)
    except deadline.OverBudgetError as error:
        from ghp_agents.hotpath import error_log

        where = context.place.toplevel or context.place.git_dir
        error_log.log_error(error, where, context.environ, where="decide about an edit")
        return _by_last_rules(context, files)


def _by_last_rules(context: "HookContext", files: "Sequence[EditTarget]") -> "Sequence[Verdict]":
    where = context.folders, context.environ, context.agent
    edits = [
        check_edit.Edit(target.place, *where, target.path, None, context.here) for target in files
    ]
    decided = [check_edit.by_last_rules(edit, context.now) for edit in edits]
    return [verdict for verdict in decided if verdict]


def _mark_fence(context: "HookContext") -> None:
    """The refusal named the lost claim, so that is not news any more."""
    from ghp_agents.hotpath import news_flag

    if news_flag.is_set(context.folders, context.agent):
        from ghp_agents.core.ids import AgentName
        from ghp_agents.sync import notifications

        notifications.mark_fence(context.app(), AgentName(context.agent))


def _leases(
    context: "HookContext", files: "Sequence[EditTarget]"
) -> "dict[tuple[str, str], ImplicitLease]":
    """The agent's implicit leases of these files, also by their lower-case paths."""
    keys = {
        (key, target.place.git_dir)
        for target in files
        for key in (target.path, target.path.lower())
    }
    leases = {key: implicit_leases.find(context.folders, *key) for key in keys}
    return {key: lease for key, lease in leases.items() if lease and lease.agent == context.agent}


def _drop_new_leases(
    context: "HookContext",
    files: "Sequence[EditTarget]",
    before: "Mapping[tuple[str, str], ImplicitLease]",
) -> None:
    for key, lease in _leases(context, files).items():
        if before.get(key) != lease:
            implicit_leases.drop(context.folders, context.agent, *key)


def _check_fast(
    context: "HookContext", target: EditTarget, files: "Sequence[EditTarget]"
) -> "Verdict | None":
    where = target.place, context.folders, context.environ
    content = _content(context, target, files)
    return check_edit.quick(*where, context.agent, target.path, context.now, content, context.here)


def _content(
    context: "HookContext", target: EditTarget, files: "Sequence[EditTarget]"
) -> "Callable[[], bytes | Mapping[str, bytes] | None]":
    """A function that computes the file as it will be after the edit; see `check_edit.quick`."""

    def after() -> "bytes | Mapping[str, bytes] | None":
        _, content = _before_and_after(context, target)
        if content is not None or len(files) == 1:
            return content
        versions = {x.path: _before_and_after(context, x) for x in files if x is not target}
        new = {path: text for path, (before, text) in versions.items() if before is None}
        return {path: text for path, text in new.items() if text is not None} or None

    return after


def _before_and_after(
    context: "HookContext", target: EditTarget
) -> "tuple[bytes | None, bytes | None]":
    """A file now, and as it will be. Raises UndecidedError."""
    from ghp_agents.hooks.edited_text import content_after
    from ghp_agents.hooks.event import UnknownEditError
    from ghp_agents.hotpath.worktree_file import UndecidedError, read_file

    top = target.place.toplevel or ""
    before = read_file(top, target.path)
    try:
        return before, content_after(context.event, f"{top}/{target.path}", before)
    except UnknownEditError as error:
        raise UndecidedError(f"what the edit writes is unknown: {error}") from error


def _check_slow(context: "HookContext", files: "Sequence[EditTarget]") -> "list[Verdict]":
    """The full check, on the state itself."""
    from ghp_agents.core.ids import AgentName
    from ghp_agents.guard import evaluate
    from ghp_agents.presence import service as presence

    if context.presence() is None:  # the hooks were installed during the session
        app = context.app()
        presence.register(app.ws, app.store, AgentName(context.agent))
    verdicts: list[Verdict] = []
    for place, targets_there in _by_worktree(files):
        app = context.app_at(place)
        contents = {x.path: _content(context, x, targets_there) for x in targets_there}
        name = AgentName(context.agent)
        verdicts += evaluate.judge(
            app.offline, name, [*contents], editing=True, contents=contents, here=context.here
        )
    return verdicts


def _by_worktree(files: "Sequence[EditTarget]") -> "list[tuple[Location, list[EditTarget]]]":
    by_worktree: dict[str, tuple[Location, list[EditTarget]]] = {}
    for target in files:
        by_worktree.setdefault(target.place.git_dir, (target.place, []))[1].append(target)
    return list(by_worktree.values())


def explain(refused: "Sequence[Verdict]") -> str:
    """The reasons, and what to do next, each once."""
    lines = list(dict.fromkeys(verdict.why for verdict in refused[:SHOWN]))
    if len(refused) > SHOWN:
        others = ", ".join(file(verdict.path) for verdict in refused[SHOWN:])
        lines.append(f"Also refused: {others}")
    hints = dict.fromkeys(verdict.next for verdict in refused[:SHOWN] if verdict.next)
    lines += [f"Next: {hint}" for hint in hints]
    return "\n".join(lines)
