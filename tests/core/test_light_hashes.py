"""Hashes without OpenSSL are the same hashes."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.light_hashes import sha1, sha256


@given(st.binary())
def test_both_are_those_of_hashlib(content: bytes) -> None:
    assert sha1(content).hexdigest() == hashlib.sha1(content).hexdigest()
    assert sha256(content).hexdigest() == hashlib.sha256(content).hexdigest()
