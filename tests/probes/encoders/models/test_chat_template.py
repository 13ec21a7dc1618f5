"""Chat templates in the folders of strangers: programs, which no library runs, and ``chat=yes`` with limits."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.encoders.model_files import save_cross_encoder, tiny_model

from sentprobe.common.screen import SilentReporter
from sentprobe.common.specs import parse_spec
from sentprobe.probes.encoders.encoder import EncoderError
from sentprobe.probes.encoders.kinds import make_encoder
from sentprobe.probes.encoders.models import chat_template
from sentprobe.probes.language_models.scorers import load_language_model
from sentprobe.probes.similarity.pair_scores import load_cross_encoder

USES: dict[str, Callable[[Path], object]] = {
    "hf": lambda folder: make_encoder(f"hf:{folder}").encode(["a b"]),
    "st": lambda folder: make_encoder(f"st:{folder}").encode(["a b"]),
    "ce": lambda folder: load_cross_encoder(parse_spec(f"ce:{folder}")).score_columns(["the man"], ["the men"]),
    "lm": lambda folder: load_language_model(parse_spec(f"hf:{folder}"), device="cpu").score(["a b"], SilentReporter()),
}
FILES: dict[str, Callable[[str], str]] = {
    "tokenizer_config.json": lambda template: json.dumps({"model_max_length": 64, "chat_template": template}),
    "chat_template.jinja": str,
    "chat_template.json": lambda template: json.dumps({"chat_template": template}),
    "processor_config.json": lambda template: json.dumps({"chat_template": template}),
}
MESSAGES = "{% for message in messages %}[{{ message['content'] }}]{% endfor %}"
ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"


def save_chat_model(folder: Path, kind: str, *, file: str, template: str) -> Path:
    from helpers.encoders.language_models import make_bert  # which imports torch

    path = {"ce": lambda: save_cross_encoder(folder, ("same",)), "lm": lambda: make_bert(folder)}.get(
        kind, lambda: tiny_model(folder, kind="Bert")
    )()
    content = FILES[file](template)
    if file == "tokenizer_config.json":
        content = json.dumps(json.loads((path / file).read_text()) | json.loads(content))
    (path / file).write_text(content)
    return path


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("kind", USES)
def test_no_chat_template_is_rendered(kind: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sentence_transformers")
    folder = save_chat_model(tmp_path / "model", kind, file=file, template=MESSAGES)
    parsed: list[object] = []

    def refuse(_: object, source: object, *__: object) -> None:
        parsed.append(source)
        raise AssertionError

    monkeypatch.setattr("jinja2.Environment.parse", refuse)
    monkeypatch.setattr("jinja2.Environment.compile", refuse)
    try:
        USES[kind](folder)
    except EncoderError as error:
        assert kind in ("st", "ce")
        assert "its chat template, a program, which is not run" in str(error)
    assert parsed == []


def test_a_template_that_the_package_would_run_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    for kind in ("st", "ce"):
        folder = save_chat_model(tmp_path / kind, kind, file="chat_template.jinja", template=MESSAGES)
        with pytest.raises(EncoderError, match=r"would put each sentence into its chat template, a program, which is"):
            USES[kind](folder)


def test_a_template_that_the_package_ignores_is_dropped(tmp_path: Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    inner, outer = tiny_model(tmp_path / "inner", kind="Bert"), tmp_path / "outer"
    library.SentenceTransformer(str(inner), device="cpu").save(str(outer))
    before = make_encoder(f"st:{outer}").encode(["the man"])
    (outer / "chat_template.jinja").write_text(MESSAGES)
    encoder: Any = make_encoder(f"st:{outer}")
    assert encoder.encode(["the man"]).tolist() == before.tolist()
    assert encoder.model.tokenizer.chat_template is None


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (ENDLESS, "takes more than 1 seconds or 256 MiB"),
        ("{{ 'a' * 10 ** 10 }}", "MemoryError|takes more than"),
        ("{{ 'a' * 10 ** 6 }}" + MESSAGES, "puts more than 100,000 characters around"),
        ("{{ messages[0]['content'] | upper }}", "changes the text of a message, or has it 0 times"),
        (MESSAGES * 2, "has it 2 times"),
        ("{{ raise_exception('no such role') }}", "fails: TemplateError: no such role"),
        ("{{ ''.__class__.__mro__ }}", "fails: SecurityError"),
        ("{% if", "fails: TemplateSyntaxError"),
        pytest.param(
            "{{ " + "(" * 20_000 + "1" + ")" * 20_000 + " }}",
            "fails: RecursionError|takes more than",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_template_asked_for_has_limits(
    template: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_template, "MAX_SECONDS", 1)
    monkeypatch.setattr(chat_template, "MAX_BYTES", 2**28)
    folder = save_chat_model(tmp_path / "model", "hf", file="chat_template.jinja", template=template)
    with pytest.raises(EncoderError, match=message) as caught:
        make_encoder(f"hf:{folder}?chat=yes")
    assert "\n" not in str(caught.value)


LIMITING = """
import resource, sys
from sentprobe.probes.encoders.models.chat_template import limit_process

kind, hard, wanted = getattr(resource, sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
if hard:
    resource.setrlimit(kind, (hard, hard))
limit_process(kind, wanted)
print(*resource.getrlimit(kind))
"""


@pytest.mark.parametrize("kind", ["RLIMIT_CPU", "RLIMIT_AS"])
def test_a_lower_limit_of_the_system_stays(kind: str) -> None:
    """A process may not raise its hard limit, which a shell or a cluster may have set."""
    resource = pytest.importorskip("resource", reason="Windows has no such limits")
    unit = 1 if kind == "RLIMIT_CPU" else 2**30
    low, high = 1000 * unit, 2000 * unit
    if -1 < resource.getrlimit(getattr(resource, kind))[1] < high:
        pytest.skip("this process has a lower limit")
    for hard, wanted, expected in ((low, high, low), (high, low, low), (0, low, low)):
        arguments = [sys.executable, "-c", LIMITING, kind, str(hard), str(wanted)]
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        assert done.stdout.split() == [str(expected)] * 2, done.stderr
