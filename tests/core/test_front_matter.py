"""Documents: what was written is read back, whatever it holds, and what is broken says so."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.front_matter import HAND_WRITTEN_LIMIT, Document, parse, render

BODIES = st.text().map(lambda text: f"{text}\n")  # a body ends with a newline
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
NAMES = st.sampled_from(("id", "agent", "askedAt", "issue", "options", "x_1"))
FIELDS = st.dictionaries(NAMES, VALUES)


@pytest.mark.slow
@given(FIELDS, BODIES)
def test_a_document_is_read_back_as_it_was_written(fields: dict[str, object], body: str) -> None:
    document = Document(fields, body)
    assert parse(render(document)) == document


@pytest.mark.slow
@given(FIELDS)
def test_every_reader_of_yaml_reads_the_same_fields(fields: dict[str, object]) -> None:
    _, head, _ = render(Document(fields, "")).decode().split("---\n")
    assert yaml.safe_load(head) == {"schemaVersion": 1, **fields}


@pytest.mark.parametrize("text", ["---", "---\n", "a\n---\nb: 1\n---\n", "...", "- x", "b: 2\n---"])
def test_what_looks_like_front_matter_stays_where_it_was_said(text: str) -> None:
    document = Document({"a": text}, f"{text}\n")
    assert parse(render(document)) == document


def test_front_matter_written_by_hand_is_read_as_yaml() -> None:
    data = b"---\r\n# by hand\r\nname: no dash\r\nlist:\r\n  - a\r\n---\r\n\r\nBody.\r\n"
    assert parse(data) == Document({"name": "no dash", "list": ["a"]}, "Body.\n")


def test_line_ends_in_a_body_of_ours_stay_as_they_were_said() -> None:
    document = Document({"a": "x\r\ny"}, "diff --git\r\n+one\r\n-two\r")
    assert parse(render(document)) == Document(document.meta, f"{document.body}\n")


def test_a_mark_at_the_beginning_by_an_editor_is_no_text() -> None:
    assert parse(b"\xef\xbb\xbf---\nname: x\n---\nBody.\n") == Document({"name": "x"}, "Body.\n")


def test_a_date_written_by_hand_is_read_as_text() -> None:
    data = b"---\n# by hand\nday: 2025-01-25\nat: 2025-01-25T10:30:00Z\nin: [2025-01-25]\n---\n"
    assert parse(data).meta == {
        "day": "2025-01-25",
        "at": "2025-01-25T10:30:00+00:00",
        "in": ["2025-01-25"],
    }


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no front matter: the first line is not `---`"),
        (b"hello\n", "no front matter: the first line is not `---`"),
        (b"---\na: 1\n", "the front matter has no end: no second `---`"),
        (b"---\na: 1\n--- \n", "the front matter has no end: no second `---`"),
        (b"---\na: [1\n---\n", "the front matter is not YAML: while parsing a flow sequence"),
        (b"---\n- a\n---\n", "the front matter is not a list of fields"),
        (b"---\na: \x80\n---\n", "not UTF-8 text (byte 7)"),
        (b"---\na: !!python/name:os.system\n---\n", "the front matter is not YAML: could not"),
        (b"---\na: " + b"[" * 7_000 + b"\n---\n", "the front matter is nested too deep"),
        (b"---\na: " + b"[" * 3_000 + b"]" * 3_000 + b"\n---\n", "the front matter is nested too"),
        (b"---\na: " + b"[" * 100_000 + b"\n---\n", f"the front matter has more than {8_000}"),
        (b"---\na:\n  " + b"- " * 3_900 + b"\n---\n", "the front matter is nested too deep"),
        (b"---\na: &x [1]\nb: *x\n---\n", "the front matter has an alias"),
        (b"---\na: &x [*x]\n---\n", "the front matter has an alias"),
        (b"---\na: !!binary aGk=\n---\n", "the front matter is not what JSON can hold: bytes"),
        (b"---\na: !!set {b}\n---\n", "the front matter is not what JSON can hold: set"),
        (b"---\n2025-01-25: x\n---\n", "the front matter is not what JSON can hold: keys must"),
        (b"---\na: .nan\n---\n", "Out of range float values are not JSON compliant"),
        (b"---\na: " + b"9" * 5_000 + b"\n---\n", "Exceeds the limit"),
        (b"---\na: 2025-99-99\n---\n", "month must be in 1..12"),
    ],
)
def test_a_broken_document_is_an_error_with_a_reason(data: bytes, reason: str) -> None:
    assert HAND_WRITTEN_LIMIT == 8_000
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole reason is compared below
        parse(data)
    assert str(caught.value).startswith(reason)


def test_our_own_front_matter_may_be_of_any_size() -> None:
    document = Document({"a": "x" * 1_000_000, "b": [1] * 100_000}, "")
    assert parse(render(document)) == document
