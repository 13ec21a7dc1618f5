"""Functions that build suites from options, and find the suites, corpus tables and datasets that arguments name."""

from collections.abc import Mapping, Sequence

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.help import reject_unused_options
from sentprobe.common.specs import choose_member
from sentprobe.generator.spaces.profile import load_profile
from sentprobe.generator.spaces.templates import parse_side
from sentprobe.lexicon.read import load_lexicon
from sentprobe.probes.corpus.table import Table
from sentprobe.probes.datasets.dataset import Sampling
from sentprobe.probes.natural.selection import DEPTHS, NaturalSettings, parse_band, parse_depths
from sentprobe.probes.runs import suites as built
from sentprobe.probes.runs.targets import Targets, classify_targets, make_targets


def parse_compeval(
    suite: str, names: Sequence[str], options: opt.CompevalOptions, items: opt.ItemOptions, *, seed: int
) -> built.CompevalSuite:
    """Return the suite named *suite* with the tasks *names* or, without *names*, all tasks that the language has."""
    return built.make_compeval(
        names,
        suite=suite,
        lexicon=lambda: load_lexicon(options.lexicon, options.language),
        vocabulary=options.vocabulary,
        counts=built.ItemCounts(items.train, items.test, items.validation),
        sampling=_parse_sampling(items),
        structure=options.hold_out_structure,
        profile=load_profile(options.profile),
        seed=seed,
        side=parse_side(options.held_out or (), held_out=True),
    )


def _parse_sampling(items: opt.ItemOptions) -> Sampling:
    return choose_member(Sampling, items.sampling, what="sampling")


def parse_natural(
    tables: Sequence[Table],
    names: Sequence[str],
    options: opt.NaturalOptions,
    items: opt.ItemOptions,
    *,
    seed: int,
    audit: bool,
) -> built.NaturalSuite:
    """Return a suite of natural-text tasks from corpus tables.

    - names: tasks or groups of tasks; by default the ten tasks of Conneau et al. 2018
    - audit: whether to measure the paper's baselines and add them to the dataset cards
    """
    settings = NaturalSettings(
        band=None if options.band is None else parse_band(options.band),
        odd_band=None if options.odd_band is None else parse_band(options.odd_band),
        first_rank=options.first_rank,
        words=options.words,
        sequences=options.sequences,
        depths=DEPTHS if options.depths is None else parse_depths(options.depths),
        sampling=_parse_sampling(items),
    )
    return built.make_natural(
        tables,
        names,
        train_on=options.train_on,
        test_on=options.test_on,
        settings=settings,
        counts=built.ItemCounts(items.train, items.test, items.validation),
        seed=seed,
        audit=audit,
    )


def parse_targets(
    words: Sequence[str],
    names: Sequence[str] = (),
    *,
    compeval: opt.CompevalOptions = opt.CompevalOptions(),  # noqa: B008 - frozen
    natural: opt.NaturalOptions = opt.NaturalOptions(),  # noqa: B008
    items: opt.ItemOptions = opt.ItemOptions(),  # noqa: B008
    seed: int = 0,
    given_options: Mapping[str, str] | None = None,
) -> Targets:
    """Return the suites, corpus tables and datasets that the arguments *words* name. Raises UsageError.

    - names: tasks to select; by default all
    - given_options: options that the user set, by parameter; an option that no target uses raises UsageError
    """
    classified = classify_targets(words)
    reject_unused_options(given_options or {}, [suite for _, suite in classified if suite], data_name=", ".join(words))
    targets = make_targets(
        words,
        names,
        classified=classified,
        make_compeval=lambda suite, tasks: parse_compeval(suite, tasks, compeval, items, seed=seed),
        make_natural=lambda tables, tasks: parse_natural(tables, tasks, natural, items, seed=seed, audit=False),
    )
    match targets.built:
        case [built.NaturalSuite() as suite]:  # suites of generated sentences have both kinds of sampling
            built.check_sampling(suite.tasks, _parse_sampling(items))
    return targets
