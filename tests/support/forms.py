"""Issue forms as GitHub turns them into an issue: each answer below its label.

The form is what GitHub reads; what is not answered becomes `_No response_`, and where a field
renders as code, a fence.
"""

from collections.abc import Mapping
from typing import Any

NOTHING = "_No response_"


def answered(form: Mapping[str, Any], answers: Mapping[str, str]) -> str:
    """The body of the issue. Every answer has to be one that the form takes."""
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    unknown = answers.keys() - {field["id"] for field in fields}
    assert not unknown, f"the form has no {unknown}"
    return "\n\n".join(_answer(field, answers.get(field["id"], "")) for field in fields)


def _answer(field: Mapping[str, Any], text: str) -> str:
    about = field["attributes"]
    required = field.get("validations", {}).get("required", False)
    assert text or not required, f"{field['id']} is required"
    if field["type"] == "dropdown":
        options = about["options"]
        text = text or (options[about["default"]] if "default" in about else "")
        assert text in ("", *options)
    if about.get("render") and text:
        text = f"```{about['render']}\n{text}\n```"
    return f"### {about['label']}\n\n{text or NOTHING}"
