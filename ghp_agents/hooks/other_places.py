"""The worktrees that an event is about, beside the one that its session stands in.

Before an edit these are the worktrees of its files. After a step they are also those that the
step's commands name. A command can hide where it writes; then nothing is found here.
"""

from ghp_agents.hooks.event import EDITED, RAN
from ghp_agents.hooks.paths import is_same, place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ghp_agents.hooks.event import Event
    from ghp_agents.hotpath.locate import Location

PLACES = 8  # worktrees at most
WORDS = 200  # of a command, that are looked at
ENDS = "\"'`;|&()<>=,\n\t"  # characters that end a path in a command


def of_event(event: "Event", stand: "Location | None") -> "list[Location]":
    """The other worktrees, each once. Before an edit, one of each repository is enough."""
    is_edit = event.kind == "edit"
    places: list[Location] = []
    for path in event.paths if is_edit else _used(event):
        place = place_of(path, event.cwd)
        seen = [stand, *places] if stand else places
        if place and not any(_is_known(place, x, by_clone=is_edit) for x in seen):
            places.append(place)
        if len(places) == PLACES and not is_edit:
            break
    return places


def _is_known(place: "Location", other: "Location | None", *, by_clone: bool) -> bool:
    if other is None:
        return False
    if by_clone:
        return is_same(place.common_dir, other.common_dir)
    return is_same(place.git_dir, other.git_dir)


def _used(event: "Event") -> "Iterator[str]":
    """The paths that the tools of a step edited, or that its commands name."""
    for use in event.tool_uses:
        if use.verb == EDITED:
            yield from use.what
    for use in event.tool_uses:
        if use.verb == RAN:
            for line in use.what:
                yield from _named(line)


def _named(line: str) -> "list[str]":
    text = line[:16_384].translate(dict.fromkeys(map(ord, ENDS), " "))
    words = dict.fromkeys(text.split())
    return [word for word in words if "/" in word or word == ".." or word[0] == "~"][:WORDS]
