"""A repair: measure a model, train it on opposites near its old vectors, measure it again, and write its folder."""

import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sentprobe.common.errors import UsageError, require_libraries
from sentprobe.common.files import atomic_folder
from sentprobe.common.reading import read_text
from sentprobe.common.screen import Reporter, SilentReporter
from sentprobe.common.specs import Spec
from sentprobe.common.tables import TableFormat, format_tables
from sentprobe.generator.pairs.contrasts import CONTRASTS
from sentprobe.generator.pairs.triplets import ImpossibleContrastError, TripletSet, TripletSide, TripletSpace
from sentprobe.generator.spaces.templates import SplitSide
from sentprobe.lexicon.read import choose_vocabulary, load_lexicon
from sentprobe.probes.corpus.text_edits import choose_usual_rules
from sentprobe.probes.corpus.user_texts import is_parsed, read_user_texts
from sentprobe.probes.encoders.encoder import digest
from sentprobe.probes.encoders.kinds import read_spec
from sentprobe.probes.repair.repair_data import HELD_OUT, RepairData, prepare_data
from sentprobe.probes.repair.repair_measures import RepairResult, build_repair_tables, compare_figures, measure_model
from sentprobe.probes.similarity.text_pairs import read_pairs

if TYPE_CHECKING:
    from sentprobe.probes.repair.repair_training import RepairSettings

MEASURED = 60
"""The number of generated triplets of each contrast, which show whether a meaning that was not trained got lost."""
KEPT = 40
"""The number of generated triplets of each contrast, with other words, whose cosines are to stay."""
CARD = "README.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairPlan:
    """What is repaired, on which texts, and where the model is written."""

    model: str
    """The spec of the encoder, ``st:MODEL``."""
    texts: str
    out: Path
    column: str | None = None
    pairs: Path | None = None
    keep_texts: Path | None = None
    parser: str | None = None
    language: str = "en"
    max_loss: float = 0.02
    command: str = ""
    """The command line, for the model card."""

    @property
    def checkpoints(self) -> Path:
        """The folder beside *out* from which a killed repair resumes."""
        out = self.out.absolute()
        return out.with_name(f"{out.name}.checkpoints")


def repair(plan: RepairPlan, *, reporter: Reporter | None = None, **settings: object) -> RepairResult:
    """Repair a model, write it to ``plan.out``, and return its figures before and after.

    - settings: the fields of :class:`~.repair_training.RepairSettings`

    Raises:
        UsageError: a value is wrong, or the folder exists.
        MissingError: sentence-transformers or accelerate is not installed.
        SentprobeError: the texts are too few, or the training fails.
    """
    require_libraries("sentence_transformers", "accelerate", "datasets")
    from sentprobe.probes.encoders.models.model_loading import suppress_messages
    from sentprobe.probes.encoders.models.sentence_transformer import load_sentence_transformer
    from sentprobe.probes.repair.repair_training import RepairSettings, check_checkpoints, check_trainable, train_repair

    chosen = RepairSettings(**settings)  # type: ignore[arg-type]
    spec = read_spec(plan.model, ["st"])
    _check_plan(plan, spec)
    check_checkpoints(plan.checkpoints)
    reporter = reporter or SilentReporter()
    encoder = load_sentence_transformer(spec)
    check_trainable(encoder)
    data = read_repair_data(plan, seed=chosen.seed)
    generated = sample_generated(plan.language, MEASURED, held_out=True, seed=chosen.seed)
    reporter.begin("measure", 1)
    before = measure_model(encoder, data, generated, seed=chosen.seed)
    reporter.advance()
    train_repair(encoder, data, chosen, checkpoints=plan.checkpoints, reporter=reporter)
    repaired = replace(encoder, name="repaired", fingerprint=digest(encoder.fingerprint, repr(chosen), data.digest()))
    reporter.begin("measure", 1)
    after = measure_model(repaired, data, generated, seed=chosen.seed)
    reporter.advance()
    result = compare_figures(before, after, data, model=encoder.name, max_loss=plan.max_loss, seed=chosen.seed)
    result = replace(result, notes=(_describe_training(data, chosen),))
    with atomic_folder(plan.out, check=lambda: _check_out(plan.out)) as folder:
        with suppress_messages():
            encoder.model.save_pretrained(str(folder), create_model_card=False)
        card = folder / CARD
        card.write_text(format_card(plan, result), encoding="utf-8")
        for path in folder.rglob("*.safetensors"):  # safetensors lets only the user read its files
            path.chmod(card.stat().st_mode)
    shutil.rmtree(plan.checkpoints)
    return result


def _check_plan(plan: RepairPlan, spec: Spec) -> None:
    if spec.kind != "st":
        raise UsageError(f"{plan.model}: only models of sentence-transformers can be repaired, such as st:MODEL")
    if wrong := next((name for name, _ in spec.options if name not in ("name", "revision", "prompt_name")), None):
        raise UsageError(f"{plan.model}: the option {wrong}= is not for a repair, which trains the model as it is")
    if not 0 <= plan.max_loss <= 1:
        raise UsageError(f"--max-loss must be from 0 to 100 points, not {100 * plan.max_loss:g}")
    _check_out(plan.out)


def _check_out(out: Path) -> None:
    if not out.absolute().name:
        raise UsageError(f"{out}: a new folder is expected; name another with --out")
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise UsageError(f"{out}: not a new or empty folder; name another with --out")


def read_repair_data(plan: RepairPlan, *, seed: int) -> RepairData:
    """Read the texts, pairs and neutral texts of a plan, edit them and split them, and generate pairs to keep."""
    has_parse = plan.parser is not None or is_parsed(plan.texts)
    rules = choose_usual_rules(language=plan.language, has_parse=has_parse)
    data = prepare_data(
        read_user_texts(plan.texts, column=plan.column),
        rules,
        pairs=() if plan.pairs is None else [*read_pairs(plan.pairs)],
        keep_texts=() if plan.keep_texts is None else read_text(plan.keep_texts).splitlines(),
        parser=plan.parser,
        language=plan.language,
        seed=seed,
    )
    columns = [
        [*map(triplets.render_texts, (TripletSide.ANCHOR, TripletSide.POSITIVE, TripletSide.NEGATIVE))]
        for triplets in sample_generated(plan.language, KEPT, held_out=False, seed=seed)
    ]
    pairs = [pair for anchors, *others in columns for other in others for pair in zip(anchors, other, strict=True)]
    return replace(data, generated=tuple(pairs))


def sample_generated(language: str, n: int, *, held_out: bool, seed: int) -> list[TripletSet]:
    """Return *n* triplets of each contrast of the language, with the held-out words or with the other ones."""
    words = load_lexicon(None, language)
    vocabulary, side = choose_vocabulary(words), SplitSide(share=HELD_OUT, held_out=held_out)
    triplet_sets = []
    for contrast in CONTRASTS:
        with suppress(ImpossibleContrastError):
            triplet_sets.append(TripletSpace(words, contrast, vocabulary=vocabulary, side=side).sample(n, seed=seed))
    return triplet_sets


def _describe_training(data: RepairData, settings: "RepairSettings") -> str:
    side = data.training
    chosen = ", ".join(f"{name}={value}" for name, value in asdict(settings).items())
    return (
        f"Trained on {len(side.opposites):,} opposites, {len(side.variants):,} variants and {len(side.paraphrases):,} "
        f"paraphrases of {len(side.texts):,} texts; cosines of {len(side.neutral):,} texts and "
        f"{len(data.generated):,} generated pairs were kept. Settings: {chosen}."
    )


def format_card(plan: RepairPlan, result: RepairResult) -> str:
    """Return the model card: the base model, what it was trained on, the table, and the command."""
    table = format_tables(build_repair_tables(result), TableFormat.MARKDOWN)
    return (
        "---\nlibrary_name: sentence-transformers\npipeline_tag: sentence-similarity\ntags:\n- sentence-transformers\n"
        "- sentence-similarity\n---\n\n"
        f"# {result.model}, repaired\n\n"
        f"{result.model}, trained to tell texts from their minimal opposites, and to keep the cosines of other texts. "
        f"Use it as any model of sentence-transformers.\n\n{result}\n\n{table}\n"
        f"Made by\n\n    {plan.command}\n"
    )
