"""The page of settings and variables is what the program reads."""

import re

from pydantic.alias_generators import to_camel

from ghp_agents.cli import passthrough
from ghp_agents.settings.settings import Settings
from tools import settings_docs
from tools.docs import CHECKOUT


def test_the_page_is_up_to_date() -> None:
    assert settings_docs.PAGE.read_text() == settings_docs.page(), "Run `make docs`."


def test_every_setting_and_every_variable_that_is_read_is_on_the_page() -> None:
    page = settings_docs.page()
    derived = {"cards", "unagreed", "unreadable", "trunk_place"}  # worked out from files
    for field in {*Settings._fields} - derived:
        assert f"| `{to_camel(field)}` | `" in page
    source = "".join(path.read_text() for path in (CHECKOUT / "ghp_agents").rglob("*.py"))
    read = set(re.findall(r'"(GHP_[A-Z_]+)"', source)) - {passthrough.GUARD}
    assert {f"`{name}`" for name in read} <= settings_docs.VARIABLES.keys()
