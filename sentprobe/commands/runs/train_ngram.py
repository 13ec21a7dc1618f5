"""The command ``probe train ngram``: train an n-gram model on the user's texts, and write it as an ARPA file."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sentprobe import names
from sentprobe.commands.runs.train_options import EncoderChoices, TextChoices
from sentprobe.commands.shared.table_output import check_output_file
from sentprobe.display.screen import print_text
from sentprobe.errors import UsageError
from sentprobe.progress import show_bars

OPTIONS = ("architecture", "out", "corpus", "tokenised", "lower", "format", "column", "document", "encoding", "punkt",
           "longest", "words", "order")  # fmt: skip
"""Parameters of ``probe train`` that apply to n-gram models."""


def train_ngram_model(
    architectures: Sequence[str],
    given_options: Mapping[str, str],
    *,
    texts: TextChoices,
    encoder: EncoderChoices,
    out: Path,
) -> None:
    """Train an n-gram model with Kneser-Ney smoothing, and write it to the ARPA file *out*. Raises UsageError."""
    if len(architectures) > 1:
        raise UsageError(f"{names.NGRAM} is trained alone, not with {', '.join(architectures)}")
    if unused := [option for name, option in given_options.items() if name not in OPTIONS]:
        raise UsageError(f"{unused[0]} is not for {names.NGRAM}")
    if encoder.order < 1:
        raise UsageError(f"--order must be positive, not {encoder.order}")
    if not texts.corpus:
        raise UsageError(f"{names.NGRAM} learns from sentences: --corpus is missing")
    check_output_file(out)
    from sentprobe.generator.pairs.triplet_files import write_rows
    from sentprobe.probes.language_models.kneser_ney import train_ngrams
    from sentprobe.probes.pretraining.texts import running_text
    from sentprobe.probes.pretraining.texts.text_filters import TextOptions

    columns = dict(zip(("column",), texts.column or (), strict=False))
    files = running_text.SentenceFiles(format=texts.format, document=texts.document, **columns)
    options = TextOptions(
        tokenised=texts.tokenised, lower=texts.lower, longest=texts.longest, encoding=texts.encoding, punkt=texts.punkt
    )
    with show_bars() as reporter:
        reporter.begin("read the texts", 1)
        sentences = running_text.read_sentences(*texts.corpus, files=files, options=options)
        reporter.advance()
        reporter.begin("count n-grams", 1)
        write_rows(out, train_ngrams(sentences.texts, order=encoder.order, words=encoder.words))
        reporter.advance()
    print_text(f"{out}: n-grams of up to {encoder.order} words, from {sentences}; {sentences.omitted}")
