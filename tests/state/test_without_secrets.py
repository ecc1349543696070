"""What nobody typed is stored without secrets, and stays what it is."""

import json

import pytest

from ghp_agents.state import without_secrets

SECRET = "ghp_" + "a1B2c3D4e5" * 4


def test_a_secret_is_taken_out_of_a_text_and_the_rest_stays() -> None:
    assert without_secrets.clean_text(f"fix-{SECRET}") != f"fix-{SECRET}"
    assert SECRET not in without_secrets.clean_text(f"See {SECRET}, please")
    assert without_secrets.clean_text("See the page, please") == "See the page, please"


def test_json_stays_json_also_where_a_secret_is_in_a_key() -> None:
    content = json.dumps({"a": [SECRET, 3, None], SECRET: {"b": True}}).encode()
    tidy = json.loads(without_secrets.clean_file("x.json", content))
    assert SECRET not in json.dumps(tidy)
    assert tidy["a"][1:] == [3, None]


@pytest.mark.parametrize("content", [b"plain\n", b"\xff\xfe", b'{"a":   1}'])
def test_what_has_no_secret_stays_byte_for_byte(content: bytes) -> None:
    assert without_secrets.clean_file("x.md", content) == content


def test_a_patch_is_judged_elsewhere() -> None:
    content = f"+{SECRET}\n".encode()
    assert without_secrets.clean_file("work.patch", content) == content
