"""What each package brings to the work that touches many of them, as names of functions.

A name is "package.module:function". It is imported when it is used, so that a list costs nothing
and knows nobody. The order of a list is the order of the work.
"""

from typing import NamedTuple

CHECKS = {  # of the doctor, by code; those with network requests come last
    "git": "doctor.machine_checks:check_git",
    "python": "doctor.machine_checks:check_python",
    "repository": "doctor.machine_checks:check_repository",
    "hooks-silent": "integrations.clients.checks:check_silence",
    "config": "consent.config_checks:check",
    "consent": "consent.service:check",
    "agent": "presence.checks:check_agent",
    "background": "sync.background_checks:check_background",
    "log": "sync.background_checks:check_log",
    "sharing": "doctor.service:check_sharing",
    "main-branch": "pulls.update_branch:check",
    "templates": "pulls.body_template:check",
    "cards": "consent.card_checks:check",
    "plug-ins": "doctor.service:check_plugins",
    "sandbox": "consent.sandbox_checks:check",
    "unreadable": "doctor.state_checks:check_readable",
    "rivals": "presence.checks:check_rivals",
    "home": "presence.name_owners:check",
    "outbox": "doctor.state_checks:check_outbox",
    "unsent": "doctor.state_checks:check_unsent",
    "sync": "doctor.state_checks:check_sync",
    "refused": "doctor.state_checks:check_refused",
    "clone-silent": "doctor.state_checks:check_clones",
    "knowledge": "notes.service:check",
    "worktree": "leases.missing_worktrees:check",
    "left-work": "pulls.merging.left_behind:check",
    "hooks": "integrations.clients.checks:check_hooks",
    "hooks-run": "integrations.clients.checks:check_runs",
    "hooks-twice": "integrations.clients.checks:check_twice",
    "codex-sandbox": "integrations.clients.checks:check_sandbox",
    "opencode-packages": "integrations.clients.checks:check_packages",
    "status-line": "integrations.clients.checks:check_status_line",
    "git-hooks": "integrations.clients.checks:check_git_hooks",
    "aider": "integrations.clients.checks:check_aider",
    "unguarded": "integrations.clients.unguarded_clients:check",
    "past-queue": "pulls.merging.past_queue:check",
    "undone-merge": "pulls.merging.undone_merges:check",
    "folder": "state.git.admin.local_checks:check_folder",
    "lock": "state.git.admin.leftovers:check_locks",
    "state": "state.git.admin.integrity:check_state",
    "left-over": "state.git.admin.leftovers:check_left_overs",
    "presence": "state.git.admin.local_checks:check_presence",
    "growth": "state.git.admin.integrity:check_growth",
    "view-tracked": "state.git.admin.local_checks:check_view",
    "twin": "state.git.admin.clone_checks:check_twin",
    "clock": "state.git.admin.clone_checks:check_clocks",
    "remote": "state.git.admin.clone_checks:check_remote",
    "github": "github.checks:check_here",
    "github-repository": "github.checks:check_repository",
    "probe": "doctor.service:check_probe",
}

# Kinds of records, by folder. A reader gets the files; the last that it returns are the problems.
# Without patches: they cannot be validated, and together they may be large.
RECORDS = {
    "answers": "escalations.record:read",
    "commands": "issues.comment_commands:read_commands",
    "decisions": "escalations.record:read",
    "escalations": "escalations.record:read",
    "handoffs": "handoffs.record:read_handoffs",
    "inbox": "",  # nobody reads it yet
    "issues": "issues.replay:read_events",
    "leases": "leases.record:read_leases",
    "messages": "messages.record:read",
    "notes": "notes.record:read_notes",
    "overrides": "guard.override:read_overrides",
    "pulls": "pulls.replay:read_events",
    "reviews": "pulls.review:read_reviews",
    "returns": "handoffs.returned:read_returns",
    "stops": "presence.stop_order:read_orders",
    "subscriptions": "messages.topics.subscription:read_subscriptions",
}


class SyncAct(NamedTuple):
    """A part of a sync."""

    name: str
    when: str = "always"  # what must hold: an attribute of the sync's `Round`
    tells: bool = False  # whether it returns notes for people


BEFORE_SYNC = (
    SyncAct("presence.report_changes:report_changes", "unhurried"),
    SyncAct("presence.process_reports:report_processes"),
)
AFTER_SYNC = (
    SyncAct("claims.holder_liveness:observe", "fetched"),
    SyncAct("leases.expiry:observe", "fetched"),
    SyncAct("claims.pending_unassign:apply_pending", "fetched"),
    SyncAct("handoffs.left_work:save", "fetched"),
    SyncAct("leases.lost_locks:put_back_locks", "sends", tells=True),
    SyncAct("issues.service:name_local", "sends"),
    SyncAct("escalations.service:send_waiting", "sends", tells=True),
    SyncAct("notes.service:withdraw", "sends"),
    SyncAct("github.after_sync:deliver", "sends_to_github", tells=True),
    SyncAct("github.after_sync:run_commands", "asks_github", tells=True),
    SyncAct("github.tokenless.publish:publish", "sends_to_github"),
    SyncAct("leases.reconcile:reconcile", tells=True),
    SyncAct("messages.overdue_requests:ask", tells=True),
    SyncAct("claims.two_owners:ask", tells=True),
    SyncAct("workflows.after_sync:advance", tells=True),
    SyncAct("sync.compaction:compact_if_due", "compacts"),
    SyncAct("sync.service:send_rest", "unsent"),
    SyncAct("presence.name_owners:observe", tells=True),
    SyncAct("github.after_sync:show", "on_github", tells=True),
    SyncAct("pulls.merging.main_moved:observe", "unhurried"),
    SyncAct("sync.notifications:notify_agents"),
    SyncAct("sync.desktop:announce"),
    SyncAct("messages.after_sync:refresh_channels", tells=True),
    SyncAct("guard.evaluate:refresh"),
    SyncAct("sync.handlers:hand_out", "paced"),
)
AGENTS = "presence.service:list_agents"
PAGES = "reports.pages:renderer"

# What has ended long ago, by the function that finds it: the folder of its records, if it takes
# `files`.
COMPACTION = {
    "messages.after_sync:settled": "",
    "leases.record:settled": ".ghp/leases/",
    "issues.replay:settled": ".ghp/issues/",
    "escalations.service:settled": "",
    "github.tokenless.request:settled": ".ghp/outgoing/",
}

# What an agent hears once: each source returns texts, with the keys of their delivery.
NEWS = (
    "presence.same_name:news",
    "presence.namesakes:to_first",
    "github.commands.notices:remarks",
    "github.commands.notices:reviews",
    "pulls.merging.main_moved:news",
    "sync.notifications:refused",
    "github.merge_queue:news",
    "leases.settled_questions:news",
    "claims.ended_agents:news",
)
