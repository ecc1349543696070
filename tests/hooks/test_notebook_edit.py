"""Cells of a notebook are replaced, inserted and deleted as Claude Code writes them."""

import json
from typing import Any

import pytest

from ghp_agents.hooks.event import UnknownEditError
from ghp_agents.hooks.notebook_edit import edited_notebook

CODE: dict[str, Any] = {
    "cell_type": "code", "id": "one", "source": ["x"], "metadata": {}, "execution_count": 3,
    "outputs": [{"data": "é"}],
}  # fmt: skip
MARKDOWN: dict[str, Any] = {"cell_type": "markdown", "id": "two", "source": "t", "metadata": {}}


def book(*cells: dict[str, Any], minor: int = 5) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": minor}


def written(notebook: dict[str, Any]) -> bytes:
    return json.dumps(notebook, indent=1, ensure_ascii=False).encode()


def edit(notebook: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    after = edited_notebook(arguments, json.dumps(notebook).encode())
    edited: dict[str, Any] = json.loads(after)
    assert after == written(edited)
    return edited


def test_a_replaced_cell_loses_its_outputs() -> None:
    after = edit(book(CODE, MARKDOWN), cell_id="one", new_source="y")
    assert after == book(CODE | {"source": "y", "execution_count": None, "outputs": []}, MARKDOWN)
    assert edit(book(CODE, MARKDOWN), cell_id="cell-1", new_source="u", edit_mode="replace") == (
        book(CODE, MARKDOWN | {"source": "u"})
    )
    assert edit(book(MARKDOWN), cell_id="two", new_source="u", cell_type="raw") == (
        book(MARKDOWN | {"source": "u", "cell_type": "raw"})
    )


def test_a_new_cell_comes_after_the_named_one_or_first() -> None:
    given = {"new_source": "n", "cell_type": "markdown", "edit_mode": "insert"}
    new = {"cell_type": "markdown", "id": "0" * 8, "source": "n", "metadata": {}}
    assert edit(book(CODE, MARKDOWN), cell_id="one", **given) == book(CODE, new, MARKDOWN)
    assert edit(book(CODE), **given) == book(new, CODE)
    del new["id"]
    assert edit(book(minor=4), **given) == book(new, minor=4)


def test_a_deleted_cell_is_gone() -> None:
    assert edit(book(CODE, MARKDOWN), cell_id="one", edit_mode="delete") == book(MARKDOWN)


def test_numbers_are_written_as_in_javascript() -> None:
    before = b'{"cells": [{"id": "a", "cell_type": "raw"}], "x": 1.0, "y": 0.5}'
    after = edited_notebook({"cell_id": "a", "new_source": "s"}, before)
    assert after.decode() == (
        '{\n "cells": [\n  {\n   "id": "a",\n   "cell_type": "raw",\n   "source": "s"\n  }\n ],\n'
        ' "x": 1,\n "y": 0.5\n}'
    )


@pytest.mark.parametrize(
    ("before", "arguments", "why"),
    [
        (None, {}, "there is no notebook that can be read"),
        (b"," * 200_001, {}, "there is no notebook that can be read"),
        (b"{", {}, "it is not a notebook: JSONDecodeError"),
        (b"[]", {}, "it is not a notebook: TypeError"),
        (b"{}", {}, "it is not a notebook: KeyError"),
        (b"[" * 50_000, {}, "it is not a notebook: RecursionError"),
        (b'{"cells": [7]}', {"cell_id": "cell-0"}, "it is not a notebook: TypeError"),
        (written(book()), {"cell_id": "x"}, "the notebook has no such cell"),
        (written(book()), {"edit_mode": "insert"}, "the new cell has no type"),
        (written(book(CODE)), {"cell_id": "one", "edit_mode": "swap"},
         "the notebook's edit is of no known kind"),
    ],
)  # fmt: skip
def test_an_edit_of_no_notebook_or_cell_is_unknown(
    before: bytes | None, arguments: dict[str, Any], why: str
) -> None:
    with pytest.raises(UnknownEditError) as caught:
        edited_notebook(arguments, before)
    assert str(caught.value) == why
