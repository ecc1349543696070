"""`python -P -m ghp_agents hook CLIENT`: reads an event from standard input, prints the reply.

Only a decision stops an agent. On any error the agent continues: there is no output, the exit code
is 0, and the error is in the clone's log.
"""

import os

from ghp_agents.hotpath import fastjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ghp_agents.hooks.event import Event, Reply

USAGE = b"`hook CLIENT` is what agents' clients call; `agent-init --hooks` puts it there.\n"
INPUT_LIMIT = 128_000_000  # bytes; the event includes the content of a written file
CHUNK = 1_048_576
# Each has a module of its name here, the only one that is imported.
CLIENTS = ("claude", "codex", "gemini", "cursor", "opencode", "copilot", "qwen", "pi", "openai")


class OddInputError(Exception):
    """The input is not an event of the client; it is only logged."""


def run(argv: "Sequence[str]") -> int:
    """Handle the event on standard input for the named client."""
    environ = dict(os.environ)
    where = "hook " + " ".join(argv)[:80]
    cwd: list[str | None] = [None]
    try:
        _run(argv, environ, cwd)
    except Exception as error:  # last resort: an agent must not fail because of us
        log(error, cwd[0], environ, where)
    return 0


def _run(argv: "Sequence[str]", environ: "Mapping[str, str]", cwd: "list[str | None]") -> None:
    has_reader = _open_closed()
    if os.isatty(0):
        os.write(2, USAGE)
        return
    payload = _read_payload()
    client = argv[0] if argv else ""
    folder = payload.get("cwd")
    cwd[0] = folder if isinstance(folder, str) else None
    if client == "claude-statusline":
        from ghp_agents.hooks import statusline

        _print(statusline.segment(payload, environ).encode())
        return
    protocol = _load_protocol(client)
    if "GHP_RIGHTS" in environ:  # a run with a manifest
        from ghp_agents.hooks import run_rights

        refused = run_rights.refusal(protocol, payload, environ)
        if refused is not None:
            if has_reader:
                _answer(protocol.render(*refused), refused[1])
            return
    event: Event | None = protocol.parse(payload)
    if event is None:
        return  # not an event that we handle
    cwd[0] = event.cwd
    from ghp_agents.hooks import handlers, scene

    context = scene.find(event, environ)
    reply = handlers.handle(context) if context else None
    if reply is not None and has_reader:
        _answer(protocol.render(event, reply), reply)


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


def _read_payload() -> "dict[str, Any]":
    """The JSON object on standard input. Reads to the end: some clients fail on an early close."""
    parts: list[bytes] = []
    size = 0
    while data := os.read(0, CHUNK):
        size += len(data)
        if size <= INPUT_LIMIT:
            parts.append(data)
    if size > INPUT_LIMIT:
        raise OddInputError(f"The event has {size} bytes; only {INPUT_LIMIT} are read.")
    try:
        value = fastjson.decode(b"".join(parts).decode("utf-8"))
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
