"""Names that people know from gh, git and other tools: some work, others lead to the right one."""

from collections.abc import Sequence

PREFIX = "agent-"

# What people type, and what it runs. They are in no list and no help.
ALIASES: dict[tuple[str, ...], tuple[str, ...]] = {
    ("agent-issue", "list"): ("agent-issues",),
    ("agent-issue", "ls"): ("agent-issues",),
    ("agent-issue", "view"): ("agent-issue", "show"),
    ("agent-issue", "create"): ("agent-issue", "new"),
    ("agent-pull", "list"): ("agent-pulls",),
    ("agent-pull", "ls"): ("agent-pulls",),
    ("agent-pull", "view"): ("agent-pull", "show"),
    ("agent-pull", "diff"): ("agent-pull", "show", "--diff"),
    ("agent-pull", "merge"): ("agent-merge",),
    ("agent-pull", "review"): ("agent-review",),
    ("agent-notes", "ls"): ("agent-notes", "list"),
    ("agent-notes", "view"): ("agent-notes", "show"),
    ("agent-notes", "new"): ("agent-remember",),
    ("agent-notes", "create"): ("agent-remember",),
    ("agent-notes", "add"): ("agent-remember",),
    ("agent-notes", "search"): ("agent-recall",),
    ("agent-escalations", "show"): ("agent-escalations",),
    ("agent-escalations", "list"): ("agent-escalations",),
    ("agent-pr",): ("agent-pull",),
    ("agent-prs",): ("agent-pulls",),
    ("agent-note",): ("agent-notes",),
}

# What people type, and the commands that do it.
SUGGESTIONS = {
    name: commands
    for commands, names in {
        ("agent-status",): "list ls ps agents top board dashboard show who watch info",
        ("agent-stop",): "kill pause cancel abort interrupt terminate end quit",
        ("agent-start",): "spawn launch switch checkout worktree begin new-agent go",
        ("agent-finish",): "done complete submit push pull-request ship end-work",
        ("agent-issue new",): "create new add todo task ticket",
        ("agent-issue close",): "close",
        ("agent-issue edit",): "edit update-issue",
        ("agent-issues --ready",): "ready next backlog",
        ("agent-claim",): "take pick grab",
        ("agent-lease",): "lock reserve acquire hold",
        ("agent-leases",): "locks reservations held",
        ("agent-release",): "unlock unclaim free drop give-up unlease",
        ("agent-escalate",): "ask question request",
        ("agent-escalations",): "questions pending",
        ("agent-answer",): "reply respond",
        ("agent-handoff",): "save checkpoint handover hand-over transfer",
        ("agent-resume",): "continue restore context brief prime",
        ("agent-log",): "history events activity ledger tail follow",
        ("agent-report",): "summary digest stats",
        ("agent-report --cost",): "cost costs spend tokens",
        ("agent-pulls",): "pull-requests requests",
        ("agent-pull show",): "diff",
        ("agent-merge",): "queue land merge-queue",
        ("agent-review",): "approve reject",
        ("agent-update",): "rebase catch-up",
        ("agent-send",): "message msg tell notify dm",
        ("agent-inbox",): "mail messages",
        ("agent-timeline",): "gantt chart",
        ("agent-sync",): "fetch refresh",
        ("agent-where",): "path cd dir open",
        ("agent-sweep",): "clean cleanup gc prune reap",
        ("agent-recall",): "search find grep",
        ("agent-remember",): "learn memo",
        ("agent-doctor",): "diagnose health verify debug test",
        ("agent-init",): "setup install config configure enable",
        ("agent-init --remove",): "uninstall remove delete disable",
        ("agent-trust",): "allow consent",
        ("agent-whoami",): "name id identity me",
        ("--version",): "version",
    }.items()
    for name in names.split()
}
BELOW = {  # the same for commands below another
    "agent-issue": {
        "close": "delete remove rm done finish resolve",
        "edit": "update set label rename modify",
        "assign": "unassign",
        "comment": "reply note",
        "block": "depend depends unblock link",
        "reopen": "open",
    },
    "agent-inbox": {"read": "show view open get print", "claim": "take", "fail": "reject"},
    "agent-notes": {"forget": "delete remove rm", "edit": "update set", "show": "get print"},
}
HELP = ("help", f"{PREFIX}help")


def canonical(args: Sequence[str]) -> list[str]:
    """The arguments with the name of a command in place of its alias."""
    for length in (1, 2):
        args = [*ALIASES.get(tuple(args[:length]), args[:length]), *args[length:]]
    return list(args)


def suggested_below(command: str, word: str) -> list[str]:
    """The commands below another that do what an unknown one says."""
    return [name for name, words in BELOW.get(command, {}).items() if word in words.split()]


def suggested(word: str) -> tuple[str, ...]:
    """The commands that do what the unknown command `word` says."""
    return SUGGESTIONS.get(word.removeprefix(PREFIX), ())
