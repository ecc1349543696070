"""Creates our labels with their colours when they are first used.

GitHub itself creates any other label, in grey.
"""

from collections.abc import Iterable
from contextlib import suppress

from ghp_agents.core.json_file import JsonFile
from ghp_agents.github.api.errors import InvalidError
from ghp_agents.github.labels import Label, appearance
from ghp_agents.github.tracker.context import TrackerContext

_KNOWN = "hub/labels.json"  # in the folder of caches


def ensure(context: TrackerContext, names: Iterable[str]) -> list[str]:
    """Create those of our labels that are missing; return the created names. Sends requests."""
    wanted = [label for name in dict.fromkeys(names) if (label := appearance(name))]
    return _create_missing(context, wanted)


def _create_missing(context: TrackerContext, wanted: Iterable[Label]) -> list[str]:
    cached = _known(context).read()
    missing = [label for label in wanted if label.name.lower() not in cached]
    if not missing:
        return []
    existing = {str(entry["name"]).lower() for entry in context.hub.get_all("labels")}
    created = [label for label in missing if label.name.lower() not in existing]
    for label in created:
        # Refused if somebody else creates it at the same moment; then it exists, too.
        with suppress(InvalidError):
            context.hub.write("POST", "labels", label._asdict(), find_existing=_skip_lookup)
    names = existing | {label.name.lower() for label in missing}
    _known(context).write({context.repository: sorted(names)})
    return [label.name for label in created]


def _skip_lookup() -> None:
    """No lookup: a duplicate label is refused anyway."""


def _known(context: TrackerContext) -> JsonFile[set[str]]:
    return JsonFile(
        context.ws.cache_dir / _KNOWN,
        lambda data: {str(name) for name in data[context.repository]},
        set,
    )
