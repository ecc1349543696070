"""Tables for the width of a terminal. The only user of rich, imported late."""

from collections.abc import Iterator, Sequence
from typing import Any

LAST_COLUMN = 30  # characters; a sentence in a narrower column takes many lines
CELL_SHOWN = 30  # characters of a cell, where the last column has its own lines


def show(table: "FittingTable", coloured: bool) -> None:
    """Print a table on standard output."""
    from rich.console import Console

    Console(force_terminal=True, no_color=not coloured).print(table)


def cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def fitted(text: str, width: int, *, middle: bool = False) -> str:
    """A text cut to `width` columns of a terminal, with an ellipsis at its end or in the middle."""
    if cells(text) <= width:
        return text
    if middle and width > 6 and text.isascii():
        return f"{text[: width - width // 2 - 1]}…{text[-(width // 2) :]}"
    kept, room = "", width - 1
    for char in text:
        room -= cells(char)
        if room < 0:
            break
        kept += char
    return kept + "…" if width > 0 else ""


class FittingTable:
    """A rich table of plain text, without control characters, for the width of the terminal.

    If the last column would be narrow, empty columns are left out. If that is not enough, its text
    is on a line of its own below each row.
    """

    def __init__(
        self, columns: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[str]
    ) -> None:
        self._lines = [[*columns], *map(list, rows)]
        self._styles = ["bold", *(styles or [""] * len(rows))]

    def __rich_console__(self, _: Any, options: Any) -> Iterator[Any]:
        lines = self._lines
        if not _fits(lines, options.max_width):
            last = len(lines[0]) - 1
            kept = [at for at in range(last + 1) if at == last or any(row[at] for row in lines[1:])]
            lines = [[row[at] for at in kept] for row in lines]
        if _fits(lines, options.max_width):
            yield self._side_by_side(lines)
        else:
            yield from self._stacked(lines)

    def _side_by_side(self, lines: Sequence[Sequence[str]]) -> Any:
        from rich.table import Table
        from rich.text import Text

        grid = Table(box=None, pad_edge=False, header_style="bold")
        for column in lines[0]:
            grid.add_column(column, overflow="fold" if column == lines[0][-1] else "ellipsis")
        for row, style in zip(lines[1:], self._styles[1:], strict=True):
            grid.add_row(*(Text(cell, style=style) for cell in row))
        return grid

    def _stacked(self, lines: Sequence[Sequence[str]]) -> Iterator[Any]:
        from rich.text import Text

        widths = [min(width, CELL_SHOWN) for width in _widths(lines)]
        for row, style in zip(lines, self._styles, strict=True):
            cells = [Text(cell) for cell in row[:-1]]
            for cell, width in zip(cells, widths, strict=False):
                cell.truncate(width, overflow="ellipsis", pad=True)
            for text in (Text("  ").join(cells), Text(f"    {row[-1]}")):
                shown = text.plain.rstrip()
                if shown:
                    yield Text(shown, style=style, no_wrap=True, overflow="ellipsis")


def _widths(lines: Sequence[Sequence[str]]) -> list[int]:
    from rich.cells import cell_len

    return [max(cell_len(row[at]) for row in lines) for at in range(len(lines[0]))]


def _fits(lines: Sequence[Sequence[str]], room: int) -> bool:
    """Whether the last column has room for its text, or for enough of it to wrap."""
    *others, last = _widths(lines)
    return room - sum(others) - 2 * len(others) >= min(last, LAST_COLUMN)
