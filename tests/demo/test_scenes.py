"""The scenes of the demo are shown in one order, and fit the width of the terminal."""

from pathlib import Path

from ghp_agents.demo.scenes import DemoStage, Scene, marked, styled


def test_a_scene_is_shown_when_those_before_it_were(tmp_path: Path) -> None:
    stage = DemoStage(tmp_path)
    stage.write(Scene.CLAIM, "worker-1 $ ghp agent-claim 1", "✓ Claimed #1.")
    stage.write(Scene.REFUSED, "worker-2 edits a.py", "✗ It is leased.\nNext: wait.")
    assert list(stage.after(0)) == ["worker-1 $ ghp agent-claim 1\n  ✓ Claimed #1."]
    assert list(stage.after(1)) == []
    stage.write(Scene.LEASE, "worker-1 $ ghp agent-lease a.py")
    assert list(stage.after(1)) == [
        "worker-1 $ ghp agent-lease a.py",
        "worker-2 edits a.py\n  ✗ It is leased.\n  Next: wait.",
    ]


def test_of_a_commands_messages_only_what_was_done_is_shown() -> None:
    assert marked("Last news: 2 s ago.\n✓ Merged #5.\nWarning: kept.\n") == ["✓ Merged #5."]


def test_a_line_has_its_colours_and_is_continued_with_an_indent() -> None:
    scene = "you $ ghp agent-answer E-6ffa json\n  ✓ Answered E-6ffa.\nworker-9 rests\n  json"
    assert list(styled(scene, 24)) == [
        [("you", "bold yellow"), (" $ ghp agent-answer", "bold")],
        [("    E-6ffa json", "bold")],
        [("  ✓", "green"), (" Answered E-6ffa.", "")],
        [("worker-9", ""), (" rests", "")],
        [("  ", ""), ("json", "")],
    ]
