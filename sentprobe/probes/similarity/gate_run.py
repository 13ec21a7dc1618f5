"""Measurement of false hits and misses of a similarity threshold (``probe gate``)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sentprobe.common.errors import UsageError
from sentprobe.common.processes import check_count
from sentprobe.common.screen import Reporter, shorten, show_bars
from sentprobe.common.specs import Spec, choose_member
from sentprobe.generator.events.event import Mood
from sentprobe.generator.pairs.triplets import TripletSpace
from sentprobe.generator.spaces.templates import parse_side
from sentprobe.lexicon import Lexicon, english
from sentprobe.lexicon.read import choose_vocabulary
from sentprobe.probes.encoders.cache import Cache
from sentprobe.probes.encoders.encoder import Encoder
from sentprobe.probes.encoders.kinds import (
    EncoderArgument,
    find_kind,
    list_kind_names,
    make_encoder,
    read_spec,
    resolve_encoders,
)
from sentprobe.probes.encoders.models.python import CallStyle, find_style
from sentprobe.probes.similarity import pair_scores, text_pairs
from sentprobe.probes.similarity.gate_comparison import compare_gates, read_stored_gate
from sentprobe.probes.similarity.gate_rates import GateDraw, measure_gate
from sentprobe.probes.similarity.gate_tables import GateResults
from sentprobe.probes.similarity.gate_thresholds import (
    USUAL,
    NoThresholdError,
    ThresholdRule,
    check_names,
    check_threshold,
)
from sentprobe.probes.similarity.measures import Nearness
from sentprobe.probes.similarity.pair_scores import (
    CROSS_ENCODER,
    DECISION,
    Cascade,
    Decision,
    PairFunction,
    PairModel,
    PairScorer,
    TextPair,
    load_cross_encoder,
    load_decision,
)
from sentprobe.probes.similarity.text_pairs import VARIANTS, EditedTexts, PairsArgument, TextsArgument
from sentprobe.probes.similarity.triplet_sentences import TripletSampling, build_triplet_spaces

DRAW_STEP = 10
"""The difference between the seeds of consecutive draws, as in ``probe run``."""


def gate(
    model: EncoderArgument | object | None = None,
    *,
    score: PairFunction | None = None,
    then: EncoderArgument | None = None,
    against: EncoderArgument | object | None = None,
    baseline: Path | str | None = None,
    threshold: float | None = None,
    keep: float | None = None,
    paraphrases: Path | str | None = None,
    budget: float | Mapping[str, float] | None = None,
    contrasts: Sequence[str] | str = (),
    n: int = 400,
    draws: int = 1,
    seed: int = 0,
    measure: str = "cosine",
    pairs: PairsArgument | None = None,
    texts: TextsArgument | None = None,
    column: str | None = None,
    parser: str | None = None,
    lexicon: Lexicon | None = None,
    vocabulary: str | None = None,
    templates: Sequence[str] = ("all",),
    mood: str | None = None,
    held_out: Sequence[str] = (),
    cache: Cache | None = None,
    reporter: Reporter | None = None,
) -> GateResults:
    """Measure how many pairs with different meanings pass a similarity threshold, and how many paraphrases do not.

    >>> figures = gate("bow?dim=8", contrasts=["role"], n=40)
    >>> figures.draws[0].rates[1].auc
    0.5

    - model: an encoder; ``ce:MODEL``, a cross-encoder; or a decision, that is a function of a cached and a new text
      that returns True or False, or a score
    - score: instead of a model, a function from a list of pairs of texts to their scores
    - then: a second model, which scores only the pairs that pass the first one. The threshold of the
      second model is chosen so that the share *keep* of the paraphrases among these pairs passes
    - against: another model, which is compared with the first on the same pairs, each at its own threshold
    - baseline: a JSON file that ``probe gate --out`` wrote; the model is compared with its result on the same pairs
    - threshold: by default, the strictest value at which at least the share *keep* of the paraphrases passes. It is
      chosen on one half of the units, and the rates are measured on the other half
    - keep: this share, 0.95 by default
    - paraphrases: a file of paraphrases (columns a and b), which determine the threshold instead of those measured
    - budget: instead of *keep*, the share of false hits that no kind exceeds (95% upper bound), or such shares by
      contrast or kind ("": all others). The threshold is the one with most hits
    - contrasts: by default, all that the templates allow; with *texts*, none
    - n: the number of triplets of each contrast. Without *pairs*, these are the triplets that ``gen pairs``
      writes with this *n* and this seed
    - measure: cosine, dot or euclid (for which the threshold is a distance)
    - mood: the mood of all sentences: statement (the default), question or order
    - pairs: a file of pairs, with the columns a, b, same and optionally kind, or tuples of these. The rates of these
      pairs are measured. For comparison, generated pairs are measured, too; their anchors have about the same
      distribution of token counts as the texts a
    - texts: a file of texts, or the texts. Measured are their edits, as ``gen edit`` makes them, without generated
      pairs unless *contrasts* names some. The threshold must be stated, or come from *paraphrases*: edits with the
      same meaning (variants) are easier than real paraphrases
    - column, parser: of *texts*, as of ``gen edit``

    Raises:
        UsageError: a value is wrong, or the model has no vectors.
        NoThresholdError: no threshold is within the budget; its *results* are the figures at the strictest one.
    """
    nearness = choose_member(Nearness, measure, what="measure", excluded=[Nearness.WHITENED])
    check_count("draws", draws)
    _check_comparison(against=against, baseline=baseline, then=then, draws=draws, budget=budget)
    budgets = {"": budget} if isinstance(budget, float | int) else dict(budget or {})
    # In a cascade, the threshold is that of the first model. The second has the other values.
    second_rule = ThresholdRule(keep=keep, budgets=budgets)
    if then is None:
        first_rule = ThresholdRule(threshold=threshold, keep=keep, budgets=budgets)
    else:
        first_rule = ThresholdRule(threshold=threshold, keep=keep if threshold is None else None)
    first_model, second_model, other_model = map(_read_model, (model, then, against))
    if texts is not None and pairs is not None:
        raise UsageError("--texts: leave out --pairs")
    edited = None if texts is None else EditedTexts(texts, column=column, parser=parser)
    pairs_choose = paraphrases is None and (threshold is None or then is not None)
    has_threshold = isinstance(first_model, Spec) and first_model.kind != "python"  # a decision has none
    if edited is not None and pairs_choose and has_threshold:
        raise UsageError(VARIANTS_SET_NOTHING)
    pair_source = prepare_pairs(
        (contrasts,) if isinstance(contrasts, str) else contrasts,
        n=n,
        own_pairs=pairs,
        edited=edited,
        needs_same=pairs_choose and has_threshold,
        paraphrases=paraphrases,
        lexicon=lexicon,
        vocabulary=vocabulary,
        templates=templates,
        mood=mood,
        held_out=held_out,
    )
    check_names(budgets, pair_source.list_names(), "--budget")
    if paraphrases is not None and threshold is not None and then is None:
        raise UsageError("--threshold and --paraphrases: give one of them")
    stored = None if baseline is None else read_stored_gate(Path(baseline), seed=seed)
    measured: list[GateDraw] = []
    other = None
    with show_bars(show=None if reporter is None else False) as bar:
        for draw_seed in range(seed, seed + DRAW_STEP * draws, DRAW_STEP):
            build = partial(_build_scorer, seed=draw_seed, nearness=nearness, cache=cache)
            measure_pairs = partial(pair_source.measure, seed=draw_seed, reporter=reporter or bar)
            scorer = build(first_model, score)
            if edited is not None and pairs_choose and scorer.measure != DECISION:
                raise UsageError(VARIANTS_SET_NOTHING)
            if threshold is not None:
                check_threshold(threshold, scorer.measure)
            if then is None:
                measured.append(measure_pairs(scorer, first_rule))
                continue
            cascade = Cascade(scorer, build(second_model))
            first = measure_pairs(cascade, first_rule)
            cascade.ask_second(first.threshold)
            second = measure_pairs(cascade, second_rule)  # the second scorer sees the pairs that pass the first
            measured.append(replace(second, stages=cascade.build_stages(first.threshold, second.threshold)))
        if other_model is not None:
            other = measure_pairs(build(other_model), first_rule)
    results = GateResults(
        tuple(measured),
        pair_source.left_out,
        (*pair_source.pair_notes, *pair_source.describe_missing_lengths(measured)),
        material=pair_source.material,
        same_name="paraphrases" if edited is None else VARIANTS,
    )
    if other is not None:
        comparison = compare_gates(measured[0], other, same_name=results.compared_name)
        return replace(results, other=other, comparison=comparison)
    if stored is not None:
        return replace(results, comparison=compare_gates(stored, measured[0], same_name=results.compared_name))
    _raise_failure(results)
    return results


VARIANTS_SET_NOTHING = (
    "--texts: its variants are easier than real paraphrases, and set no threshold; give --paraphrases FILE, or "
    "--threshold without --then"
)


def _raise_failure(results: GateResults) -> None:
    """Raise NoThresholdError if a draw has no threshold within the budget."""
    for draw in results.draws:
        if draw.failure:
            raise NoThresholdError(draw.failure, strictest=draw.threshold, results=results)


def _check_comparison(*, then: object, against: object, baseline: object, draws: int, budget: object) -> None:
    """Raise UsageError for arguments of :func:`gate` that a comparison excludes."""
    name = "--against" if against is not None else "--baseline"
    if against is not None and baseline is not None:
        raise UsageError("--against and --baseline: give one of them")
    if against is None and baseline is None:
        return
    if then is not None:
        raise UsageError(f"{name} compares single models; leave out --then")
    if draws > 1:
        raise UsageError(f"{name} compares the pairs of one draw; leave out --draws")
    if budget is not None:
        raise UsageError(f"{name} compares false hits, which --budget fixes; leave out one of them")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSource:
    """Triplet spaces, from which each draw samples pairs, and optionally the user's own pairs and paraphrases."""

    spaces: Sequence[TripletSpace]
    left_out: tuple[str, ...]
    n: int
    material: str
    """The measured material, as a noun phrase, such as "the pairs in mine.csv"."""
    own_pairs: tuple[TextPair, ...]
    lengths: Counter[int]
    """For each number of tokens in the first text, the number of the user's pairs."""
    pair_notes: tuple[str, ...]
    """Notes on doubtful labels of the user's pairs."""
    paraphrases: tuple[TextPair, ...]

    def list_names(self) -> list[str]:
        """Return the names that may have a limit or budget: the kinds of the user's pairs, or the contrasts."""
        kinds = [pair.kind for pair in self.own_pairs if not pair.same]
        return kinds if self.own_pairs else [space.contrast.name for space in self.spaces]

    def describe_missing_lengths(self, draws: Sequence[GateDraw]) -> list[str]:
        """Return a note if no generated sentence is as long as the user's texts, though some were asked for."""
        is_missing = self.own_pairs and self.spaces and not draws[0].generated
        return ["No generated sentence has the length of a text in column a."] if is_missing else []

    def measure(self, scorer: PairScorer, rule: ThresholdRule = USUAL, *, seed: int, reporter: Reporter) -> GateDraw:
        """Measure the rates of a scorer in one draw, at the threshold that the rule states or chooses."""
        paraphrases = text_pairs.score_pairs(scorer, self.paraphrases) if self.paraphrases else None
        triplet_sets = [
            text_pairs.select_lengths(space, self.n, self.lengths, seed=seed)
            if self.own_pairs
            else space.sample(self.n, seed=seed)
            for space in self.spaces
        ]
        reporter.begin(f"score with {shorten(scorer.name)}", len(self.own_pairs) + sum(map(len, triplet_sets)))
        own_scores = text_pairs.score_own_pairs(scorer, self.own_pairs) if self.own_pairs else []
        reporter.advance(len(self.own_pairs))
        generated = [
            pairs
            for triplets in triplet_sets
            if len(triplets)
            for pairs in pair_scores.score_triplets(scorer, triplets, reporter)
        ]
        if scorer.measure == DECISION and (rule != USUAL or paraphrases is not None):
            raise UsageError(f"{scorer.name} returns True or False: leave out --threshold, --keep and --budget")
        return measure_gate(
            own_scores or generated,
            generated if own_scores else (),
            scorer=scorer.name,
            measure=scorer.measure,
            seed=seed,
            rule=rule,
            paraphrases=paraphrases,
        )


def prepare_pairs(
    contrasts: Sequence[str],
    *,
    n: int,
    own_pairs: PairsArgument | None = None,
    edited: EditedTexts | None = None,
    needs_same: bool = False,
    paraphrases: Path | str | None = None,
    lexicon: Lexicon | None = None,
    vocabulary: str | None = None,
    templates: Sequence[str] = ("all",),
    mood: str | None = None,
    held_out: Sequence[str] = (),
) -> PairSource:
    """Check the arguments of :func:`gate` that determine the pairs; return the pairs' source.

    Raises:
        UsageError: a value is wrong, or a file cannot be read.
        FormatError: a file is wrong.
    """
    words = lexicon or english()
    side = parse_side(list(held_out), held_out=True)
    sampling = TripletSampling(
        vocabulary=vocabulary or choose_vocabulary(words, "compeval"),
        templates=tuple(templates),
        n=n,
        held_out=side.values if side else (),
    )
    chosen_mood = None if mood is None else choose_member(Mood, mood, what="mood")
    is_generated = edited is None or bool(contrasts)
    spaces, errors = build_triplet_spaces(words, contrasts, sampling, chosen_mood) if is_generated else ([], [])
    loaded: tuple[TextPair, ...] = ()
    notes: tuple[str, ...] = ()
    material = f"generated sentences of the vocabulary {sampling.vocabulary}"
    if own_pairs is not None:
        source = str(own_pairs) if isinstance(own_pairs, Path | str) else "pairs"
        loaded = text_pairs.load_pairs(own_pairs)
        notes = text_pairs.check_pairs(loaded, source, needs_same=needs_same)
        material = f"the pairs in {source}" if isinstance(own_pairs, Path | str) else "your pairs"
    if edited is not None:
        loaded, notes = edited.make_pairs(words.language.code)
        material = f"edits of {edited.name}"
    return PairSource(
        spaces=spaces,
        left_out=tuple(map(str, errors)),
        n=n,
        material=material,
        own_pairs=loaded,
        lengths=Counter(len(pair.first.split()) for pair in loaded),
        pair_notes=notes,
        paraphrases=() if paraphrases is None else text_pairs.read_paraphrases(Path(paraphrases)),
    )


def _read_model(model: object) -> object:
    """Return the spec that a text states; anything else unchanged."""
    return read_spec(model, [*list_kind_names(), CROSS_ENCODER]) if isinstance(model, str) else model


def _build_scorer(
    model: object, score: PairFunction | None = None, *, seed: int, nearness: Nearness, cache: Cache | None
) -> PairScorer:
    if (model is None) is (score is None):
        raise UsageError("give either a model or a score function")
    if score is not None:
        return PairModel(score, name=getattr(score, "__name__", "score"))
    if isinstance(model, Spec):
        if model.kind == CROSS_ENCODER:
            return load_cross_encoder(model)
        find_kind(model, CROSS_ENCODER)
        if model.kind == "python" and (decision := load_decision(model)):
            return decision
    elif find_style(model) is CallStyle.DECISION:
        return Decision(model, name=getattr(model, "__name__", "decision"))  # type: ignore[arg-type]
    source, *further_models = resolve_encoders(model)
    if further_models:
        raise UsageError(f"{1 + len(further_models)} models; one is expected here")
    encoder = make_encoder(source, seed=seed) if isinstance(source, Spec) else source
    if not isinstance(encoder, Encoder):
        raise UsageError(f"{encoder.name!r} is a baseline, which has no vectors")
    return pair_scores.VectorScorer(encoder, nearness, cache=cache)
