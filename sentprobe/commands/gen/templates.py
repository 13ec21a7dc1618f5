"""The command ``gen templates``: list the templates, which are structures of sentences."""

from sentprobe.commands.shared.options import LanguageOption, LexiconOption, VocabularyOption
from sentprobe.display.screen import print_table, print_text
from sentprobe.display.table_writers import build_empty_table
from sentprobe.generator.events.event import Contradiction
from sentprobe.generator.sentences.realize import realize
from sentprobe.generator.spaces.templates import expand_templates, find_patterns, list_template_names
from sentprobe.lexicon import Lexicon
from sentprobe.lexicon.read import choose_vocabulary, load_lexicon


def templates(
    vocabulary: VocabularyOption = None, lexicon: LexiconOption = None, language: LanguageOption = "en"
) -> None:
    """List the templates, with an example and the number of sentences."""
    words = load_lexicon(lexicon, language)
    name = vocabulary or choose_vocabulary(words)
    words.vocabulary(name)
    table = build_empty_table(("template, and an example", "sentences"))
    table.title = f"templates (vocabulary {name}, default options)"
    for template in list_template_names(deep=True, language=words.language):
        count, example = _describe_template(template, words, name)
        if example or "ditransitive" not in template or "." not in template:  # many vocabularies lack such verbs
            table.add_row(f"{template}\n  {example}", count)
    print_table(table)
    patterns = find_patterns(expand_templates(["all"], words.language))
    print_text(f"all: {', '.join(sorted({pattern.name.partition('.')[0] for pattern in patterns}))}")


def _describe_template(name: str, lexicon: Lexicon, vocabulary: str) -> tuple[str, str]:
    """Return the number of sentences of a template (``"1,200"``), and an example; ``("0", "")`` if there are none."""
    from sentprobe.generator.spaces.space import Space

    try:
        space = Space(lexicon, vocabulary=vocabulary, templates=(name,))
    except Contradiction:
        return "0", ""
    (event,) = space.events(space.sample(1, seed=0))
    return f"{space.count():,}", realize(event, lexicon).text
