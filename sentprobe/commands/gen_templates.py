"""The command ``gen templates``: the templates, with an example and a count of each."""

from sentprobe.commands.options import LexiconOption, VocabularyOption
from sentprobe.generator.event import Contradiction
from sentprobe.generator.realize import realize
from sentprobe.generator.space import Space
from sentprobe.generator.templates import find_patterns, template_names
from sentprobe.lexicon import Lexicon
from sentprobe.lexicon.read import default_vocabulary, load_lexicon
from sentprobe.screen import print_table, say
from sentprobe.table_writers import empty_table


def templates(vocabulary: VocabularyOption = None, lexicon: LexiconOption = None) -> None:
    """List the templates and sub-templates, each with an example and the number of sentences."""
    words = load_lexicon(lexicon)
    name = vocabulary or default_vocabulary(words)
    words.vocabulary(name)
    table = empty_table(("template, and an example", "sentences"))
    table.title = f"templates (vocabulary {name}, default options)"
    for each in template_names(deep=True):
        count, example = describe(each, words, name)
        table.add_row(f"{each}\n  {example}", count)
    print_table(table)
    say(f"all: {', '.join(sorted({p.name.partition('.')[0] for p in find_patterns(['all'])}))}")


def describe(name: str, lexicon: Lexicon, vocabulary: str) -> tuple[str, str]:
    """Return the number of sentences of a template, and an example."""
    try:
        space = Space(lexicon, vocabulary=vocabulary, templates=(name,))
    except Contradiction:
        return "0", ""
    (event,) = space.events(space.sample(1, seed=0))
    return f"{space.count():,}", realize(event, lexicon).text
