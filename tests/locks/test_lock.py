"""A lease: its names, its successors, and how it is written down."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.errors import ExitCode, RefusedError, UsageError
from ghp_agents.core.ids import Timestamp
from ghp_agents.locks.lock import (
    KINDS,
    Lock,
    LockMovedError,
    checked_lock_name,
    decode,
    encode,
    given_back,
    revision,
    taken,
)
from ghp_agents.state.cause import RELEASED, Cause

AT = Timestamp("2025-06-15T15:06:40Z")
HELD = Lock("issue/12", "worker-1", 3, 2, AT, "n3", "why", "r3")

GOOD_NAMES = [
    "trunk",
    "numbers",
    "issue/12",
    "issue/e-3f9a",
    "path/0a.b_c",
    "name/staging",
    "a",
    "lock",
    "a.locked",
]
BAD_NAMES = [
    "", "issue", "path", "issue/", "/12", "issue//12", "issue/1/2", "trunk/1", "Trunk", "issue/É",
    "name", "name/", "name/a/b",
    "a..b", ".a", "a.", "a.lock", "issue/1.lock", "-a", "a b", "a\n", "a\0", "a~1", "a^", "a:b",
    "a?", "a*", "a[", "a\\b", "@", "a@{1}", "../../x", "issue/../x", "x" * 101,
]  # fmt: skip


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_a_word_names_a_right_and_a_kind_with_a_word_names_one_of_many(name: str) -> None:
    assert checked_lock_name(name) == name


@pytest.mark.parametrize("name", BAD_NAMES)
def test_whatever_is_no_ref_or_a_folder_of_refs_is_no_name(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        checked_lock_name(name)
    assert caught.value.hint == (
        "Use a-z, 0-9, '.', '_' and '-', with a prefix of issue/ or path/ or name/ or inbox/ or "
        "agent/ if needed: issue/12."
    )


@given(st.text(max_size=12), st.text(max_size=12))
def test_no_name_is_a_folder_of_another(one: str, other: str) -> None:
    names = []
    for text in (one, other, f"issue/{one}", f"{one}/{other}", *KINDS):
        try:
            names.append(checked_lock_name(text))
        except UsageError:
            continue
    assert not any(a.startswith(f"{b}/") for a in names for b in names)


def test_the_first_to_take_a_right_gets_generation_1() -> None:
    assert taken("trunk", "worker-1", None, at=AT, nonce="n", epoch=4, reason="a\nb") == Lock(
        "trunk", "worker-1", 1, 4, AT, "n", "a b", "n"
    )


def test_each_acquisition_gets_the_next_generation() -> None:
    new = taken("issue/12", "Ann  Example", HELD, at=AT, nonce="n4")
    assert (new.holder, new.generation, new.epoch, new.nonce) == ("Ann  Example", 4, 0, "n4")


def test_a_generation_that_could_not_be_read_again_is_never_given() -> None:
    last = HELD._replace(generation=2**53 - 1)
    assert decode(encode(last), "r").generation == last.generation
    with pytest.raises(RefusedError) as caught:
        taken("issue/12", "worker-2", last, at=AT, nonce="n4")
    assert str(caught.value) == (
        "The lock issue/12 can no longer be acquired: generation 9007199254740991 is the last."
    )
    assert caught.value.hint is not None
    assert "Delete its ref" in caught.value.hint


def test_a_release_keeps_the_generation_and_names_no_holder() -> None:
    held = HELD._replace(patterns=("src/",))
    free = given_back("issue/12", held, "n4", "done")
    assert free == HELD._replace(
        holder=None, nonce="n4", reason="done", revision="n4", cause=RELEASED
    )
    assert taken("issue/12", "worker-2", free, at=AT, nonce="n5").generation == 4


@pytest.mark.parametrize("holder", ["", "  ", "a\nb", "a\x1b[31m", "x" * 201])
def test_what_is_no_name_holds_nothing(holder: str) -> None:
    with pytest.raises(UsageError, match="cannot hold a lock"):
        taken("trunk", holder, None, at=AT, nonce="n")


def test_a_reason_is_one_line_of_at_most_500_characters() -> None:
    assert len(taken("trunk", "w", None, at=AT, nonce="n", reason="x" * 10**7).reason) == 500
    assert given_back("issue/12", HELD, "n", "a\r\nb\x07c").reason == "a b c"


def test_who_has_no_epoch_is_a_person_whose_rights_do_not_lapse() -> None:
    assert not HELD.is_person
    assert HELD._replace(epoch=0).is_person
    assert not HELD._replace(epoch=0, holder=None).is_person  # it is nobody's


def test_a_lease_of_paths_says_which() -> None:
    lease = taken("path/0a", "w", None, at=AT, nonce="n", patterns=["src/", "!a.py"])
    assert lease.patterns == ("src/", "!a.py")
    assert json.loads(encode(lease))["patterns"] == ["src/", "!a.py"]


def test_the_revision_of_nothing_is_empty() -> None:
    assert (revision(None), revision(HELD)) == ("", "r3")


def test_a_lease_is_readable_json_without_its_revision() -> None:
    assert encode(HELD).decode() == (
        "{\n"
        '  "acquiredAt": "2025-06-15T15:06:40Z",\n'
        '  "cause": {\n'
        '    "kind": "claim"\n'
        "  },\n"
        '  "epoch": 2,\n'
        '  "generation": 3,\n'
        '  "holder": "worker-1",\n'
        '  "name": "issue/12",\n'
        '  "nonce": "n3",\n'
        '  "reason": "why",\n'
        '  "schemaVersion": 1\n'
        "}\n"
    )


@pytest.mark.slow
@given(
    st.builds(
        Lock,
        name=st.sampled_from(GOOD_NAMES),
        holder=st.none()
        | st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=20),
        generation=st.integers(1, 2**53 - 1),
        epoch=st.integers(0, 2**53 - 1),
        acquired_at=st.just(AT),
        nonce=st.text(max_size=32),
        reason=st.text(max_size=20),
        cause=st.builds(Cause, st.text(min_size=1), st.text(), st.text()),
        clone=st.text(),
        until=st.none() | st.just(AT),
        revision=st.just("r"),
        patterns=st.lists(st.sampled_from(["src/x/", "/a.py", "*.md"]), unique=True).map(tuple),
    )
)
def test_what_is_written_is_read_again(lease: Lock) -> None:
    assert decode(encode(lease), "r") == lease


def test_fields_of_a_newer_version_are_passed_over() -> None:
    newer = json.dumps(json.loads(encode(HELD)) | {"colour": "red"})
    assert decode(newer.encode(), "r3") == HELD


def written(**changes: object) -> bytes:
    """A lease as a hand might have changed it."""
    return json.dumps(json.loads(encode(HELD)) | changes).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'"lease"',
        b"{}",
        b"[" * 100_000,
        encode(HELD)[:40],
        written(holder=7),
        written(holder=[]),
        written(holder=0),
        written(holder=" "),
        written(patterns=[" "]),
        written(patterns=["a", "["]),
        written(patterns=["!a"]),
        written(holder="a\x1b[31m"),
        written(holder="x" * 201),
        written(holder=["worker-1"]),
        written(name=None),
        written(nonce=1),
        written(reason={"a": 1}),
        written(acquiredAt=1750000000),
        written(generation=0),
        written(generation=True),
        written(generation="3"),
        written(generation=2.0),
        written(generation=2**53),
        written(epoch=-1),
        written(patterns=7),
        written(patterns=["a", 7]),
        written(patterns="src/"),
        written(patterns={"a": 1}),
    ],
)
def test_what_is_no_lease_is_told_from_one(data: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        decode(data, "r")


def test_who_is_too_late_is_told_who_holds_the_right_since_when() -> None:
    error = LockMovedError("issue/12", HELD)
    assert (str(error), error.hint, error.exit_code, error.current) == (
        "issue/12 is held by worker-1 since 2025-06-15T15:06:40Z (generation 3).",
        "Read it again, then decide again.",
        ExitCode.REFUSED,
        HELD,
    )


def test_who_is_too_late_for_a_free_right_is_told_that_it_moved() -> None:
    free = given_back("issue/12", HELD, "n4")
    assert str(LockMovedError("issue/12", free)) == "Somebody else changed issue/12."
    assert str(LockMovedError("issue/12", None)) == "Somebody else changed issue/12."
