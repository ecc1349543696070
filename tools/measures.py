"""The measures of the package's structure, as a table: `python -m tools.measures [FOLDER]`.

Run it on two checkouts to compare them. It reads the source and runs nothing of it. With `--git` it
runs the commands of this checkout instead, and shows the git processes of each. With `--commands`
it shows what each asks of the state, of git and of the disk; with names of some, such as
`--commands agent-claim`, also the places that ask.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tools import costs, processes

PACKAGE = "ghp_agents"
HUBS = ("sync", "doctor", "sweep")  # of the jobs: what touches many nouns
VAGUE = ("asked", "each", "found", "had", "known", "made", "there")  # docs/STYLE.md
NOT_NOUNS = {"cli", "hooks", "demo", "core", "git", "hotpath"}  # faces, and ground


def main() -> None:
    """Print the table of a checkout, by default this one; with `--git` that of git processes, with
    `--commands` that of what commands ask for."""
    if sys.argv[1:] == ["--git"]:
        print("\n".join(processes.table(processes.count_all(), detailed=True)))
        return
    if sys.argv[1:2] == ["--commands"]:
        names = sys.argv[2:]
        print("\n".join(costs.table(costs.count_all(names), detailed=bool(names))))
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
    lines = [line for text in files.values() for line in text.splitlines()]
    comments = sum(line.lstrip().startswith("#") for line in lines)
    ports = (root / "ports.py").relative_to(root.parent)
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
        "statements": f"{sum(statements(tree) for tree in trees.values()):,}",
        "`# fmt: skip`": str(sum(line.count("# fmt: skip") for line in lines)),
        "lines with nothing but a comment": f"{comments / len(lines):.2%}",
        f"ports in {ports}": str(protocols(trees[root / "ports.py"])),
        "parts that `sync/`, `doctor/`, `sweep/` import": ", ".join(
            str(len(imported_parts(root, trees, hub))) for hub in HUBS
        ),
    }


def statements(tree: ast.Module) -> int:
    """The statements of a module, however they share lines. Docstrings do not count, nor does any
    other text that stands alone."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    return sum(not _is_text(node) for node in nodes)


def _is_text(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def protocols(tree: ast.Module) -> int:
    """The classes of a module that are a Protocol."""
    bases = [base for node in tree.body if isinstance(node, ast.ClassDef) for base in node.bases]
    return sum(ast.unparse(base).partition("[")[0] == "Protocol" for base in bases)


def imported_parts(root: Path, trees: dict[Path, ast.Module], hub: str) -> set[str]:
    """The folders and files in the package's root that a folder's modules import by name, late or
    for types only also; without the folder itself."""
    names = [
        name
        for path, tree in trees.items()
        if path.is_relative_to(root / hub)
        for node in ast.walk(tree)
        for name in _imports(node)
    ]
    parts = {found[1] for name in names if (found := re.match(rf"{PACKAGE}\.(\w+)", name))}
    return parts - {hub}


def _imports(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom) and node.module:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


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
