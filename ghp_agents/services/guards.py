"""The guards in agents' clients: what is still to be put into their files, or taken out."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from ghp_agents import exclude, jsonsplice, usersfile
from ghp_agents.errors import GhpError, RefusedError
from ghp_agents.jsontree import JsonError, parse
from ghp_agents.model import guard, statusline
from ghp_agents.model.client import CLIENTS
from ghp_agents.model.ground import Step
from ghp_agents.model.guard import HOMES, PLUGIN
from ghp_agents.services.client_places import Target, claude_settings, setting
from ghp_agents.templates import render

CLAUDE = "claude"
OURS = b"ghp_agents"  # in every command of ours
PLUGIN_MARK = "// ghp-agents: "

# ------------------------------------------------------------------------------ putting in


def to_put(
    targets: Sequence[Target], python: str, environ: Mapping[str, str], common_dir: Path | None
) -> list[Step]:
    """What is still to be written; nothing where all guards are there. Raises GhpError for a file
    that cannot be read: then nothing is written anywhere."""
    steps: list[Step] = []
    for target in targets:
        _refuse_elsewhere(target)
        before = usersfile.read_text(target.path)
        after = _with_guards(target, before, python, environ)
        what = f"hooks for {HOMES[target.client].title} into {target.shown}"
        if after == before:
            continue
        hide = common_dir if before is None and not target.is_tracked else None
        act = partial(_write, target, before, after, hide)
        steps.append(Step("put", "Put", what, act))
    return steps


def _refuse_elsewhere(target: Target) -> None:
    """A link of the user's may lead anywhere; one that was checked out may be a stranger's."""
    if target.leads_away:
        raise RefusedError(
            f"{target.path} leads to {target.path.resolve()}, outside of the worktree, by a link "
            "in the repository.",
            hint="Look at that link; `--user` puts the hooks into your own files instead.",
        )


def _with_guards(
    target: Target, before: str | None, python: str, environ: Mapping[str, str]
) -> str:
    client = target.client
    if client == PLUGIN:
        return _plugin(target, before, python)
    with _named(target):
        if before is None:
            text = jsonsplice.fresh(guard.document(client, python))
        else:
            text = guard.put(before, client, python)
        if client == CLAUDE:
            text = statusline.put(text, python, inherited_line(target, environ))
    return text


def is_current(target: Target, python: str) -> bool:
    """Whether the hooks in a file are those that this version puts in."""
    text = usersfile.read_text(target.path)
    if text is None or target.client == PLUGIN:
        return text == opencode_plugin(python)
    with _named(target):
        return guard.put(text, target.client, python) == text


def _write(target: Target, before: str | None, after: str, hide: Path | None) -> None:
    if hide is not None:
        exclude.add(hide, target.line)
    old = None if before is None else before.encode()
    usersfile.rewrite(target.path, old, after.encode())


@contextmanager
def _named(target: Target) -> Iterator[None]:
    """Errors about a text get the name of its file."""
    try:
        yield
    except JsonError as error:
        where = f"{target.path}, line {error.line}: {error.reason}"
        raise GhpError(f"{where}; it was left as it is.", hint=error.hint) from None
    except GhpError as error:
        raise GhpError(f"{target.path}: {error}; it was left as it is.", hint=error.hint) from None


def inherited_line(target: Target, environ: Mapping[str, str]) -> Mapping[str, Any] | None:
    """The status line that counts where the target's own file has none: the project's, else the
    user's; without ours around it."""
    paths = claude_settings([target.top], environ)
    for path in paths[paths.index(target.path) + 1 :]:
        value = setting(path, statusline.KEY)
        if isinstance(value, dict):
            own = statusline.own_command(value)
            return {**value, "command": own} if own else None
    return None


# ------------------------------------------------------------------------------ taking out


def to_take(targets: Sequence[Target], common_dir: Path | None) -> list[Step]:
    """What of ours is in these files. Raises GhpError for one that cannot be read."""
    steps: list[Step] = []
    lines: set[str] = set()
    for target in targets:
        before = of_ours(target.path)
        is_made = common_dir is None or exclude.has(common_dir, target.line)
        if common_dir is not None and is_made:
            lines.add(target.line)
        if before is None:
            continue
        after = _without_guards(target, before)
        title = HOMES[target.client].title
        if after is None or (is_made and not target.is_tracked and _is_void(target, after)):
            what = f"the hooks of {title}: {target.shown}"
            act = partial(usersfile.delete, target.path, target.top)
            steps.append(Step("remove", "Removed", what, act))
        elif after != before:
            what = f"the hooks of {title} out of {target.shown}"
            act = partial(usersfile.rewrite, target.path, before.encode(), after.encode())
            steps.append(Step("take", "Took", what, act))
    if common_dir is not None:
        steps += [_unhide(common_dir, line) for line in sorted(lines)]
    return steps


def of_ours(path: Path) -> str | None:
    """The text of a file in which something is ours; others need not even be readable."""
    content = usersfile.read(path)
    return usersfile.read_text(path) if content and OURS in content else None


def _unhide(common_dir: Path, line: str) -> Step:
    what = f"the line {line} out of .git/info/exclude"
    return Step("take", "Took", what, partial(exclude.remove, common_dir, line))


def _without_guards(target: Target, before: str) -> str | None:
    """The text without ours; None where the whole file is ours."""
    if target.client == PLUGIN:
        return None if is_our_plugin(before) else before
    with _named(target):
        text = guard.take(before)
        return statusline.take(text) if target.client == CLAUDE else text


def _is_void(target: Target, text: str) -> bool:
    return guard.is_void(text, target.client)


# ------------------------------------------------------------------------------ OpenCode's plugin


def is_our_plugin(text: str) -> bool:
    """Whether the file is the plugin that we write."""
    return text.startswith(PLUGIN_MARK)


def _plugin(target: Target, before: str | None, python: str) -> str:
    if before is not None and not is_our_plugin(before):
        raise GhpError(
            f"{target.path} is not ours; it was left as it is.",
            hint="Give that file another name, and run the command again.",
        )
    return opencode_plugin(python)


def python_of_plugin(text: str) -> str | None:
    """The interpreter that the plugin calls."""
    found = re.search(r"^const COMMAND = (\[.*\])$", text, re.MULTILINE)
    words = parse(found[1]).value if found and is_our_plugin(text) else []
    return str(words[0]) if words else None


def opencode_plugin(python: str) -> str:
    """The plugin for OpenCode, which calls us as other clients do by themselves."""
    listening = {each.kind: each for each in CLIENTS[PLUGIN]}
    command = guard.hook_command(python, PLUGIN)
    return render("opencode-plugin.js.j2", {"command": command, "listening": listening})


# ------------------------------------------------------------------------------ what to know


def advice(
    clients: Sequence[str], targets: Sequence[Target], others: Sequence[Target]
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
    for client in clients:
        twice = doubled([each for each in (*targets, *others) if each.client == client])
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


def doubled(targets: Sequence[Target]) -> tuple[str, str] | None:
    """A client that runs each hook twice, from the user's file and from a clone's, and what to do.
    Claude Code runs what is the same in both once."""
    mine = [each for each in targets if each.is_users and python_in(each)]
    own = {each.path for each in mine}  # a home may be a worktree, too
    here = [each for each in targets if each.path not in own and python_in(each)]
    if not mine or not here:
        return None
    client = mine[0].client
    if client == CLAUDE and {python_in(each) for each in here} == {python_in(mine[0])}:
        return None
    return (
        f"{HOMES[client].title} runs each of our hooks twice: by {mine[0].shown} and by "
        f"{here[0].shown}.",
        f"Keep one: `ghp agent-init --hooks {client} --remove`, or the same with --user.",
    )


def python_in(target: Target) -> str | None:
    """The interpreter that the hooks of ours in a file call; None where there are none."""
    try:
        text = of_ours(target.path)
        if text is None:
            return None
        if target.client == PLUGIN:
            return python_of_plugin(text)
        return next((place.python for place in guard.places(text)), None)
    except GhpError:
        return None  # what the client cannot read it does not run either
