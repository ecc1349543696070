"""A run in a container of podman or docker: it sees its worktree, git's folder and its own home.

The image has the client, git, and `python3` with ghp-agents. Nothing else of the machine is
mounted. Variables go by name, so that no other user reads a secret in the command line.
"""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.cards.sandbox import Bind
from ghp_agents.core import process
from ghp_agents.core.errors import GhpError, NotSetUpError, RefusedError
from ghp_agents.core.ids import one_line

CONTAINER = "container"
PROGRAMS = {CONTAINER: ("podman", "docker"), "podman": ("podman",), "docker": ("docker",)}
PYTHON = "python3"  # of the image
TRY_S = 20.0
REMOVE_S = 60.0
LOCALE = ("LANG", "LC_ALL", "TZ", "TERM")
# In `--mount` a comma ends a field, and a quote begins one.
_UNSAFE = re.compile(r'[,"\x00-\x1f\x7f]')


class Container(NamedTuple):
    """What runs a run's container."""

    program: str  # `podman` or `docker`
    image: str
    network: str = ""  # empty: the program's default
    user: Sequence[str] = ()  # options by which the client is this user


def find(setting: str, image: str, network: str, environ: Mapping[str, str]) -> Container:
    """The first program that works and has the image. Raises NotSetUpError."""
    if not image:
        raise NotSetUpError(
            f"The setting `runs.sandbox` is {setting}, but no image is named.",
            hint='Name it in your own settings: "runs": {"sandbox": "container", "image": "NAME"}.',
        )
    troubles = {program: trouble_of(program, environ) for program in PROGRAMS[setting]}
    works = [program for program, trouble in troubles.items() if not trouble]
    for program in works:
        answer = _ask([program, "image", "inspect", "--format", "found", image], environ)
        if not answer.trouble:
            return Container(program, image, network, _user(program, environ))
    if works:
        raise NotSetUpError(
            f"{' and '.join(works)} has no image {image}.",
            hint=f"Run `{works[0]} pull {image}`, or build it: see docs/sandboxes.md.",
        )
    raise NotSetUpError(
        f"The setting `runs.sandbox` is {setting}, but no container can be started: "
        f"{'; '.join(f'{program}: {trouble}' for program, trouble in troubles.items())}.",
        hint="Install podman or docker and start its service, or set `runs.sandbox` to auto.",
    )


def trouble_of(program: str, environ: Mapping[str, str]) -> str:
    """Why a program cannot start containers; empty if it can."""
    return _ask(_info(program), environ).trouble


class _Answer(NamedTuple):
    trouble: str
    out: str = ""


def _ask(command: list[str], environ: Mapping[str, str]) -> _Answer:
    try:
        done = process.run(command, cwd=Path("/"), env=environ, timeout=TRY_S)
    except (GhpError, OSError) as error:
        missing = isinstance(error, FileNotFoundError)
        return _Answer("it is not installed" if missing else one_line(str(error), 200))
    if done.code == 0:
        return _Answer("", done.out)
    lines = done.err.strip().splitlines()
    return _Answer(_sentence(lines[-1]) if lines else f"it exits with code {done.code}")


def _sentence(line: str) -> str:
    """A program's last line without its end: docker adds a question."""
    return one_line(line, 200).removesuffix("Is the docker daemon running?").rstrip(". ")


def _user(program: str, environ: Mapping[str, str]) -> Sequence[str]:
    """The options by which files of the client belong to this user. Without root, podman maps the
    user on request, and docker maps it to root."""
    rootless = _ask(_info(program), environ).out
    if program == "docker" and "rootless" in rootless:
        return ("--user", "0:0")
    keeps = ("--userns", "keep-id") if program == "podman" and "true" in rootless else ()
    return ("--user", f"{os.getuid()}:{os.getgid()}", *keeps)


def _info(program: str) -> list[str]:
    form = "{{.Host.Security.Rootless}}" if program == "podman" else "{{.SecurityOptions}}"
    return [program, "info", "--format", form]


def name_of(run: str) -> str:
    """The container of a run."""
    return f"ghp-run-{run}"


def wrap(
    words: Sequence[str],
    container: Container,
    run: str,
    tree: Path,
    home: Path,
    binds: Sequence[Bind],
    environ: Mapping[str, str],
    names: Collection[str],
    own: Mapping[str, str],
) -> list[str]:
    """The command line for a client in a container. It gets the variables with these `names`, and
    those of its `own`, which every user may read. Raises RefusedError for a path that cannot be
    mounted."""
    passed = sorted({*names, *LOCALE} & environ.keys())
    return [
        container.program, "run", "--rm", "--pull", "never", "--name", name_of(run),
        *container.user, "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
        "--security-opt", "label=disable",  # SELinux would refuse the mounts
        *(["--network", container.network] if container.network else []),
        *(word for bind in binds for word in ("--mount", _mount(bind))),
        "--tmpfs", "/tmp", "--workdir", str(tree),
        "--env", f"HOME={home}",
        *(word for name in passed for word in ("--env", name)),
        *(word for name, value in own.items() for word in ("--env", f"{name}={value}")),
        "--entrypoint", "", container.image, *words,
    ]  # fmt: skip


def _mount(bind: Bind) -> str:
    for path in (bind.path, bind.source):
        if _UNSAFE.search(str(path)):
            raise RefusedError(
                f"{one_line(repr(str(path)), 200)} cannot be mounted in a container: its name has "
                "a comma, a quote or a control character.",
                hint="Move the repository to another folder.",
            )
    way = "" if bind.is_writable else ",readonly"
    return f"type=bind,source={bind.source},target={bind.path}{way}"


def remove(program: str, run: str, environ: Mapping[str, str]) -> None:
    """End a run's container, if it still is there. Raises GhpError."""
    at_once = ["--time", "0"] if program == "podman" else []  # docker does not wait
    command = [program, "rm", "--force", *at_once, name_of(run)]
    try:
        done = process.run(command, cwd=Path("/"), env=environ, timeout=REMOVE_S)
    except OSError as error:
        raise GhpError(f"Cannot end {name_of(run)}: {error}.", hint=_by_hand(command)) from None
    why = done.err.strip()
    if done.code != 0 and "no such container" not in why.lower() and "no container" not in why:
        raise GhpError(f"Cannot end {name_of(run)}: {one_line(why, 200)}.", hint=_by_hand(command))


def _by_hand(command: Sequence[str]) -> str:
    return f"Run `{' '.join(command)}`."
