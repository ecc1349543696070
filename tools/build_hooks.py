"""What the build adds to pyproject.toml: where the extra `recall` comes from, where the project is,
and the man pages. hatchling runs it.

A checkout has the package of the extra in `recall/`, and pip takes it from there. A release, for
which GHP_AGENTS_RELEASE is the address of its repository, names it as the index has it
(docs/design/025-packages.md).
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

RECALL = "ghp-agents-recall"


class Metadata(MetadataHookInterface):
    """The extras and addresses of pyproject.toml, as they are in a checkout or in a release."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add them to the project's metadata."""
        release = os.environ.get("GHP_AGENTS_RELEASE", "")
        folder = Path(self.root, "recall")
        local = folder.is_dir() and not release
        here = f"{RECALL} @ {folder.as_uri()}"
        metadata["optional-dependencies"] = {
            extra: [here if local and each.startswith(RECALL) else each for each in needed]
            for extra, needed in self.config["extras"].items()
        }
        metadata["urls"] = {
            name: address.format(repository=release)
            for name, address in self.config["urls"].items()
            if release.startswith("https://") or "{repository}" not in address
        }


class ManPages(BuildHookInterface[Any]):
    """Adds the man pages to a wheel; an editable installation has none."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the pages, from the commands as they are here."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory(prefix="ghp-man.")
        command = [sys.executable, "-m", "tools.man_pages", self._folder.name]
        subprocess.run([*command, self.metadata.version], cwd=self.root, check=True)
        for page in sorted(Path(self._folder.name).iterdir()):
            build_data["shared_data"][str(page)] = f"share/man/man1/{page.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the pages; the wheel has them."""
        if version != "editable":
            self._folder.cleanup()
