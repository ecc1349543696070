"""Pull requests kept in the state in git, and merged by this clone, where there is no GitHub."""

from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.git import merge as landing
from ghp_agents.git import worktree_admin as checkouts
from ghp_agents.issues.numbers import given_numbers, next_number
from ghp_agents.ports import LockService, Snapshot, StateStore
from ghp_agents.pulls import replay as pull_log
from ghp_agents.pulls.pull import (
    Checks,
    MergeConflictError,
    NewPull,
    Pull,
    PullChange,
    PullMovedError,
    Sent,
    brought_up,
    checked,
    checked_new,
    effective,
    newest,
    not_found,
    refuse_unready,
)
from ghp_agents.pulls.record import FOLDER, PullEvent, entry
from ghp_agents.pulls.replay import Found, PullEvents
from ghp_agents.state import remote_branches as branches
from ghp_agents.state.record import Record, highest
from ghp_agents.state.remote import PushOutcome
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace, now_text


class LocalForge:
    """`ports.Forge` on records. Numbers are those of the issues, so that `#12` is one thing."""

    def __init__(self, ws: Workspace, store: StateStore, leaser: LockService) -> None:
        self._ws = ws
        self._store = store
        self._leaser = leaser

    @property
    def is_local(self) -> bool:
        """This clone merges."""
        return True

    def get(self, number: int) -> Pull:
        """One pull request. Raises NotFoundError."""
        return _get(_log(self._store.snapshot()), number).pull

    def find(self, branch: str) -> Pull | None:
        """The open pull request of a branch, else the newest one that it had."""
        return newest(self.list(closed=True), branch)

    def checks(self, pull: Pull) -> Checks:
        """There is no host that checks."""
        return Checks()

    def open(self, new: NewPull, by: Actor) -> Pull:
        """A pull request; the open one of the same branch, brought up to date."""
        wanted = checked_new(new)
        there = self.find(wanted.branch)
        number = None
        if there is None or there.state != "open":
            used = given_numbers(self._store.snapshot())
            number = next_number(self._leaser, by.name, used, f"for {wanted.branch}")
        record = random_hex(6)

        def decide(snapshot: Snapshot) -> tuple[Pull, list[Record]]:
            log = _log(snapshot)
            pulls = [each.pull for each in pull_log.fold(log)]
            had = newest(pulls, wanted.branch)
            if had and had.state == "open":
                new = brought_up(had, wanted)
                if had.sent != Sent(wanted.head, by):
                    new = new._replace(head=wanted.head)  # another vouches for it now
                return self._changed(snapshot, log, had.number, new, by, record)
            fields = {name: value for name, value in wanted._asdict().items() if value is not None}
            pull = pull_log.pull_id(wanted.branch, pulls)
            said = self._said(snapshot, log, pull, record, "open", by)
            said = said._replace(number=number, fields=fields)
            made = _of(log.with_one(said), pull)
            return made, [entry(said, made, f"{made.branch}: {made.title}")]

        return transact(self._store, decide)

    def change(self, number: int, change: PullChange, by: Actor) -> Pull:
        """Change fields; what is already so stays so, and says nothing. Raises NotFoundError."""
        wanted, record = checked(change), random_hex(6)

        def decide(snapshot: Snapshot) -> tuple[Pull, list[Record]]:
            log = _log(snapshot)
            had = _get(log, number).pull
            return self._changed(snapshot, log, number, effective(had, wanted), by, record)

        return transact(self._store, decide)

    def _changed(
        self,
        snapshot: Snapshot,
        log: PullEvents,
        number: int,
        new: PullChange,
        by: Actor,
        record: str,
    ) -> tuple[Pull, list[Record]]:
        found = _get(log, number)
        fields = {name: value for name, value in new._asdict().items() if value is not None}
        if not fields:
            return found.pull, []
        said = self._said(snapshot, log, found.id, record, "change", by)._replace(fields=fields)
        changed = _of(log.with_one(said), found.id)
        return changed, [entry(said, changed, ", ".join(_told(fields)))]

    # ---------------------------------------------------------------------------- merging

    def merge(
        self, number: int, by: Actor, *, head: str, onto: str = "", message: str = ""
    ) -> Pull:
        """Merge it by this clone: the trunk moves by compare-and-swap, and no worktree is touched
        but one that has the trunk checked out, which git brings forward."""
        pull = self.get(number)
        if pull.state == "merged":
            return pull
        tips = branches.tips(self._ws, pull.branch, pull.base)
        trunk = tips.get(pull.base)
        if trunk is None:
            raise RefusedError(
                f"There is no branch {pull.base} to merge into.", hint="Set `agents.trunk`."
            )
        # So it is where a process was killed when it had merged, or somebody merged by hand.
        there = landing.landed(self._ws.folder, trunk, head) if _is_known(self._ws, head) else None
        if there is None:
            refuse_unready(pull)
            if tips.get(pull.branch) != head:
                raise PullMovedError(pull._replace(head=tips.get(pull.branch, "")))
            if onto and trunk != onto:
                raise PullMovedError(pull, pull.base)
            there = self._land(pull, by, trunk, head, message)
        return self._say_merged(number, by, head, there)

    def _land(self, pull: Pull, by: Actor, trunk: str, head: str, message: str) -> str:
        said = message.strip() or f"Merge #{pull.number} from {pull.branch}\n\n{pull.title}"
        landed = landing.land(
            self._ws.folder, self._ws.ghp_dir, trunk, head, self._ws.settings.merge_method,
            f"{said}\n\n{landing.HEAD_TRAILER}: {head}\n", branches.identity(self._ws, by.name),
        )  # fmt: skip
        if landed.conflicts:
            raise MergeConflictError(pull, landed.conflicts)
        self._publish(pull, trunk, landed.commit)
        return landed.commit

    def _publish(self, pull: Pull, trunk: str, commit: str) -> None:
        if branches.where(self._ws) is None:
            why = checkouts.forward(self._ws.folder, pull.base, trunk, commit)
            if why.endswith("has moved"):
                raise PullMovedError(pull, pull.base)
            if why:
                raise RefusedError(
                    f"#{pull.number} is not merged: {why}.",
                    hint="Commit or put aside what is there, then merge again.",
                )
            return
        pushed = branches.push(self._ws, commit, pull.base, expected=None)
        if pushed.answer is PushOutcome.MOVED:
            raise PullMovedError(pull, pull.base)
        if pushed.answer is PushOutcome.REFUSED:
            raise RefusedError(
                f"The remote does not take the merge of #{pull.number}: {pushed.words}.",
                hint="A protected branch wants pull requests of its host: merge it there.",
            )
        if pushed.answer is PushOutcome.UNKNOWN:
            now = branches.tips(self._ws, pull.base).get(pull.base, "")
            if not landing.is_ancestor(self._ws.folder, commit, now):
                raise UnknownError(
                    f"Whether #{pull.number} was merged is not known: {pushed.words}",
                    hint="Run the same command again: it looks first.",
                )

    def _say_merged(self, number: int, by: Actor, head: str, commit: str) -> Pull:
        record = random_hex(6)

        def decide(snapshot: Snapshot) -> tuple[Pull, list[Record]]:
            log = _log(snapshot)
            found = _get(log, number)
            if found.pull.state == "merged":
                return found.pull, []
            said = self._said(snapshot, log, found.id, record, "merge", by)
            said = said._replace(fields={"head": head, "mergedAs": commit})
            merged = _of(log.with_one(said), found.id)
            return merged, [entry(said, merged, f"{merged.branch} as {commit[:12]}")]

        return transact(self._store, decide)

    def _said(
        self, snapshot: Snapshot, log: PullEvents, pull: str, record: str, kind: str, by: Actor
    ) -> PullEvent:
        clock = highest(snapshot.clock, log.clock) + 1
        at = Timestamp(now_text(self._ws))
        return PullEvent(pull, record, kind, clock, snapshot.clone, at, by)

    def list(self, *, closed: bool = False) -> list[Pull]:
        """Open pull requests, and merged and closed ones if asked, oldest first."""
        found = pull_log.fold(_log(self._store.snapshot()))
        return [each.pull for each in found if closed or each.pull.state == "open"]


def _log(snapshot: Snapshot) -> PullEvents:
    return pull_log.read_events(snapshot.files(FOLDER))


def _get(log: PullEvents, number: int) -> Found:
    for found in pull_log.fold(log):
        if number in found.numbers:
            return found
    raise not_found(number)


def _of(log: PullEvents, pull: str) -> Pull:
    return next(found.pull for found in pull_log.fold(log) if found.id == pull)


def _told(fields: dict[str, object]) -> list[str]:
    """A change in a few words, for the ledger."""
    words = {"draft": "a draft" if fields.get("draft") else "ready", "state": fields.get("state")}
    words |= {"head": f"at {str(fields.get('head'))[:12]}"}
    return [str(words.get(name, name)) for name in fields]


def _is_known(ws: Workspace, commit: str) -> bool:
    return bool(commit) and bool(checkouts.tip(ws.folder, commit))
