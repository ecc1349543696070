"""Errors in a configuration file name the line of the key."""

from ghp_agents.settings.key_lines import key_lines

TEXT = """{
  "agents": {"a": 1,
    "b": [1,
      {"c": "}, \\"d\\": ["}]
  },
  "e": null
}
"""


def test_each_key_and_item_has_its_line() -> None:
    assert key_lines(TEXT) == {
        (): 1,
        ("agents",): 2,
        ("agents", "a"): 2,
        ("agents", "b"): 3,
        ("agents", "b", "0"): 3,
        ("agents", "b", "1"): 4,
        ("agents", "b", "1", "c"): 4,
        ("e",): 6,
    }
