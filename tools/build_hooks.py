"""What the build adds to pyproject.toml: where the extra `memory` comes from, and the man pages.

hatchling runs it. A checkout has the package of the extra in `memory/`, and pip takes it from
there. A release (GHP_AGENTS_RELEASE=1) names it as the index has it; docs/design/023-packages.md.
"""

import os
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

MEMORY = "ghp-agents-memory"


class Extras(MetadataHookInterface):
    """The extras of pyproject.toml; in a checkout, `ghp-agents-memory` is its folder `memory/`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the extras to the project's metadata."""
        folder = Path(self.root, "memory")
        local = folder.is_dir() and not os.environ.get("GHP_AGENTS_RELEASE")
        here = f"{MEMORY} @ {folder.as_uri()}"
        metadata["optional-dependencies"] = {
            extra: [here if local and each.startswith(MEMORY) else each for each in needed]
            for extra, needed in self.config["extras"].items()
        }
