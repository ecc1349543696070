"""Content as git would store it, as git itself shows."""

from hashlib import sha1
from pathlib import Path

import pytest

from ghp_agents.hotpath import stored_form
from tests.support.git import git

CRLF, MIXED = b"a\r\nb\r\n", b"a\r\nb\n"
UNSPECIFIED = dict.fromkeys(stored_form.ATTRIBUTES, "unspecified")


CONTENTS = (CRLF, MIXED, b"a\n", b"a\0\r\n", b"a\rb\r\n", b"\x01\r\n")


@pytest.mark.parametrize("attributes", ["", "text", "-text", "text=auto", "eol=crlf", "eol=lf",
    "crlf", "-crlf", "crlf=input", "text=auto eol=crlf", "binary"])  # fmt: skip
@pytest.mark.parametrize("autocrlf", ["true", "input", "false"])
def test_line_ends_are_converted_as_git_does(repo: Path, attributes: str, autocrlf: str) -> None:
    """Each content is a file; git answers for all of them at once."""
    (repo / ".gitattributes").write_text(f"* {attributes}\n")
    configuration = ("-c", f"core.autocrlf={autocrlf}", "-c", "core.safecrlf=false")
    shown = git(repo, "check-attr", "-z", *stored_form.ATTRIBUTES, "--", "0").encode()
    endings = stored_form.line_endings(stored_form.read_attributes(shown), autocrlf)
    ours = {}
    for name, content in enumerate(CONTENTS):
        (repo / str(name)).write_bytes(content)
        ours[content] = object_id(stored_form.stored(content, endings, None))
    names = [*map(str, range(len(CONTENTS)))]
    theirs = git(repo, *configuration, "hash-object", "--", *names).splitlines()
    assert ours == dict(zip(CONTENTS, theirs, strict=True))


def object_id(content: bytes) -> str:
    """The id that git gives to stored content."""
    return sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()


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
