"""The alignment of parses with texts, and the replacement of parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.generator.edits.edit_text import (
    RefusalError,
    Splice,
    align_forms,
    build_editable_text,
    describe_change,
    replace_parts,
)


@given(st.lists(st.text("abc'", min_size=1, max_size=4), max_size=8), st.lists(st.booleans(), min_size=8, max_size=8))
def test_forms_are_found_in_their_order(forms: list[str], gaps: list[bool]) -> None:
    text = "".join(form + " " * gap for form, gap in zip(forms, gaps, strict=False))
    assert [text[start:end] for start, end in align_forms(text, forms)] == forms


@pytest.mark.parametrize(("text", "forms"), [("I go", ["I", "went"]), ("I really go", ["I", "go"])])
def test_forms_of_another_text_are_refused(text: str, forms: list[str]) -> None:
    with pytest.raises(RefusalError, match="the tokens of the parse are not those of the text"):
        [*align_forms(text, forms)]


def test_parse_without_dependencies_is_refused() -> None:
    with pytest.raises(RefusalError, match="no tags or no dependencies"):
        build_editable_text("I go", ["I", "go"], [], [], [])


@given(st.text("ab ", min_size=1, max_size=20), st.integers(0, 20), st.integers(0, 20))
def test_equal_replacement_changes_nothing(text: str, start: int, end: int) -> None:
    start, end = sorted((min(start, len(text)), min(end, len(text))))
    assert replace_parts(text, [Splice(start, end, text[start:end])]).strip() == text.strip()


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("Is it a plan?", "plan", "offer", "Is it an offer?"),
        ("An hour is long.", "hour", "day", "A day is long."),
        ("A union", "union", "hour", "An hour"),
        ("Plan it.", "Plan", "buy", "Buy it."),
        ("the Plan", "Plan", "buy", "the buy"),
        ("an 8 GB plan", "8", "4", "a 4 GB plan"),
        ("an old plan", "plan", "offer", "an old offer"),
    ],
)
def test_article_and_capital_follow_the_change(text: str, old: str, new: str, expected: str) -> None:
    start = text.index(old)
    assert replace_parts(text, [Splice(start, start + len(old), new)]) == expected


def test_overlapping_changes_are_refused() -> None:
    with pytest.raises(RefusalError, match="two changes overlap"):
        replace_parts("abc", [Splice(0, 2, "x"), Splice(1, 3, "y")])


def test_changed_words_are_described() -> None:
    assert describe_change("Do I pay?", "Why do I pay?") == "Do > Why do"
    assert describe_change("Is it on Monday?", "Is it on Friday?") == "Monday > Friday"
