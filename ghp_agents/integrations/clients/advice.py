"""What a person should know about guards that were put into clients' files."""

from collections.abc import Iterator, Sequence

from ghp_agents.integrations.clients import original_state
from ghp_agents.integrations.clients.config_files import ConfigFile
from ghp_agents.integrations.clients.hook_entries import HOMES
from ghp_agents.integrations.clients.install import CLAUDE, python_in


def advice(
    clients: Sequence[str], targets: Sequence[ConfigFile], others: Sequence[ConfigFile]
) -> Iterator[tuple[str, str]]:
    """What a person should know after guards were put into `targets`: a fact and what to do.

    `others` are the user's own files, if these are of a clone, or the other way round.
    """
    for target in targets:
        if target.is_tracked:
            yield (
                f"{target.shown} is tracked by git, and the hooks in it name a program of this "
                "machine.",
                "Do not commit them, or use `--user` instead.",
            )
    yield from _visible_files(targets)
    for client in clients:
        twice = doubled([other for other in (*targets, *others) if other.client == client])
        if twice:
            yield twice
    if "codex" in clients:
        yield (
            "Codex runs new hooks only when you have trusted them.",
            "Start `codex` here, and accept them with /hooks.",
        )
    if {"claude", "cursor"} <= set(clients):
        yield (
            "Cursor may load the hooks of Claude Code, too; then each of them would run twice.",
            "Leave its setting for third-party hooks off.",
        )


def _visible_files(targets: Sequence[ConfigFile]) -> Iterator[tuple[str, str]]:
    """The files that were made and that git shows, as another worktree has one of its user's."""
    for target in targets:
        origin = original_state.read(target.memory)
        if origin is None or not origin.created or target.is_users or target.is_tracked:
            continue
        others = [other for other in targets if other.client == target.client and other != target]
        theirs = [other for other in others if not _was_created(other) and other.path.exists()]
        if theirs and not target.is_hidden:
            yield (
                f"{target.shown} is shown by `git status` as a new file: a line that hides it from "
                f"git would hide {theirs[0].shown}, too, which is yours.",
                "Do not commit it; the hooks in it name a program of this machine.",
            )


def _was_created(target: ConfigFile) -> bool:
    origin = original_state.read(target.memory)
    return origin is not None and origin.created


def doubled(targets: Sequence[ConfigFile]) -> tuple[str, str] | None:
    """A client that runs each hook twice, from the user's file and from a clone's, and what to do.
    Claude Code runs what is the same in both once."""
    mine = [target for target in targets if target.is_users and python_in(target)]
    own = {target.path for target in mine}  # a home may be a worktree, too
    here = [target for target in targets if target.path not in own and python_in(target)]
    if not mine or not here:
        return None
    client = mine[0].client
    if client == CLAUDE and {python_in(target) for target in here} == {python_in(mine[0])}:
        return None
    return (
        f"{HOMES[client].title} runs each of our hooks twice: by {mine[0].shown} and by "
        f"{here[0].shown}.",
        f"Keep one: `ghp agent-init --hooks {client} --remove`, or the same with --user.",
    )
