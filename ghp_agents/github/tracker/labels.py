"""Labels on demand: those that mean something here are made with their colours when first used.

Any other label GitHub makes by itself, in grey.
"""

import json
from collections.abc import Iterable
from contextlib import suppress

from ghp_agents.core import files
from ghp_agents.github.api.errors import InvalidError
from ghp_agents.github.labels import Label, appearance
from ghp_agents.github.tracker.context import TrackerContext

_KNOWN = "hub/labels.json"  # in the folder of caches


def ensure(source: TrackerContext, names: Iterable[str]) -> list[str]:
    """Make those of our labels that are not there yet; which were made. Asks."""
    wanted = [label for name in dict.fromkeys(names) if (label := appearance(name))]
    return _made(source, wanted)


def _made(source: TrackerContext, wanted: Iterable[Label]) -> list[str]:
    known = _known(source)
    missing = [label for label in wanted if label.name.lower() not in known]
    if not missing:
        return []
    there = {str(each["name"]).lower() for each in source.hub.get_all("labels")}
    made = [label for label in missing if label.name.lower() not in there]
    for label in made:
        # Somebody else makes it at the same moment: then it is there, which is all that is wanted.
        with suppress(InvalidError):
            source.hub.write("POST", "labels", label._asdict(), there=_nothing)
    _remember(source, there | {label.name.lower() for label in missing})
    return [label.name for label in made]


def _nothing() -> None:
    """There is nothing to look for: a label that is there is not made twice."""


def _known(source: TrackerContext) -> set[str]:
    try:
        told = json.loads((source.ws.cache_dir / _KNOWN).read_bytes())
        return {str(each) for each in told[source.repository]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set()


def _remember(source: TrackerContext, names: Iterable[str]) -> None:
    content = json.dumps({source.repository: sorted(names)}).encode()
    with suppress(OSError):
        files.write_atomically(source.ws.cache_dir / _KNOWN, content)
