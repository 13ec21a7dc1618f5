"""A user's texts keep their typography when a parser sees ASCII marks; batches do not change the edits."""

from pathlib import Path

import pytest
from helpers.encoders.parser_models import SPACY, skip_unless_installed, unpack
from helpers.shared import needs_shared

from sentprobe.generator.edits.edit_text import EditableText
from sentprobe.probes.corpus import text_edits, user_texts
from sentprobe.probes.corpus.user_texts import UserText, parse_user_texts


@pytest.mark.slow
@needs_shared
@skip_unless_installed("spacy")
def test_spacy_parses_texts_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts are parsed in batches of two."""
    monkeypatch.setattr(user_texts, "BATCH", 2)
    texts = [UserText(text) for text in ("The plan isn’t free.", "", "Is the “basic” plan free?", "You can’t use it…")]
    parser = f"spacy:{unpack(SPACY, tmp_path)}"
    parses = [*parse_user_texts(texts, parser, language="en")]
    assert parses[1] == ("", "the text is empty")
    for text, parse in zip(texts, parses, strict=True):
        if isinstance(parse, EditableText):
            assert "".join(text.text[token.start : token.end] for token in parse.tokens) == text.text.replace(" ", "")
    counts = text_edits.EditCounts()
    rules = text_edits.choose_edit_rules(["affirmation", "contraction"], has_parse=True)
    rows = [*text_edits.make_edits(texts, rules, counts, parser=parser)]
    assert ("The plan isn’t free.", "The plan is free.", 0) in [row[:3] for row in rows]
    assert ("The plan isn’t free.", "The plan is not free.", 1) in [row[:3] for row in rows]
    assert (counts.texts, counts.edited) == (4, 2)
    assert counts.reasons["the text is empty"] == 1


def test_texts_whose_tokens_differ_have_no_parse() -> None:
    """Without a parse, only the rules that need none apply."""
    parse = next(
        iter(user_texts.read_user_texts(str(Path(__file__).parents[2] / "data" / "edits" / "en.conllu")))
    ).parse
    (text,) = parse_user_texts([UserText("Another text.", parse)], None, language="en")
    assert text == EditableText("Another text.")


@pytest.mark.parametrize("name", ["texts.csv", "texts.tsv", "texts.dat"])
def test_the_stated_format_chooses_the_separator(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text('id, a, b\ttext\n1, 2, 3\t"Hello, world\n')
    assert [*user_texts.read_user_texts(str(path), format="tsv")] == [UserText('"Hello, world')]
    path.write_text('text\n"Hello, world"\n')
    assert [*user_texts.read_user_texts(str(path), format="csv")] == [UserText("Hello, world")]


def test_texts_read_ahead_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text may get words of a later text of its window, and of any earlier window; the edits do not move."""
    path = Path(__file__).parents[2] / "data" / "edits" / "en.conllu"
    texts = {text.text: text for text in user_texts.read_user_texts(str(path))}
    router, password = texts["Can I reset my router?"], texts["How do I reset my password?"]
    rules = text_edits.choose_edit_rules(["object", "how"], has_parse=True)
    edits = {}
    for window in (1, 3):
        monkeypatch.setattr(text_edits, "_TEXTS_AHEAD", window)
        edits[window] = [
            row.b for row in text_edits.make_edits([router, password, router], rules, text_edits.EditCounts())
        ]
    later = ["How do I reset my router?", "How can I reset my password?", "Can I reset my password?"]
    assert edits == {1: later, 3: ["Can I reset my password?", *later]}
