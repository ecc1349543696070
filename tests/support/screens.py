"""What commands show on a real terminal, at a time that does not move.

`python -m tests.support.screens FILE` runs the command lines in FILE, one after the other, on the
terminal that it was started on. Each line begins with seconds since the epoch.
"""

import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from fcntl import ioctl
from pathlib import Path

from tests.support.ghp import CHECKOUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.wiring import App

TIMEOUT_S = 60.0
_COLOUR = re.compile(r"\x1b\[([0-9;]*)m")
_BUSY = re.compile(r"\r\x1b\[K(?:[^\r\n]* … [^\r\n]*(?=\r))?")  # on a machine that is slow
_RECORDS = {"E-000000000000": ".ghp/escalations/", "M-000000000000": ".ghp/messages/"}
_ID = re.compile(r"\b([ELMNP]-)[0-9a-f]{4,16}\b|\b[0-9a-f]{12}\b")


def capture(
    lines: Sequence[tuple[float, str]], cwd: Path, columns: int, env: Mapping[str, str]
) -> str:
    """What a person sees of these commands, in turn, on a terminal `columns` wide.

    `cd FOLDER` and `cd -` go elsewhere and back, and `! COMMAND` runs in the shell.
    `E-000000000000` in a command is the last question, `M-000000000000` the last message.

    Colours are written as `<32>`, their end as `</>`; any other control character that is not a
    line's end stays, so that a test finds it. Random ids become `L-000000000000`.
    """
    script = "".join(f"{at!r} {line}\n" for at, line in lines)
    leader, follower = pty.openpty()
    ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.screens", script],
        cwd=cwd,
        env={
            **os.environ,
            "PYTHONPATH": str(CHECKOUT),
            "TERM": "xterm-256color",
            "GHP_PAGER": "",
            "TZ": "UTC",
            **env,
        },
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    ) as process:
        os.close(follower)
        shown = _read_all(leader)
        process.wait(TIMEOUT_S)
    os.close(leader)
    return _readable(shown).replace(str(cwd), "~/repo")


def _read_all(leader: int) -> str:
    content = b""
    while select.select([leader], [], [], TIMEOUT_S)[0]:
        try:
            part = os.read(leader, 65536)
        except OSError:  # Linux: the last process on the terminal ended
            break
        if not part:
            break
        content += part
    return content.decode("utf-8", "replace")


def _readable(shown: str) -> str:
    text = _BUSY.sub("", shown.replace("\r\n", "\n"))
    text = _COLOUR.sub(lambda match: f"<{match[1]}>" if match[1].strip("0;") else "</>", text)
    text = re.sub(r"</><1>", "", text)  # cells of one row, each painted alone
    text = re.sub(" +$", "", text.replace(os.environ["HOME"], "~"), flags=re.MULTILINE)
    return _ID.sub(_same_id, text)


def _same_id(match: re.Match[str]) -> str:
    prefix = match[1] or ""
    return prefix + "0" * (len(match[0]) - len(prefix))


def _run(script: str) -> None:
    import shlex

    from ghp_agents.cli.app import run
    from ghp_agents.wiring import App
    from tests.support.clock import ManualClock

    sys.modules["mem0"] = None  # type: ignore[assignment]  # the extras change no capture
    home = Path.cwd()
    for line in script.splitlines():
        at, _, words = line.partition(" ")
        if words.startswith("cd "):
            os.chdir(home if words == "cd -" else Path(words[3:]).expanduser())
            continue
        if words.startswith("! "):
            subprocess.run(["/bin/sh", "-c", words[2:]], check=True)
            continue
        _write(f"$ ghp {words}\n")
        clock = ManualClock(float(at))
        looker = App(Path.cwd(), os.environ, clock=clock)  # the command chooses who acts
        real = [_real(word, looker) for word in shlex.split(words)]
        code = run(real, App(Path.cwd(), os.environ, clock=clock))
        _write(f"[exit code {code}]\n\n" if code else "\n")


def _real(word: str, house: "App") -> str:
    """The id of the last question or message, if that is meant."""
    from ghp_agents.messages import mailbox
    from ghp_agents.messages.message import KINDS

    folder = _RECORDS.get(word)
    if folder is None:
        return word
    if word.startswith("M-"):
        messages = mailbox.read(house.ws, house.store.snapshot())
        return next(message.name for message in reversed(messages) if message.kind in KINDS)
    name = max(house.store.snapshot().files(folder)).rpartition("/")[2].removesuffix(".md")
    return name if name.startswith(word[:2]) else word[:2] + name


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    _run(sys.argv[1])
