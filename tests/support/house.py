"""Reading the source as the house rules do: modules, their syntax trees, and who is who in them."""

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Source:
    """A file of the checkout, by its path from the top."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree of a Python file."""
        return ast.parse(self.text, self.path)

    @cached_property
    def lines(self) -> list[str]:
        """The file's lines, without their ends."""
        return self.text.splitlines()

    def at(self, line: int) -> str:
        """One offence: where it is, and the line itself."""
        text = self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""
        return f"{self.path}:{line}: {text}".rstrip(": ")


def sources(*folders: str, suffix: str = "") -> list[Source]:
    """The text files under `folders` that are in git or would be with the next commit."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--"]
    listed = subprocess.run(
        [*command, *folders], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    paths = []
    for name in sorted({*listed.stdout.split("\0")} - {""}):
        content = _text(CHECKOUT / name) if name.endswith(suffix) else None
        if content is not None:
            paths.append(Source(name, content))
    return paths


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
        return None  # a picture, or a file deleted but not yet committed


def imports(source: Source) -> Iterator[tuple[int, str]]:
    """Every module that is imported, late or not, with the line."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def calls(source: Source) -> Iterator[tuple[int, str]]:
    """Every call, by the dotted name as it is written, with the line."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call):
            yield node.lineno, ast.unparse(node.func)


def broad_excepts(source: Source) -> Iterator[tuple[int, str]]:
    """Every `except` that catches what nobody named, with the function it is in."""
    yield from _broad(source.tree, "")


def _broad(node: ast.AST, function: str) -> Iterator[tuple[int, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ExceptHandler) and _is_broad(child.type):
            yield child.lineno, function
        named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        yield from _broad(child, getattr(child, "name", "") if named else function)


def _is_broad(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(_is_broad(x) for x in caught.elts)
    return caught is None or ast.unparse(caught) in ("Exception", "BaseException")
