"""May this edit be made? The one rule behind all guards: pure, and the first match wins.

A hook asks it before every edit, so it imports nothing, and a verdict is a plain class.
"""

ALLOW, DENY, NEEDS_APPROVAL = "allow", "deny", "needs-approval"


class Verdict:
    """What was decided of one path. `kind` names the rule: fenced, worktree, lease, implicit,
    shared, scope; empty where none applies. A person is always allowed, and told the rest."""

    __slots__ = ("holder", "kind", "next", "path", "since", "why", "word")

    def __init__(
        self,
        word: str,
        path: str,
        kind: str = "",
        holder: str | None = None,
        since: str = "",
        why: str = "",
        next: str = "",  # noqa: A002  (as it is shown)
    ) -> None:
        self.word = word  # allow, deny, needs-approval
        self.path = path  # from the top of the repository
        self.kind = kind
        self.holder = holder
        self.since = since  # ISO 8601, or empty
        self.why = why  # a sentence for people and agents
        self.next = next  # what can be done about it

    @property
    def is_refused(self) -> bool:
        """Whether the edit must not be made now."""
        return self.word != ALLOW

    def __repr__(self) -> str:
        return f"Verdict({', '.join(f'{name}={getattr(self, name)!r}' for name in _ORDER)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Verdict) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


_ORDER = ("word", "path", "kind", "holder", "since", "why", "next")
