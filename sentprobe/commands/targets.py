"""What a command builds or reads, as its options say: suites and targets."""

from collections.abc import Iterable, Sequence

from sentprobe.commands import options as opt
from sentprobe.generator.split import parse_side
from sentprobe.lexicon.read import load_lexicon
from sentprobe.probes.corpus.table import Table
from sentprobe.probes.dataset import Sampling
from sentprobe.probes.natural.select import NaturalSettings, parse_band
from sentprobe.probes.runs import built_suites as built
from sentprobe.probes.runs.targets import SuiteMakers, Targets, kinds_of, make_targets
from sentprobe.specs import choose


def parse_compeval(
    names: Sequence[str], options: opt.CompevalOptions, items: opt.ItemOptions, *, seed: int
) -> built.CompevalSuite:
    """Return the suite compeval as it is asked for; no *names* means all tasks.

    Raises:
        UsageError: an unknown task, sampling or vocabulary, a task twice, a size that does not
            balance, nothing that is held out.
        SentprobeError: the lexicon cannot be read.
    """
    return built.make_compeval(
        names,
        lexicon=lambda: load_lexicon(options.lexicon),
        vocabulary=options.vocabulary,
        counts=_counts(items),
        sampling=_sampling(items),
        structure=options.hold_out_structure,
        seed=seed,
        side=parse_side(options.held_out or (), held_out=True),
    )


def _sampling(items: opt.ItemOptions) -> Sampling:
    return choose(Sampling, items.sampling, what="sampling")


def _counts(items: opt.ItemOptions) -> built.ItemCounts:
    return built.ItemCounts(items.train, items.test, items.validation)


def parse_natural(
    table: Table,
    names: Sequence[str],
    options: opt.NaturalOptions,
    items: opt.ItemOptions,
    *,
    seed: int,
    audit: bool,
) -> built.NaturalSuite:
    """Return the natural-text tasks of a table as they are asked for.

    - names: of tasks or suites of these; none means the ten of Conneau et al. 2018
    - audit: whether the cards get the paper's baselines

    Raises:
        UsageError: an unknown task, a band, a number.
    """
    settings = NaturalSettings(
        band=None if options.band is None else parse_band(options.band),
        odd_band=None if options.odd_band is None else parse_band(options.odd_band),
        first_rank=options.first_rank,
        words=options.words,
        sequences=options.sequences,
        sampling=_sampling(items),
    )
    return built.make_natural(
        table, names, settings=settings, counts=_counts(items), seed=seed, audit=audit
    )


def parse_targets(
    words: Sequence[str],
    names: Sequence[str] = (),
    *,
    compeval: opt.CompevalOptions = opt.CompevalOptions(),  # noqa: B008 - frozen
    natural: opt.NaturalOptions = opt.NaturalOptions(),  # noqa: B008
    items: opt.ItemOptions = opt.ItemOptions(),  # noqa: B008
    seed: int = 0,
    given: Iterable[str] = (),
) -> Targets:
    """Return what each word stands for: the suite compeval, the table of a corpus, or a path.

    The word ``natural`` may stand before a table.

    - names: of the tasks that are wanted; none means all
    - given: the options that were written; those that would do nothing are refused

    Raises:
        UsageError: a target twice, or that is not there; two tables; an unknown task, or an option
            that is wrong or would do nothing.
    """
    kinds = kinds_of(words)
    opt.refuse_idle(given, [kind for _, kind in kinds if kind], what=", ".join(words))
    makers = SuiteMakers(
        lambda mine: parse_compeval(mine, compeval, items, seed=seed),
        lambda table, mine: parse_natural(table, mine, natural, items, seed=seed, audit=False),
    )
    targets = make_targets(words, names, kinds=kinds, makers=makers)
    match targets.built:
        case [built.NaturalSuite() as alone]:  # beside compeval, which has both ways, it is idle
            built.check_sampled(alone.tasks, _sampling(items))
    return targets
