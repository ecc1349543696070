"""Advice for people about hooks that were installed in clients' files."""

from collections.abc import Iterator, Sequence

from ghp_agents.integrations.clients.config_files import ConfigFile
from ghp_agents.integrations.clients.hook_entries import HOMES
from ghp_agents.integrations.clients.install import CLAUDE, python_in


def advice(
    clients: Sequence[str], targets: Sequence[ConfigFile], others: Sequence[ConfigFile]
) -> Iterator[tuple[str, str]]:
    """Advice after hooks were installed in `targets`: pairs of a fact and what to do.

    `others`: the same clients' files of the user, or of the clone if `targets` are the user's.
    """
    for target in targets:
        if target.is_tracked:
            yield (
                f"{target.shown} is tracked by git, but its hooks name a program of this machine.",
                "Do not commit them, or use `--user` instead.",
            )
    yield from _visible_files(targets)
    for client in clients:
        twice = doubled([other for other in (*targets, *others) if other.client == client])
        if twice:
            yield twice
    if "codex" in clients:
        yield (
            "Codex runs new hooks only after you trust them.",
            "Start `codex` here and accept them with /hooks.",
        )
    if {"claude", "cursor"} <= set(clients):
        yield (
            "Cursor may also load the hooks of Claude Code, and then run each of them twice.",
            "Keep its setting for third-party hooks off.",
        )


def _visible_files(targets: Sequence[ConfigFile]) -> Iterator[tuple[str, str]]:
    """Files that we created and cannot hide from git: another worktree has the user's own."""
    for target in targets:
        if not target.was_created or target.is_users or target.is_tracked:
            continue
        others = [other for other in targets if other.client == target.client and other != target]
        theirs = [other for other in others if not other.was_created and other.path.exists()]
        if theirs and not target.is_hidden:
            yield (
                f"`git status` shows {target.shown} as a new file: an ignore rule for it would "
                f"also hide your {theirs[0].shown}.",
                "Do not commit it; its hooks name a program of this machine.",
            )


def doubled(targets: Sequence[ConfigFile]) -> tuple[str, str] | None:
    """Advice if a client runs each hook twice, from the user's file and from a clone's.

    Claude Code runs identical entries once.
    """
    mine = [target for target in targets if target.is_users and python_in(target)]
    own = {target.path for target in mine}  # the home may also be a worktree
    here = [target for target in targets if target.path not in own and python_in(target)]
    if not mine or not here:
        return None
    client = mine[0].client
    if client == CLAUDE and {python_in(target) for target in here} == {python_in(mine[0])}:
        return None
    return (
        f"{HOMES[client].title} runs each of our hooks twice: from {mine[0].shown} and from "
        f"{here[0].shown}.",
        f"Keep one: run `ghp agent-init --hooks {client} --remove`, or the same with --user.",
    )
