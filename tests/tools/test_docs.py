"""What is written about the commands is what the commands say."""

import re

from pydantic.alias_generators import to_camel

from ghp_agents.cli import passthrough
from ghp_agents.settings.settings import Settings
from tools import docs

REMEDY = "Run `make docs` and commit the result."


def test_the_page_of_commands_is_up_to_date() -> None:
    assert docs.PAGE.read_text() == docs.page(), REMEDY


def test_every_setting_and_every_variable_that_is_read_is_on_the_page() -> None:
    page = docs.page()
    derived = {"unagreed", "trunk_place"}  # worked out from the files, and written in none
    for field in {*Settings._fields} - derived:
        assert f"| `{to_camel(field)}` | `" in page
    source = "".join(path.read_text() for path in (docs.CHECKOUT / "ghp_agents").rglob("*.py"))
    read = set(re.findall(r'"(GHP_[A-Z_]+)"', source)) - {passthrough.GUARD}
    assert {f"`{name}`" for name in read} <= docs.VARIABLES.keys()
