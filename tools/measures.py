"""The measures of the package's structure, as a table: `python -m tools.measures [FOLDER]`.

Run it on two checkouts to compare them. It reads the source and runs nothing of it. With `--git` it
runs the commands of this checkout instead, and shows the git processes of each.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tools import processes

PACKAGE = "ghp_agents"
VAGUE = ("asked", "each", "found", "had", "known", "made", "there")  # docs/STYLE.md
NOT_NOUNS = {"cli", "hooks", "demo", "core", "git", "hotpath"}  # faces, and ground


def main() -> None:
    """Print the table of a checkout, by default this one; with `--git` that of git processes."""
    if sys.argv[1:] == ["--git"]:
        print("\n".join(processes.table(processes.count_all(), detailed=True)))
        return
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / PACKAGE
    print("| measure | value |\n|---|---|")
    for name, value in measures(root).items():
        print(f"| {name} | {value} |")


def measures(root: Path) -> dict[str, str]:
    """The measures of a package, by their names."""
    files = {path: path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in files.items()}
    folders = Counter(path.parent for path in files if path.name != "__init__.py")
    largest, count = folders.most_common(1)[0]
    nouns = {path: many for path, many in folders.items() if not NOT_NOUNS & {*path.parts}}
    classes = [node.name for tree in trees.values() for node in tree.body
               if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]  # fmt: skip
    shared = sum(many for many in Counter(classes).values() if many > 1)
    names = Counter(name for tree in trees.values() for name in bindings(tree))
    return {
        "files": str(len(files)),
        "lines": f"{sum(text.count(chr(10)) for text in files.values()):,}",
        "largest folder": f"{count} ({largest.relative_to(root.parent)})",
        "largest folder of a noun": str(max(nouns.values())),
        "files in the package's root": str(folders[root] + 1),
        "public classes that share a name": f"{shared} of {len(classes)}",
        "bindings of `said`, `told`": f"{names['said']}, {names['told']}",
        "bindings of vague names": str(sum(names[name] for name in VAGUE)),
        "longest import chain": str(longest_chain(root, trees)),
    }


def bindings(tree: ast.Module) -> Iterator[str]:
    """Each name that is bound: variables, parameters, loop targets, names in patterns."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.MatchAs) and node.name:
            yield node.name


def longest_chain(root: Path, trees: dict[Path, ast.Module]) -> int:
    """The modules in the longest chain in which each imports the next one when it is loaded."""
    modules = {_module(root, path): tree for path, tree in trees.items()}

    def imported(name: str) -> set[str]:
        found: set[str] = set()
        for node in modules[name].body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    found.add(inner if inner in modules else str(node.module))
        return found & modules.keys() - {name}

    @cache
    def depth(name: str) -> int:
        return 1 + max(map(depth, imported(name)), default=0)

    return max(map(depth, modules))


def _module(root: Path, path: Path) -> str:
    parts = path.relative_to(root.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


if __name__ == "__main__":
    main()
