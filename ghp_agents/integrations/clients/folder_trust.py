"""The folders that a client's user trusts: elsewhere the client runs no hooks of a repository.

One row says where a client keeps its trust. Read in, and tried with, Gemini CLI 0.61, pi 1.6,
Qwen Code 0.15 and Copilot CLI 1.0.102. Clients without a row ask at their start, run the hooks
anyway (OpenCode), or keep trust per hook (`codex_config`); the clients' pages say which.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core import user_file
from ghp_agents.core.errors import GhpError
from ghp_agents.core.jsonc import parse
from ghp_agents.integrations.clients import codex_config, config_files
from ghp_agents.integrations.clients.config_files import ConfigFile
from ghp_agents.integrations.clients.hook_entries import HOMES
from ghp_agents.integrations.clients.install import python_in


class _Rule(NamedTuple):
    """What a client's user said about a folder and all below it."""

    folder: Path
    trusted: bool
    weight: int  # of the rules for a folder, the one with the highest counts


class _Row(NamedTuple):
    """Where a client keeps its trust, and what holds without a rule."""

    file: str  # below the client's own folder
    rules: Callable[[Any], Iterator[_Rule]]
    variable: str = ""  # overrides where the file is
    switch: tuple[str, ...] = ()  # the setting that trusts every folder …
    trusting: tuple[Any, ...] = ()  # … if it has one of these values; None: is not set
    first: bool = False  # whether the setting counts before any rule
    once: str = ""  # a variable for one session: "true" trusts, "false" does not


def _named(document: Any) -> Iterator[_Rule]:
    """Copilot CLI: lists of trusted folders."""
    for key in ("trustedFolders", "trusted_folders"):
        names = document.get(key) if isinstance(document, dict) else None
        for name in names if isinstance(names, list) else ():
            yield _Rule(Path(str(name)), True, 0)


def _levels(document: Any) -> Iterator[_Rule]:
    """Gemini CLI and Qwen Code: a level for each folder."""
    for name, level in document.items() if isinstance(document, dict) else ():
        folder = Path(name).parent if level == "TRUST_PARENT" else Path(name)
        if level in ("TRUST_PARENT", "TRUST_FOLDER", "DO_NOT_TRUST"):
            yield _Rule(folder, level != "DO_NOT_TRUST", len(name))


def _answers(document: Any) -> Iterator[_Rule]:
    """pi: true or false for each folder."""
    for name, answer in document.items() if isinstance(document, dict) else ():
        if isinstance(answer, bool):
            yield _Rule(Path(name), answer, len(name))


_FOLDER_TRUST = ("security", "folderTrust", "enabled")
_ROWS: Mapping[str, _Row] = {
    "copilot": _Row("config.json", _named),
    "gemini": _Row(
        "trustedFolders.json", _levels, "GEMINI_CLI_TRUSTED_FOLDERS_PATH", _FOLDER_TRUST,
        (False,), True, "GEMINI_CLI_TRUST_WORKSPACE",
    ),
    "pi": _Row("trust.json", _answers, "", ("defaultProjectTrust",), ("always",)),
    "qwen": _Row(
        "trustedFolders.json", _levels, "QWEN_CODE_TRUSTED_FOLDERS_PATH", _FOLDER_TRUST,
        (False, None), True,
    ),
}  # fmt: skip
# Variables with which a client loads no plugin of ours, and whether that holds for the user's own,
# too. Tried with OpenCode 1.18.
_SWITCHES = {"opencode": (("OPENCODE_PURE", True), ("OPENCODE_DISABLE_PROJECT_CONFIG", False))}
_SETTINGS = "settings.json"  # of the rows with a switch


def trusts(target: ConfigFile, environ: Mapping[str, str]) -> bool:
    """Whether a client runs the hooks in a file. Of the clients, only Codex asks for the user's
    own, too. Raises GhpError."""
    if _switch(target, environ):
        return False
    if target.client == codex_config.CODEX:
        return codex_config.trusts(target, environ)
    row = _ROWS.get(target.client)
    if row is None or target.is_users:
        return True
    once = environ.get(row.once) if row.once else None
    if once in ("true", "false"):
        return once == "true"
    by_default = _by_default(target.client, row, environ)
    if row.first and by_default:
        return True
    decision = _decision(target.client, row, target.top, environ)
    return by_default if decision is None else decision


def is_refused(client: str, top: Path, environ: Mapping[str, str]) -> bool:
    """Whether the client's user said that it must not trust a folder."""
    row = _ROWS.get(client)
    return row is not None and _decision(client, row, top, environ) is False


def for_run(client: str, main: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """The variable that lets a client work in a worktree that a run made. Empty where it needs
    none, or where its user said something else: here, or about the clone."""
    row = _ROWS.get(client)
    if row is None or not row.once or row.once in environ or is_refused(client, main, environ):
        return {}
    return {row.once: "true"}


class Untrusted(NamedTuple):
    """A client that does not run our hooks in a folder."""

    client: str
    fact: str
    remedy: str


def untrusted(targets: Iterable[ConfigFile], environ: Mapping[str, str]) -> Iterator[Untrusted]:
    """The clients that run our hooks neither from their files nor from the user's. Raises
    GhpError."""
    for target in targets:
        both = (target, config_files.users(environ, target.client))
        is_run = any(python_in(x) is not None and trusts(x, environ) for x in both)
        if python_in(target) is not None and not is_run:
            yield Untrusted(target.client, *warning(target, environ))


def _switch(target: ConfigFile, environ: Mapping[str, str]) -> str:
    """The variable that is set and switches our hooks in a file off; empty without one."""
    for variable, is_for_all in _SWITCHES.get(target.client, ()):
        is_on = environ.get(variable, "").lower() in ("1", "true")
        if is_on and (is_for_all or not target.is_users):
            return variable
    return ""


def warning(target: ConfigFile, environ: Mapping[str, str]) -> tuple[str, str]:
    """The fact that a client does not run the hooks in a file, and what to do about it."""
    switch = _switch(target, environ)
    if switch:
        title = HOMES[target.client].title
        text = f"{switch} is set, so {title} does not load {target.shown}: nothing is guarded."
        return text, f"Unset {switch}."
    if target.client == codex_config.CODEX:
        return codex_config.warning(target)
    title = HOMES[target.client].title
    program = next(iter(HOMES[target.client].programs), target.client)
    return (
        f"{title} does not trust {target.top}: it runs none of the hooks in {target.shown}.",
        f"Start `{program}` in {target.top} and trust the folder or one above it. Or use your own "
        f"hooks, which need no trust: ghp agent-init --hooks {target.client} --user",
    )


def _decision(client: str, row: _Row, top: Path, environ: Mapping[str, str]) -> bool | None:
    """What the user said about a folder; None for nothing, and for a file that is damaged."""
    other = environ.get(row.variable) if row.variable else None
    place = Path(other) if other else config_files.own_folder(client, environ) / row.file
    tops = {top, top.resolve()}
    rules = [
        rule
        for rule in row.rules(_read(place))
        if any(x.is_relative_to(y) for x in tops for y in (rule.folder, _resolved(rule.folder)))
    ]
    # Of two that weigh the same, the one that refuses counts.
    last = max(rules, key=lambda rule: (rule.weight, not rule.trusted), default=None)
    return last.trusted if last else None


def _by_default(client: str, row: _Row, environ: Mapping[str, str]) -> bool:
    setting = _read(config_files.own_folder(client, environ) / _SETTINGS) if row.switch else None
    for key in row.switch:
        setting = setting.get(key) if isinstance(setting, dict) else None
    # `0` is no `False` in JSON.
    return any(
        setting is choice or (isinstance(choice, str) and setting == choice)
        for choice in row.trusting
    )


def _resolved(folder: Path) -> Path:
    try:
        return folder.resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, or an odd name
        return folder


def _read(path: Path) -> Any:
    """A file of JSON with comments; None if there is none, or none that can be read."""
    try:
        text = user_file.read_text(path)
        return parse(text).value if text else None
    except GhpError:
        return None
