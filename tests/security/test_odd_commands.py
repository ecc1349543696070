"""An order is obeyed only if a page shows it as a paragraph of its own, whatever surrounds it."""

import time

import pytest

from ghp_agents.github.commands.parse import LONGEST, Command, read

ORDER = "/agent assign worker-1"
APART = "a command must be a paragraph of its own: put empty lines above and below it"
BELOW = "HTML, a formula or code in a list is above it; put it at the top or into a new comment"
SPACES = "only spaces may separate its words"
RETURN = "the comment has unusual line ends"
# A comment as somebody pastes it who may write, and why the order in it is not obeyed.
IGNORED = {
    "code in backticks over lines": (f"`\n{ORDER}\n`", APART),
    "code in two backticks over lines": (f"``a\n{ORDER}\nb``", APART),
    "code with an indented line": (f"`a\n    b\n{ORDER}\n`", APART),
    "a line of no-break spaces": (f"`\n\u00a0\n{ORDER}\n`", APART),
    "a fence in a numbered list": (f"1. ```\n{ORDER}\n   ```", BELOW),
    "a fence in a numbered list, with empty lines": (f"1. ```\n\n{ORDER}\n\n```", BELOW),
    "a fence in a list that ends it early": (f"- ```\n- x\n```\n\n{ORDER}\n\n```", None),
    "a fence in a list in a list": (f"- 1) ~~~\n\n{ORDER}\n\n~~~", BELOW),
    "a fence behind a tab": (f"\t```\n\n{ORDER}\n\n\t```", BELOW),
    "a fence behind four spaces": (f"    ~~~\n\n{ORDER}\n\n    ~~~", BELOW),
    "<code>": (f"<code>\n{ORDER}\n</code>", BELOW),
    "<code> with empty lines": (f"<code>\n\n{ORDER}\n\n</code>", BELOW),
    "<code> in a line": (f"See <code>\n\n{ORDER}\n\n</code>", BELOW),
    "<blockquote>": (f"<blockquote>\n\n{ORDER}\n\n</blockquote>", BELOW),
    "<BLOCKQUOTE> over two lines": (f"<BLOCKQUOTE\ncite=x>\n\n{ORDER}", BELOW),
    "<details>": (
        f"<details><summary>Log</summary>\n\n{ORDER}\n\n</details>", BELOW
    ),
    "<xmp>": (f"<xmp>\n\n{ORDER}\n\n</xmp>", BELOW),
    "<pre>": (f"<pre>\n</pre>\n\n{ORDER}", BELOW),
    "a table in HTML": (f"<table><tr><td>\n\n{ORDER}\n\n</td></tr></table>", BELOW),
    "an HTML comment above": (f"<!-- x --> ```\n\n```\n\n{ORDER}", BELOW),
    "a formula": (f"$$\n{ORDER}\n$$", BELOW),
    "a formula with empty lines": (f"$$\n\n{ORDER}\n\n$$", BELOW),
    "a table": (f"| a |\n|---|\n{ORDER}", APART),
    "the head of a table": (f"{ORDER}\n|---|", APART),
    "a heading": (f"{ORDER}\n===", APART),
    "a link's title": (f'[a](https://x.example "\n{ORDER}\n")', APART),
    "the title of a reference": (f'[a]: https://x.example "\n{ORDER}\n"', APART),
    "an item that goes on": (f"- a\n{ORDER}", APART),
    "a sentence that goes on": (f"mallory wrote:\n{ORDER}", APART),
    "a sentence that begins with it": (f"{ORDER}\nis what mallory wrote", APART),
    "no-break spaces": (ORDER.replace(" ", "\u00a0"), SPACES),
    "wide spaces": (ORDER.replace(" ", "\u3000"), SPACES),
    "a lone carriage return": (f"text\r\r{ORDER}", RETURN),
    "a carriage return in code": (f"`\r{ORDER}\r`", RETURN),
    "a quotation": (f"> {ORDER}", None),
    "a quotation that goes on": (f"> a\n{ORDER}", None),
    "a quotation in a list": (f"- > a\n{ORDER}", None),
    "a fence": (f"```\n\n{ORDER}\n\n```", None),
    "a fence with a tab before its false end": (f"```\n\t```\n\n{ORDER}\n\n```", None),
    "a fence that never ends": (f"~~~\n\n{ORDER}", None),
    "indented": (f"    {ORDER}", None),
    "a hidden comment": (f"<!--\n\n{ORDER}\n\n-->", None),
    "an item": (f"- {ORDER}", None),
    "a line separator": (f"a\u2028{ORDER}", None),
    "a form feed": (f"a\x0c{ORDER}", None),
    "a zero-width space": (f"\u200b{ORDER}", None),
}  # fmt: skip


@pytest.mark.parametrize("kind", IGNORED)
def test_an_order_in_an_odd_context_is_not_obeyed(kind: str) -> None:
    assert read(IGNORED[kind][0]).commands == ()


@pytest.mark.parametrize("kind", [kind for kind, (_, why) in IGNORED.items() if why])
def test_an_order_that_a_person_may_have_meant_is_answered_with_the_reason(kind: str) -> None:
    body, why = IGNORED[kind]
    assert [each.why for each in read(body).mistakes] == [why]


@pytest.mark.parametrize(
    "body",
    [
        ORDER,
        f"Thanks!\r\n\r\n{ORDER}\r\n\r\nBye.",
        f"  \n{ORDER}\n \t\n",
        f"a < b, <https://x.example>\n\n{ORDER}",
        f"```\n<b> $$\n```\n\n{ORDER}",
        f"> <b>quoted</b>\n\n{ORDER}",
        f"- a\n- b\n\n{ORDER}\n\n<details>\n</details>",
    ],
)
def test_an_order_in_a_paragraph_of_its_own_is_obeyed(body: str) -> None:
    assert read(body).commands == (Command("assign", "worker-1"),)


@pytest.mark.parametrize(
    "unit",
    ["<", "<a", "<!--", "`", "- ", "1. ", "- ```\n", "> ", "$", f"{ORDER}\n", f"{ORDER}\n\n", "\t"],
)
def test_a_comment_is_read_at_once_whatever_it_repeats(unit: str) -> None:
    body = (unit * LONGEST)[: LONGEST - len(ORDER) - 2] + f"\n\n{ORDER}"
    started = time.process_time()
    read(body)
    assert time.process_time() - started < 1
