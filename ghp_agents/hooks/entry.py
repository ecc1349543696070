"""`python -P -m ghp_agents hook CLIENT`: reads an event from standard input, prints the reply.

One rule for all that cannot be decided, be it for an error, an odd event or the time it takes: a
tool of a run with permissions is refused; an edit of any other session is decided by the policy
that was read last, and allowed if there is none. The exit code is 0, and the error is in the
clone's log.
"""

import os

from ghp_agents.hooks import deadline
from ghp_agents.hotpath import fastjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ghp_agents.hooks.event import Event, Reply
    from ghp_agents.hooks.scene import HookContext

USAGE = b"`hook CLIENT` is what agents' clients call; `agent-init --hooks` puts it there.\n"
INPUT_LIMIT = 128_000_000  # bytes; the event includes the content of a written file
CHUNK = 1_048_576
# Each has a module of its name here, the only one that is imported.
CLIENTS = ("claude", "codex", "gemini", "cursor", "opencode", "copilot", "qwen", "pi", "openai")


REFUSED = "ghp-agents could not decide whether this tool may be used, so it was refused."


class OddInputError(Exception):
    """The input is not an event of the client; it is only logged."""


class Input:
    """What a client sent, as far as it was read."""

    def __init__(self) -> None:
        self.content = b""
        self.cwd: str | None = None  # the folder that the event names
        self.contexts: Sequence[HookContext] = ()


def run(argv: "Sequence[str]") -> int:
    """Handle the event on standard input for the named client."""
    environ = dict(os.environ)
    where = "hook " + " ".join(argv)[:80]
    given = Input()
    try:
        _run(argv, environ, given)
    except (Exception, deadline.OverBudgetError) as error:  # last resort
        log(error, given.cwd, environ, where)
        if "GHP_RIGHTS" in environ:
            return _refuse(argv, given)
        if given.contexts and given.contexts[0].event.kind == "edit":
            _answer_by_last_rules(argv, given.contexts)
    return 0


def _run(argv: "Sequence[str]", environ: "Mapping[str, str]", given: Input) -> None:
    has_reader = _open_closed()
    if os.isatty(0):
        os.write(2, USAGE)
        return
    payload = _read_payload(given)
    client = argv[0] if argv else ""
    folder = payload.get("cwd")
    given.cwd = folder if isinstance(folder, str) else None
    if "ghp_trial" in payload:
        from ghp_agents.hooks import trial

        _print(fastjson.encode(trial.answer(payload, environ)))
        return
    if client == "claude-statusline":
        from ghp_agents.hooks import statusline

        _print(statusline.segment(payload, environ).encode())
        return
    protocol = _load_protocol(client)
    if "GHP_RIGHTS" in environ:  # a run with a manifest
        from ghp_agents.hooks import run_rights

        with deadline.budget(deadline.PROCESSOR_S, processor=True):
            refused = run_rights.refusal(protocol, payload, environ)
        if refused is not None:
            if has_reader:
                _answer(protocol.render(*refused), refused[1])
            return
    with deadline.budget(deadline.PROCESSOR_S, processor=True):
        event: Event | None = protocol.parse(payload)
    if event is None:
        return  # not an event that we handle
    given.cwd = event.cwd
    from ghp_agents.hooks import handlers, scene

    given.contexts = contexts = scene.find_all(event, environ)
    reply = handlers.handle(contexts) if contexts else None
    if reply is not None and has_reader:
        _answer(protocol.render(event, reply), reply)


def _refuse(argv: "Sequence[str]", given: Input) -> int:
    """Refuse the tool of a run that could not be decided; the exit code."""
    from ghp_agents.hooks.event import Event, Reply

    if not argv or argv[0] not in CLIENTS:
        os.write(2, f"{REFUSED}\n".encode())
        return 2  # clients take this for a refusal
    protocol = _load_protocol(argv[0])
    kinds: dict[str, str] = protocol.CLIENT.kinds
    named = {kind for name, kind in kinds.items() if f'"{name}"'.encode() in given.content}
    if named and "edit" not in named:
        return 0  # about no tool that is about to be used
    name = next(name for name, kind in kinds.items() if kind == "edit")
    event, reply = Event(argv[0], "edit", name, None, None), Reply(deny=REFUSED)
    _answer(protocol.render(event, reply), reply)
    return 0


def _answer_by_last_rules(argv: "Sequence[str]", contexts: "Sequence[HookContext]") -> None:
    from ghp_agents.hooks import edit

    reply = edit.by_last_rules(contexts)
    if reply is not None:
        _answer(_load_protocol(argv[0]).render(contexts[0].event, reply), reply)


def _load_protocol(name: str) -> "Any":
    if name in CLIENTS:
        return __import__(f"ghp_agents.hooks.{name}", fromlist=[name])
    raise OddInputError(f"No hooks exist for the client {name[:40]!r}.")


def _open_closed() -> bool:
    """Open /dev/null for closed streams. Returns whether standard output was open."""
    has_reader = True
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
            has_reader = has_reader and number != 1
    return has_reader


def _read_payload(given: Input) -> "dict[str, Any]":
    """The JSON object on standard input. Reads to the end: some clients fail on an early close."""
    parts: list[bytes] = []
    size = 0
    while data := os.read(0, CHUNK):
        size += len(data)
        if size <= INPUT_LIMIT:
            parts.append(data)
    given.content = b"".join(parts)
    if size > INPUT_LIMIT:
        raise OddInputError(f"The event has {size} bytes; only {INPUT_LIMIT} are read.")
    try:
        value = fastjson.decode(given.content.decode("utf-8"))
    except ValueError as error:
        raise OddInputError(f"The event ({size} bytes) is not JSON: {str(error)[:200]}") from None
    if not isinstance(value, dict):
        raise OddInputError(f"The event is not an object but a {type(value).__name__}.")
    return value


def _answer(fields: "dict[str, Any]", reply: "Reply") -> None:
    if not fields:
        return
    try:
        _print(fastjson.encode(fields))
    except BrokenPipeError:
        return  # the client has ended; it was told nothing
    if reply.on_sent:
        reply.on_sent()


def _print(content: bytes) -> None:
    written = 0
    while written < len(content):
        written += os.write(1, content[written:])


def log(error: BaseException, cwd: str | None, environ: "Mapping[str, str]", where: str) -> None:
    """Write the error to the clone's log, if there is a clone."""
    from ghp_agents.hotpath import error_log

    try:
        here = cwd if cwd and os.path.isdir(cwd) else os.getcwd()
        error_log.log_error(error, here, environ, where=where, only_if_set_up=True)
    except (OSError, ValueError):
        return
