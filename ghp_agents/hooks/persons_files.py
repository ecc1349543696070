"""Files of the worktree that only a person writes: what stands there counts as a person's words.

The shell is not read here: text in such a file is sent only if a person confirms it.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ghp_agents.hooks.paths import EditTarget

CHANNELS = ".ghp/channels/"  # `messages/channel_files.py`, too heavy to import
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
