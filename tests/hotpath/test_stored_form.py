"""Content as git would store it, as git itself shows."""

from pathlib import Path

import pytest

from ghp_agents.hotpath import stored_form
from tests.support.git import git

CRLF, MIXED = b"a\r\nb\r\n", b"a\r\nb\n"
UNSPECIFIED = dict.fromkeys(stored_form.ATTRIBUTES, "unspecified")


@pytest.mark.parametrize("attributes", ["", "text", "-text", "text=auto", "eol=crlf", "eol=lf",
    "crlf", "-crlf", "crlf=input", "text=auto eol=crlf", "binary"])  # fmt: skip
@pytest.mark.parametrize("autocrlf", ["true", "input", "false"])
@pytest.mark.parametrize("content", [CRLF, MIXED, b"a\n", b"a\0\r\n", b"a\rb\r\n", b"\x01\r\n"])
def test_line_ends_are_converted_as_git_does(
    repo: Path, attributes: str, autocrlf: str, content: bytes
) -> None:
    (repo / ".gitattributes").write_text(f"a {attributes}\n")
    (repo / "a").write_bytes(content)
    git(repo, "config", "core.autocrlf", autocrlf)
    shown = git(repo, "check-attr", "-z", *stored_form.ATTRIBUTES, "--", "a").encode()
    endings = stored_form.line_endings(stored_form.read_attributes(shown), autocrlf)
    ours = stored_form.stored(content, endings, None)
    (repo / "ours").write_bytes(ours)
    git(repo, "config", "core.safecrlf", "false")
    assert git(repo, "hash-object", "--no-filters", "ours") == git(repo, "hash-object", "a")


def test_a_file_that_has_crlf_already_keeps_it_where_git_decides_by_content() -> None:
    assert stored_form.stored(CRLF, "auto", b"x\r\n") == CRLF
    assert stored_form.stored(CRLF, "auto", b"x\n") == b"a\nb\n"
    assert stored_form.stored(CRLF, "lf", b"x\r\n") == b"a\nb\n"


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("merge", "set", ""), ("merge", "text", ""), ("merge", "union", ""),
        ("merge", "unset", "its attributes say that it is not merged"),
        ("merge", "ours", "it has a merge driver of its own"),
        ("filter", "lfs", "it has a filter"), ("filter", "unset", ""),
        ("ident", "set", "it has the attribute ident"),
        ("working-tree-encoding", "UTF-16", "it is stored in another encoding"),
    ],
)  # fmt: skip
def test_attributes_rule_out_a_merge_by_lines(name: str, value: str, reason: str) -> None:
    attributes = UNSPECIFIED | {name: value}
    assert stored_form.whole_reason(attributes) == reason
    assert stored_form.is_union(attributes) == (value == "union")


def test_missing_attributes_are_unspecified() -> None:
    assert stored_form.read_attributes(b"") == UNSPECIFIED
    assert stored_form.read_attributes(b"a\0text\0set\0a\0x")["text"] == "set"
