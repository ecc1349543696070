"""A program that stands for podman and docker: it notes each call, and runs the client itself.

A container that was not removed is a file.
"""

import json
import sys
from pathlib import Path
from typing import NamedTuple

from tests.support import hosts

IMAGE = "ghp-test:1"
_SCRIPT = """#!{python}
import json, os, sys
folder, name, args = {folder!r}, {name!r}, sys.argv[1:]
with open(folder + "/calls", "a") as calls:
    print(json.dumps([name, *args]), file=calls)
if args[0] == "info":
    print({info!r})
elif args[:2] == ["image", "inspect"]:
    sys.exit(0 if args[-1] == {image!r} else "Error: no such image")
elif args[0] == "run":
    open(folder + "/" + args[args.index("--name") + 1], "w").close()
    at = args.index({image!r})
    given = [args[n + 1] for n in range(at) if args[n] == "--env"]
    pairs = [text.partition("=") for text in given]
    env = {{key: value if sign else os.environ[key] for key, sign, value in pairs}}
    os.chdir(args[args.index("--workdir") + 1])
    os.execvpe(args[at + 1], args[at + 1:], {{**env, "PATH": {path!r}}})
elif args[0] == "rm":
    try:
        os.remove(folder + "/" + args[-1])
    except OSError:
        sys.exit("Error: No such container: " + args[-1])
"""


class FakeContainers(NamedTuple):
    """The fake programs: where they are, and what they were called with."""

    programs: Path
    folder: Path

    def install(self, name: str, info: str = "false") -> None:
        """Add a program. In its containers, `python3` is this one, with ghp-agents."""
        inside = self.folder / "inside"
        if not inside.exists():
            hosts.executable(inside / "python3", f'exec {sys.executable} "$@"\n')
            hosts.executable(inside / "ghp", f'exec {sys.executable} -P -m ghp_agents "$@"\n')
        path = self.programs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        values = {"python": sys.executable, "folder": str(self.folder), "name": name, "info": info}
        path.write_text(_SCRIPT.format(**values, image=IMAGE, path=f"{inside}:/usr/bin:/bin"))
        path.chmod(0o755)

    def calls(self, verb: str = "run") -> list[list[str]]:
        """The calls with this verb."""
        file = self.folder / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        return [call for call in map(json.loads, lines) if call[1] == verb]

    def left(self) -> list[str]:
        """The containers that nobody has removed."""
        return sorted(path.name for path in self.folder.glob("ghp-run-*"))
