"""Files of the worktree that only a person writes: what stands there counts as a person's words.

The shell is not read here: text in such a file is sent only if a person confirms it. What a command
of an agent wrote there is told after the step, and noted for the person.
"""

import os

from ghp_agents.hooks.event import RAN, Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ghp_agents.hooks.paths import EditTarget
    from ghp_agents.hooks.scene import HookContext

CHANNELS = ".ghp/channels/"  # `messages/channel_files.py`, too heavy to import
NOTES = "channel-writes"  # beside agents' presence: who wrote in which file
NOTES_MOST = 65_536  # bytes
WRITES = (">", "tee", "sed", "cp ", "mv ", "python", "perl")  # in lines that may write
SHOWN = 5


def refusal(files: "Iterable[EditTarget]") -> str | None:
    """Why an agent may not write these files; None if none of them is a person's."""
    # Some file systems ignore case.
    names = [x.path for x in files if x.path.lower().startswith(CHANNELS)]
    if not names:
        return None
    from ghp_agents.hotpath.quoting import file

    shown = ", ".join(file(name) for name in names[:SHOWN])
    return (
        f"A person writes in {shown}: what stands there would be that person's words.\n"
        "Next: say it yourself: `ghp agent-send @CHANNEL TEXT`."
    )


def after_step(context: "HookContext", since: str) -> Reply | None:
    """A remark about the files of channels that the commands of this step wrote, `since` a time."""
    lines = [line for use in context.event.tool_uses if use.verb == RAN for line in use.what]
    if not any("channels" in x.lower() and any(word in x for word in WRITES) for x in lines):
        return None
    names = [*_written(f"{context.place.toplevel}/{CHANNELS}", since)]
    if not names:
        return None
    from ghp_agents.hotpath import own_file
    from ghp_agents.hotpath.quoting import file

    path = f"{context.folders[0]}/{NOTES}"
    if not os.path.lexists(path) or os.lstat(path).st_size < NOTES_MOST:
        text = "".join(f"{context.agent} {name}\n" for name in names)
        own_file.append(path, text.encode("utf-8", "surrogateescape"))
    shown = ", ".join(file(CHANNELS + name) for name in names[:SHOWN])
    return Reply(
        context=f"Your command wrote in {shown}, where a person writes. Nobody sends it as yours, "
        "and the person is told that you wrote it.\n"
        "Next: take it out, and say it yourself: `ghp agent-send @CHANNEL TEXT`."
    )


def _written(folder: str, since: str) -> "Iterator[str]":
    from ghp_agents.core.clock import to_seconds

    try:
        began = int(to_seconds(since))
        names = sorted(os.listdir(folder))
    except (ValueError, OSError):
        return
    for name in names[:1_000]:
        try:
            is_new = os.lstat(folder + name).st_mtime >= began
        except OSError:
            continue
        if is_new and name.endswith(".md") and "\n" not in name:
            yield name
