"""The modules that take values and return values: records, rules and messages."""

_NAMES = {
    "budgets": "budget",
    "cards": "card command_rules manifest widening",
    "claims": "affinity claim decision",
    "conflicts": "order overlap path_conflict places report",
    "conflicts/syntax": "bindings changed_text facts import_text languages modules",
    "core": (
        "child_env declared fields finding first_seen front_matter glob_paths globs ids "
        "remote_url secret_scan text_budget token_hosts "
    ),
    "escalations": "escalation messages record",
    "github": "accounts labels marker pull_mapping status_comment wording",
    "github/commands": "comment_lines email_reply late_comments messages parse",
    "github/tokenless": "authority place published request",
    "github/tracker": "body mapping requests",
    "guard": "codeowners override",
    "handoffs": "handoff record returned sections tool_files",
    "hooks": "loose_match notebook_edit patch_edit",
    "hotpath": (
        "conflict_report light_dataclass line_ranges lost_claim "
        "marked_conflicts quoting stored_form usage "
    ),
    "integrations/clients": "events hook_entries server_entries statusline",
    "integrations/git_hooks": "script",
    "integrations/upstream_ghp": "hooks records",
    "issues": (
        "body_sections capabilities comment_commands dependencies epics issue job_fields order "
        "outsider_text record replay scope "
    ),
    "jobs": "dispatch_plan explanation job_file job_state room",
    "leases": "decisions hold record wait_graph",
    "locks": "lock lost_lock names",
    "messages": (
        "address header_block message news payload record retention subscription "
        "texts topic topic_list vote "
    ),
    "messages/channels": "channel",
    "notes": "note project record",
    "notes/search": "bm25 result",
    "presence": "liveness stop_order",
    "pulls": "body_template check pull record replay review",
    "pulls/branches": "branch_names",
    "pulls/merging": "batch",
    "reports": "conversations markdown overview time_axis timeline timeline_cells timeline_replay",
    "runs": "policy reaction record runners stream",
    "runs/outages": "forms reset_times",
    "settings": "consent key_lines schema settings unknown_keys",
    "state": (
        "admin_port cause codec events join ledger legacy_causes presence record refusal usage"
    ),
    "sweep": "messages plan",
    "workflows": "engine prompt workflow",
}
PURE = tuple(
    f"ghp_agents/{folder}/{name}.py" for folder, names in _NAMES.items() for name in names.split()
)
