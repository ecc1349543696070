"""A Jupyter notebook after Claude Code's `NotebookEdit`, as that tool writes it."""

from ghp_agents.hooks.event import UnknownEditError, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LIMIT = 16_000_000  # bytes of a notebook
VALUES = 200_000  # in a notebook
NEW_ID = "00000000"  # the tool takes a random one


def edited_notebook(arguments: "Any", before: bytes | None) -> bytes:
    """The notebook with a cell replaced, inserted or deleted. Raises UnknownEditError."""
    if before is None or len(before) > LIMIT or before.count(b",") > VALUES:
        raise UnknownEditError("there is no notebook that can be read")
    import json

    try:
        notebook = json.loads(before, parse_float=_number)
        cells = notebook["cells"]
        _edit(notebook, cells, arguments)
        written = json.dumps(notebook, indent=1, ensure_ascii=False)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnknownEditError(f"it is not a notebook: {type(error).__name__}") from None
    content = written.encode("utf-8", "surrogatepass")
    return content.replace(b"\n", b"\r\n") if b"\r\n" in before[:4096] else content


def _edit(notebook: "dict[str, Any]", cells: "list[Any]", arguments: "Any") -> None:
    mode = text(arguments, "edit_mode") or "replace"
    name, source = text(arguments, "cell_id"), text(arguments, "new_source")
    if mode == "insert":
        at = _position(cells, name) + 1 if name else 0
        cells.insert(at, _new_cell(notebook, text(arguments, "cell_type"), source))
        return
    at = _position(cells, name)
    if mode == "delete":
        del cells[at]
    elif mode == "replace":
        _replace(cells[at], text(arguments, "cell_type"), source)
    else:
        raise UnknownEditError("the notebook's edit is of no known kind")


def _position(cells: "list[Any]", name: str) -> int:
    """The index of the cell with this id; `cell-N` counts from 0."""
    for at, cell in enumerate(cells):
        if isinstance(cell, dict) and cell.get("id") == name and name:
            return at
    number = name.removeprefix("cell-")
    if number != name and number.isdecimal() and len(number) < 7 and int(number) < len(cells):
        return int(number)
    raise UnknownEditError("the notebook has no such cell")


def _replace(cell: "dict[str, Any]", kind: str, source: str) -> None:
    cell["source"] = source
    if cell.get("cell_type") == "code":
        cell["execution_count"], cell["outputs"] = None, []
    if kind:
        cell["cell_type"] = kind


def _new_cell(notebook: "dict[str, Any]", kind: str, source: str) -> "dict[str, Any]":
    if not kind:
        raise UnknownEditError("the new cell has no type")
    version = notebook.get("nbformat", 4), notebook.get("nbformat_minor", 0)
    cell: dict[str, Any] = {"cell_type": kind}
    if version >= (4, 5):
        cell["id"] = NEW_ID
    cell.update(source=source, metadata={})
    if kind == "code":
        cell.update(execution_count=None, outputs=[])
    return cell


def _number(written: str) -> float:
    """A number as JavaScript writes it: 1.0 becomes 1."""
    number = float(written)
    return int(number) if number.is_integer() and abs(number) < 1e21 else number
