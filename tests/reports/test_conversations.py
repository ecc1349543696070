"""Conversations as Markdown: readable, and nothing that others wrote is more than text."""

from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.messages.message import letters
from ghp_agents.reports import conversations
from ghp_agents.state.codec import seconds
from tests.support.messages import message

ADA = Actor("Ada", is_person=True)
ASKED = message("3f9a", kind="review", issue=12, body="The whole of it.", artifacts=("src/a.py",))
DONE = message(
    "4b00", by=Actor("worker-2"), to=("worker-1",), kind="done", about="3f9a", clock=2,
    at=Timestamp("2026-01-02T04:00:00Z"), body="It is fine.",
)  # fmt: skip
NOTE = message(
    "5c00", by=ADA, to=("@all",), kind="note", subject="Freeze", clock=3,
    at=Timestamp("2026-01-03T00:00:00Z"),
)  # fmt: skip
REVIEW = "conversations/2026-01-02-review-it-3f9a.md"
FREEZE = "conversations/2026-01-03-freeze-5c00.md"


def test_each_conversation_has_a_page_and_all_a_timeline() -> None:
    pages = conversations.pages([NOTE, DONE, ASKED], letters([NOTE, DONE, ASKED]))
    assert pages == {
        FREEZE: (
            "# Freeze\n\n1 message by person «Ada».\n\n"
            "## 2026-01-03T00:00:00Z: person «Ada» to @&#8203;all\n\n"
            "**Freeze** (note M-5c00)\n"
        ),
        REVIEW: (
            "# Review it\n\n2 messages by agent worker-1, agent worker-2.\n\n"
            "## 2026-01-02T03:04:05Z: agent worker-1 to worker-2\n\n"
            "**Review it** (review M-3f9a, issue #12, resolved)\n\n"
            "```\nThe whole of it.\n```\n\n- src/a.py\n\n"
            "## 2026-01-02T04:00:00Z: agent worker-2 completed it\n\n"
            "```\nIt is fine.\n```\n"
        ),
        "timeline.md": (
            "# Timeline\n\n## 2026-01-02\n\n"
            f"- 2026-01-02T03:04:05Z: agent worker-1 to worker-2: [Review it]({REVIEW})\n"
            f"- 2026-01-02T04:00:00Z: agent worker-2 completed it: [Review it]({REVIEW})\n\n"
            "## 2026-01-03\n\n"
            f"- 2026-01-03T00:00:00Z: person «Ada» to @&#8203;all: [Freeze]({FREEZE})\n"
        ),
    }


def test_since_selects_conversations_that_went_on_and_later_messages() -> None:
    later = seconds(Timestamp("2026-01-02T03:30:00Z"))
    pages = conversations.pages([ASKED, DONE], letters([ASKED, DONE]), later)
    assert list(pages) == [REVIEW, "timeline.md"]
    assert "The whole of it." in pages[REVIEW]
    assert pages["timeline.md"].count("\n- ") == 1
    assert conversations.pages([ASKED], letters([ASKED]), later) == {}


def test_names_of_files_are_safe_whatever_the_subject_is() -> None:
    for subject, expected in [
        ("../../etc/passwd", "etc-passwd-"),
        ("Größe: naïve?", "groe-naive-"),
        ("日本語", ""),
        ("x" * 300, "x" * 40 + "-"),
        ("con\x00\n/aux", "con-aux-"),
    ]:
        thread = [message("3f9a", subject=subject)]
        assert conversations.path_of(thread) == f"conversations/2026-01-02-{expected}3f9a.md"
    bad_time = [message("3f9a", at=Timestamp("../x"))]
    assert conversations.path_of(bad_time) == "conversations/review-it-3f9a.md"


def test_ids_that_begin_alike_have_pages_of_their_own() -> None:
    twins = [message("a" * 12 + end, kind="note") for end in ("1", "2")]
    assert len(conversations.pages(twins, letters(twins))) == 3


def test_hostile_text_stays_text() -> None:
    evil = message(
        "6d00", by=Actor("w`](x)<b>"), kind="note", subject="# [x](http://evil) <script> @all",
        body="```\n# Forged\n</details><img src=x>\x1b[2J\n````", artifacts=("[a](b)",),
        at=Timestamp("](evil)"),
    )  # fmt: skip
    pages = conversations.pages([evil], letters([evil]))
    text = "".join(pages.values())
    assert "`````\n```\n# Forged\n</details><img src=x>�[2J\n````\n`````" in text
    outside = text.replace("# Forged\n</details><img src=x>", "")
    for wrong in ("<script>", "[x](http", "<b>", "\x1b", "](evil", "[a](b)", "://evil"):
        assert wrong not in outside
