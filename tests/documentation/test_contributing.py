"""The rows that CONTRIBUTING shows: each works in its registry."""

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from helpers.runs.reviewed_runs import GOOD, SOUND
from helpers.shared import ROOT

from sentprobe.common.errors import UsageError
from sentprobe.common.specs import Size
from sentprobe.generator.events.event import Mood
from sentprobe.generator.events.meaning import Property, compute_meaning, find_differences
from sentprobe.generator.pairs import contrasts, paradigms
from sentprobe.generator.pairs.minimal_pairs import MinimalPairSpace
from sentprobe.generator.pairs.triplets import SIDES, TripletSpace
from sentprobe.generator.sentences.parse import parse
from sentprobe.generator.spaces.constraints import Choices
from sentprobe.generator.spaces.space import Space
from sentprobe.lexicon import english, languages
from sentprobe.lexicon.read import load_lexicon
from sentprobe.probes.encoders import kinds
from sentprobe.probes.generated import tasks
from sentprobe.probes.generated.assemble import build
from sentprobe.probes.review import checks
from sentprobe.probes.review.claim_finding import Severity

SECTIONS = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("\n### ")[1:]
BLOCKS = {section.partition("\n")[0]: re.split(r"^```.*\n", section, flags=re.MULTILINE)[1] for section in SECTIONS}
"""The code below each heading."""


def run_block(heading: str, module: ModuleType) -> Any:
    """Run the code below a heading with the names of the registry's module; return its row."""
    names = dict(vars(module))
    exec(BLOCKS[heading], names)
    return names["ROW"]


def test_each_kind_of_row_has_a_short_example() -> None:
    assert [*BLOCKS] == ["A task", "An encoder kind", "A paradigm", "A contrast", "A check", "A language"]
    assert max(len(re.findall(r"\S.*", code)) for code in BLOCKS.values()) <= 15


def test_task_asks_for_the_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    row = run_block("A task", tasks)
    monkeypatch.setitem(tasks.TASKS, row.name, row)
    data = build(tasks.find_task("IsPatient"), english(), size=Size(train=56, test=28), seed=1)
    for items in data.splits.values():
        assert items.targets.sum() * 2 == len(items.targets)
        for sentence, (noun, verb), label in zip(items.rows, items.probes, items.targets, strict=True):
            clauses = compute_meaning(parse(data.sentences[sentence], english())[0]).clauses
            assert (data.probe_words[noun] in clauses[data.probe_words[verb]].patient) == label


def test_encoder_kind_encodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "ENCODERS", (*kinds.ENCODERS, run_block("An encoder kind", kinds)))
    vectors = kinds.make_encoder("word-count?dims=1").encode(["the man slept", "stop"])
    assert vectors.tolist() == [[3], [1]]
    with pytest.raises(UsageError, match="takes no argument"):
        kinds.make_encoder("word-count:x")


def test_paradigm_draws_pairs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = Path(paradigms.__file__).with_name("english_paradigms.toml")
    (tmp_path / file.name).write_text(file.read_text("utf-8") + BLOCKS["A paradigm"], "utf-8")
    monkeypatch.setattr(paradigms, "files", lambda _: tmp_path)
    monkeypatch.setattr(paradigms, "load_paradigms", paradigms.load_paradigms.__wrapped__)
    space = MinimalPairSpace(english(), "past_progressive_agreement", vocabulary="english")
    for pair in space.iterate_pairs(space.sample(20, seed=1)):
        good, bad = pair.good.split(), pair.bad.split()
        (difference,) = ((old, new) for old, new in zip(good, bad, strict=True) if old != new)
        assert difference in {("was", "were"), ("were", "was")}


def test_contrast_draws_triplets(monkeypatch: pytest.MonkeyPatch) -> None:
    row = run_block("A contrast", contrasts)
    monkeypatch.setitem(contrasts.CONTRASTS, row.name, row)
    triplets = TripletSpace(english(), row.name, vocabulary="everyday").sample(50, seed=1)
    texts = [triplets.render_texts(side) for side in SIDES]
    for events in zip(*([parse(text, english())[0] for text in side] for side in texts), strict=True):
        anchor, positive, negative, hard = events
        assert find_differences(anchor, positive) == find_differences(negative, hard) == ()
        assert find_differences(anchor, negative) == (Property.ADJECTIVE,)


def test_check_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "CHECKS", (*checks.CHECKS, run_block("A check", checks)))
    assert checks.review_results(SOUND).findings == ()
    findings = checks.review_results(GOOD).findings
    assert ("alone", Severity.NOTE, "good") in {
        (finding.check, finding.severity, finding.encoder) for finding in findings
    }


def test_language_has_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    row = run_block("A language", languages)
    monkeypatch.setitem(languages.LANGUAGES, row.code, row)
    lexicon = load_lexicon(None, "en-simple")
    space = Space(lexicon, templates=["transitive"])
    assert 0 < space.count() < Space(english(), templates=["transitive"]).count()
    for event in space.events(space.sample(20, seed=1)):
        assert event.aspect == "simple"
    with pytest.raises(UsageError, match="simple English has no"):
        Space(lexicon, templates=["transitive"], choices=Choices(moods=(Mood.QUESTION,)))
