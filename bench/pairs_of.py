"""`python -m bench.pairs_of REPOSITORY [OUTPUT]`: pairs of concurrent changes from any history.

Writes them as `bench/pairs/README.md` says, or replays them if no output is named.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench import effect, merging, pair, report
from bench.pair import ABSENT, Hunk
from bench.place import git, temporary

APART = 24  # commits of the main line between the two
MOST = 150  # pairs
FILES = 60  # of a commit; one with more is no change of an agent
HEAD = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
KINDS = {"new file mode": "A", "deleted file mode": "D"}


class Commit(NamedTuple):
    """A commit of the main line, and the paths that it changes."""

    name: str
    before: str
    paths: frozenset[str]


class Difference(NamedTuple):
    """What a change does to one file."""

    kind: str
    lines: int  # of the file before; ABSENT if it was not there
    hunks: list[Hunk]


Change = dict[str, Difference]  # by path


def main() -> int:
    """Make the pairs; replay them if no output is named."""
    parser = argparse.ArgumentParser(prog="python -m bench.pairs_of", description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("output", type=Path, nargs="?")
    parser.add_argument("--most", type=int, default=MOST, metavar="N", help="pairs, evenly chosen")
    given = parser.parse_args()
    with temporary(quick=False) as place:
        document = pairs_of(given.repository.resolve(), place.new("pairs"), given.most)
        path = given.output or place.folder / "history.json"
        path.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")
        if given.output:
            return 0
        figures = effect.figures(place, {"history": pair.load(path)})
    sys.stdout.write(report.table(figures) + "\n")
    return 1 if report.broken(figures, quick=False) else 0


def pairs_of(source: Path, folder: Path, most: int) -> dict[str, Any]:
    """The pairs of the history of `source`, which is only read."""
    repository = merging.new_repository(folder / "pairs.git")
    common = git(source, "rev-parse", "--path-format=absolute", "--git-common-dir")
    (repository / "objects/info/alternates").write_text(f"{common}/objects\n")
    candidates = list(_candidates(list(_main_line(source))))
    chosen = candidates[:: max(1, len(candidates) // most)][:most]
    # The base: what the later was put on, without the earlier.
    bases = _merge(
        repository, [(one.name, two.before, one.before) for one, two, _ in chosen]
    )  # the tree, and whether it conflicts
    usable = [(*each, tree) for each, (tree, torn) in zip(chosen, bases, strict=True) if not torn]
    later = _merge(repository, [(two.before, tree, two.name) for _, two, _, tree in usable])
    pairs = []
    for (_, two, apart, base), (tree, torn) in zip(usable, later, strict=True):
        first = _changes(repository, base, two.before)
        second = (
            _mapped(first, _changes(repository, two.before, two.name))
            if torn
            else _changes(repository, base, tree)
        )
        files = _files(first, second)
        if files:
            pairs.append({"conflict": torn, "apart": apart, "files": files})
    return {"pairs": pairs, "skipped": len(chosen) - len(usable)}


def _main_line(source: Path) -> Iterator[Commit]:
    """The commits of the main line, oldest first."""
    form = "--format=%x00%H %P"
    options = ["--first-parent", "--reverse", "-m", "--name-only", "--no-renames"]
    for block in git(source, "log", *options, form).split("\0")[1:]:
        head, *paths = block.splitlines()
        name, *parents = head.split()
        if parents:
            yield Commit(name, parents[0], frozenset(path for path in paths if path))


def _candidates(line: Sequence[Commit]) -> Iterator[tuple[Commit, Commit, int]]:
    for number, two in enumerate(line):
        for apart in range(1, min(APART, number) + 1):
            one = line[number - apart]
            if one.paths & two.paths and max(len(one.paths), len(two.paths)) <= FILES:
                yield one, two, apart


def _merge(repository: Path, triples: Sequence[tuple[str, str, str]]) -> list[tuple[str, bool]]:
    """Merge two trees over a third each: base, ours, theirs. The tree, and whether it conflicts."""
    trees = _trees(repository, [name for triple in triples for name in triple])
    stream, mark = [], 0
    for base, ours, theirs in triples:
        stream += [_tree_commit(mark + 1, trees[base], None)]
        stream += [
            _tree_commit(mark + number, trees[name], mark + 1)
            for number, name in ((2, ours), (3, theirs))
        ]
        mark += 3
    names = merging.write(repository, "".join(stream).encode())
    asked = "".join(f"{names[n + 2]} {names[n + 3]}\n" for n in range(0, mark, 3))
    return [(found.tree, bool(found.paths)) for found in merging.merged(repository, asked)]


def _trees(repository: Path, names: Sequence[str]) -> dict[str, str]:
    asked = "".join(f"{name}^{{tree}}\n" for name in names)
    command = ["git", "cat-file", "--batch-check=%(objectname)"]
    done = subprocess.run(
        command, cwd=repository, input=asked, capture_output=True, text=True, check=True
    )
    return dict(zip(names, done.stdout.split(), strict=True))


def _tree_commit(mark: int, tree: str, parent: int | None) -> str:
    begin = f"from :{parent}\n" if parent else ""
    reset = "" if parent else f"reset {merging.REF}\n\n"
    head = f"commit {merging.REF}\nmark :{mark}\n{merging.WHO.decode()}data 0\n{begin}"
    return f'{reset}{head}M 040000 {tree} ""\n\n'


# ------------------------------------------------------------------------------- differences


def _changes(repository: Path, before: str, after: str) -> Change:
    options = ["-p", "-U0", "-r", "--no-renames", "--no-textconv", "--no-ext-diff", "--no-color"]
    command = ["git", "-c", "core.quotePath=false", "diff-tree", *options, before, after]
    done = subprocess.run(command, cwd=repository, capture_output=True, check=True)
    text = done.stdout.decode("utf-8", "replace")
    found = {}
    for block in re.split(r"^diff --git ", text, flags=re.MULTILINE)[1:]:
        head, body = _split(block)
        path = head[0].partition(" b/")[2]
        if body:
            kind = next((KINDS[w] for w in KINDS for each in head if each.startswith(w)), "M")
            lines = ABSENT if kind == "A" else _length(repository, before, path)
            found[path] = Difference(kind, lines, list(_hunks(body)))
    return found


def _split(block: str) -> tuple[list[str], list[str]]:
    lines = block.split("\n")
    at = next((n for n, line in enumerate(lines) if line.startswith("@@ ")), len(lines))
    return lines[:at], lines[at:]


def _hunks(body: Sequence[str]) -> Iterator[Hunk]:
    position = 0
    while position < len(body):
        match = HEAD.match(body[position])
        position += 1
        if match is None:
            continue
        line, deleted, _, added = (1 if part is None else int(part) for part in match.groups())
        text = [each for each in body[position : position + deleted + added + 2] if each[:1] == "+"]
        digest = hashlib.sha1("\n".join(text[:added]).encode()).hexdigest()[:8]
        yield Hunk(line + (not deleted), deleted, added, digest)
        position += deleted + added


def _length(repository: Path, tree: str, path: str) -> int:
    done = subprocess.run(
        ["git", "cat-file", "blob", f"{tree}:{path}"],
        cwd=repository, capture_output=True, check=True,
    )  # fmt: skip
    return done.stdout.count(b"\n") + (done.stdout[-1:] not in (b"\n", b""))


def _mapped(first: Change, second: Change) -> Change:
    """The later change in lines of the base: told back through the earlier one, approximately."""
    found = {}
    for path, change in second.items():
        earlier = first.get(path)
        if earlier is None:
            found[path] = change
            continue
        hunks, end = [], 1
        for hunk in change.hunks:
            start = max(end, _back(earlier.hunks, hunk.line))
            end = max(start, _back(earlier.hunks, hunk.line + hunk.deleted))
            hunks.append(hunk._replace(line=start, deleted=end - start))
        found[path] = Difference(change.kind, earlier.lines, hunks)
    return found


def _back(hunks: Sequence[Hunk], line: int) -> int:
    """The line of the base that became `line`."""
    shift = 0
    for hunk in hunks:
        start = hunk.line + shift
        if line < start:
            break
        if line < start + hunk.added:
            return hunk.line
        shift += hunk.added - hunk.deleted
    return line - shift


def _files(first: Change, second: Change) -> dict[str, Any]:
    found = {}
    for number, path in enumerate(sorted({*first, *second})):
        one, two = first.get(path), second.get(path)
        known = one or two
        assert known is not None
        found[str(number)] = [
            known.lines, one.kind if one else "", two.kind if two else "",
            one.hunks if one else [], two.hunks if two else [],
        ]  # fmt: skip
    return found


if __name__ == "__main__":
    sys.exit(main())
