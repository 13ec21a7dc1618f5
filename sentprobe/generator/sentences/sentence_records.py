"""Record formats: writers and readers of sentences as plain text, JSON Lines, CoNLL-U and Penn trees."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from types import NoneType
from typing import TYPE_CHECKING, Any

from sentprobe.common.errors import FormatError, SentprobeError, UsageError, describe_damage, suggest
from sentprobe.common.values import BadSyntaxError, check_record, format_json, parse_json
from sentprobe.generator.events.checks import select_licensed
from sentprobe.generator.events.event_json import event_from_json, event_to_json
from sentprobe.generator.sentences.realize import realize, realize_readings
from sentprobe.generator.sentences.sentence import Negation, Predicate, Sentence, Token
from sentprobe.lexicon import Lexicon

if TYPE_CHECKING:
    from sentprobe.generator.sentences.parse import ParsedClause

_TOKEN_FIELDS = tuple(field.name for field in fields(Token))


def to_json(sentence: Sentence) -> dict[str, Any]:
    """Return *sentence* as a dictionary for :mod:`json`. ``tokens`` has one list for each field, such as "form"."""
    return {
        "id": sentence.id,
        "text": sentence.text,
        "template": sentence.template,
        "index": sentence.index,
        "tokens": {name: [getattr(token, name) for token in sentence.tokens] for name in _TOKEN_FIELDS},
        "tree": sentence.tree,
        "event": event_to_json(sentence.event),
        "predicates": [
            {name: number for name, number in asdict(predicate).items() if name != "recipient" or number is not None}
            for predicate in sentence.predicates
        ],
        "negations": [asdict(negation) for negation in sentence.negations],
    }


def from_json(record: Mapping[str, Any]) -> Sentence:
    """Return the sentence of a JSON record; the inverse of :func:`to_json`. Raises FormatError."""
    try:
        tokens = record["tokens"]
        columns = [tokens[name] for name in _TOKEN_FIELDS]
        sentence = Sentence(
            id=record["id"],
            tokens=tuple(Token(**dict(zip(_TOKEN_FIELDS, row, strict=True))) for row in zip(*columns, strict=True)),
            tree=record["tree"],
            event=event_from_json(record["event"]),
            predicates=tuple(Predicate(**predicate) for predicate in record["predicates"]),
            negations=tuple(Negation(**negation) for negation in record["negations"]),
            template=record["template"],
            index=record["index"],
        )
        _check_types(sentence)
    except KeyError as error:
        raise FormatError(f"the sentence lacks {error.args[0]!r}") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"invalid sentence: {describe_damage(error)}") from error
    return sentence


def _check_types(sentence: Sentence) -> None:
    """Raise TypeError or FormatError if a field of a sentence has the wrong type. ``index`` is None or any integer."""
    for part in (*sentence.tokens, *sentence.predicates, *sentence.negations):
        check_record(part)
    for text in (sentence.id, sentence.tree, sentence.template):
        if not isinstance(text, str):
            raise TypeError("id, tree and template must be texts")
    if type(sentence.index) not in (int, NoneType):
        raise TypeError("the index must be a whole number")
    last = len(sentence.tokens)
    if bad := [token.head for token in sentence.tokens if not 0 <= token.head <= last]:
        raise FormatError(f"a head is token {bad[0]}, but the sentence has {last}")


def write_json(sentence: Sentence) -> str:
    """Return *sentence* as one line of JSON."""
    return format_json(to_json(sentence), separators=(",", ":")) + "\n"


def _read_json(lines: Iterable[str], _: Lexicon) -> Iterator[Sentence]:
    for number, line in enumerate(lines, 1):
        try:
            record = parse_json(line)
        except BadSyntaxError as error:
            column = f", column {error.column}" if error.column else ""
            raise FormatError(f"line {number}{column}: not JSON: {error.reason}") from error
        if not isinstance(record, dict):
            raise FormatError(f"line {number}: expected a JSON object")
        yield _call_with_line_number(number, from_json, record)


def _call_with_line_number(number: int, read: Callable[..., Sentence], *arguments: Any) -> Sentence:
    try:
        return read(*arguments)
    except SentprobeError as error:
        raise FormatError(f"line {number}: {error}") from error


def write_text(sentence: Sentence) -> str:
    """Return the tokens of *sentence*, separated by spaces, as one line of text."""
    return sentence.text + "\n"


def annotate_text(text: str, lexicon: Lexicon, *, id: str = "") -> Sentence:
    """Return the annotated sentence of *text*. Raises ParseError, or SentprobeError if the text is ambiguous."""
    from sentprobe.generator.sentences.parse import build_event, parse_once

    return realize(build_event(parse_once(text, lexicon)), lexicon, id=id, checked=True)


def annotate_readings(clauses: "Iterable[ParsedClause]", lexicon: Lexicon, *, id: str = "") -> list[Sentence]:
    """Return an annotated sentence for each licensed reading of a sentence, whose parses are *clauses*.

    If an adverb can modify either of two verbs, each choice is a reading. The choice that the parse made comes first
    (see :mod:`.realize`). If a sentence has several readings, their identifiers are numbered (``s1.1``, ``s1.2``).
    """
    from sentprobe.generator.sentences.parse import build_event

    events = dict.fromkeys(map(build_event, clauses))
    by_event = {s.event: s for event in events for s in realize_readings(event, lexicon, id=id)}
    sentences = [by_event[event] for event in select_licensed(by_event, lexicon)]
    if len(sentences) == 1:
        return sentences
    return [replace(sentence, id=f"{id}.{number}") for number, sentence in enumerate(sentences, 1)]


def _read_text(lines: Iterable[str], lexicon: Lexicon) -> Iterator[Sentence]:
    for number, line in enumerate(lines, 1):
        yield _call_with_line_number(number, partial(annotate_text, id=f"s{number}"), line, lexicon)


def write_tree(sentence: Sentence) -> str:
    """Return the constituency tree of *sentence* as one line of text."""
    return sentence.tree + "\n"


def _read_trees(lines: Iterable[str], lexicon: Lexicon) -> Iterator[Sentence]:
    for number, line in enumerate(lines, 1):
        yield _call_with_line_number(number, partial(_annotate_tree, id=f"s{number}"), line.strip(), lexicon)


def _annotate_tree(tree: str, lexicon: Lexicon, *, id: str) -> Sentence:
    """Return the annotated sentence whose constituency tree is *tree*. Raises FormatError if no parse has this tree."""
    from sentprobe.generator.sentences.parse import parse_clauses

    text = " ".join(piece.rstrip(")") for piece in tree.split() if not piece.startswith("("))
    for sentence in annotate_readings(parse_clauses(text, lexicon), lexicon):
        if sentence.tree == tree:
            return replace(sentence, id=id)
    raise FormatError("the grammar gives this sentence another tree")


def write_conllu(sentence: Sentence) -> str:
    """Return *sentence* in CoNLL-U. MISC: ``Agent=2|Patient=5`` at verbs (0: no agent), ``Negates=4`` at negations."""
    misc = {p.verb: f"Agent={p.agent or 0}" for p in sentence.predicates}
    for p in sentence.predicates:
        if p.patient is not None:
            misc[p.verb] += f"|Patient={p.patient}"
        if p.recipient is not None:
            misc[p.verb] += f"|Recipient={p.recipient}"
    misc |= {n.cue: f"Negates={n.verb}" for n in sentence.negations}
    event = format_json(event_to_json(sentence.event))
    lines = [f"# sent_id = {sentence.id}", f"# text = {sentence.text}"]
    if sentence.template:
        lines.append(f"# template = {sentence.template}")
    if sentence.index is not None:
        lines.append(f"# index = {sentence.index}")
    lines += [f"# tree = {sentence.tree}", f"# event = {event}"]
    for i, t in enumerate(sentence.tokens, 1):
        cells = (str(i), t.form, t.lemma, t.upos, t.xpos, t.feats or "_", str(t.head), t.deprel)
        lines.append("\t".join((*cells, "_", misc.get(i, "_"))))
    return "\n".join(lines) + "\n\n"


def _read_conllu(lines: Iterable[str], _: Lexicon) -> Iterator[Sentence]:
    block: list[str] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            block.append(line.rstrip("\n"))
        elif block:
            yield _call_with_line_number(number - len(block), _sentence_from_conllu, block)
            block = []
    if block:
        raise FormatError("the file ends in the middle of a sentence (no empty line after it)")


def _sentence_from_conllu(block: list[str]) -> Sentence:
    comment_parts = (line.removeprefix("# ").partition(" = ") for line in block if line.startswith("# "))
    comments = {key: value for key, equals, value in comment_parts if equals}
    rows = [line.split("\t") for line in block if not line.startswith("#")]
    wrong_row = next((row for row in rows if len(row) != 10), None)
    if wrong_row is not None:
        raise FormatError(f"expected 10 columns separated by tabs, not {len(wrong_row)}")
    if bad := next((row[0] for i, row in enumerate(rows, 1) if row[0] != str(i)), None):
        raise FormatError(f"the tokens are not numbered from 1 in order: {bad!r}")
    try:
        return from_json(_build_record(comments, rows))
    except BadSyntaxError as error:
        raise FormatError(f"the comment 'event' is not JSON: {error}") from error
    except (ValueError, IndexError) as error:
        raise FormatError(f"expected the number of a token: {error}") from error


def _build_record(comments: Mapping[str, str], rows: list[list[str]]) -> dict[str, Any]:
    """Return the JSON record of a sentence in CoNLL-U; the inverse of :func:`write_conllu`."""
    misc = [dict(item.split("=", 1) for item in row[9].split("|") if "=" in item) for row in rows]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(_TOKEN_FIELDS, 1)}
    feats = ["" if cell == "_" else cell for cell in columns["feats"]]
    cues = {int(items["Negates"]): cue for cue, items in enumerate(misc, 1) if "Negates" in items}
    return {
        "id": comments.get("sent_id", ""),
        "tokens": {**columns, "feats": feats, "head": [*map(int, columns["head"])]},
        "tree": comments.get("tree", ""),
        "event": parse_json(comments.get("event", "{}")),
        "predicates": _build_predicates(rows, misc),
        "negations": [{"cue": cues[verb], "verb": verb} for verb in _sort_main_first(rows, list(cues))],
        "template": comments.get("template", ""),
        "index": int(comments["index"]) if "index" in comments else None,
    }


def _sort_main_first(rows: list[list[str]], verbs: list[int]) -> list[int]:
    # The rows of CoNLL-U are in the order of the tokens; predicates and negations have the main clause first.
    return sorted(verbs, key=lambda verb: rows[verb - 1][7] != "root")


def _build_predicates(rows: list[list[str]], misc: list[dict[str, str]]) -> list[dict[str, Any]]:
    predicates_by_verb = {
        verb: {
            "verb": verb,
            "agent": int(items["Agent"]) or None,
            "patient": int(items["Patient"]) if "Patient" in items else None,
            "recipient": int(items["Recipient"]) if "Recipient" in items else None,
        }
        for verb, items in enumerate(misc, 1)
        if "Agent" in items
    }
    return [predicates_by_verb[verb] for verb in _sort_main_first(rows, list(predicates_by_verb))]


def json_escape(word: str) -> str:
    """Return *word* with the escapes of a JSON string, but without its quotation marks."""
    return format_json(word)[1:-1]


@dataclass(frozen=True, slots=True)
class RecordFormat:
    """A file format for sentences: ``write`` formats one sentence, and ``read`` reads sentences from lines.

    ``escape`` formats one word, or the features of one token, for this format.
    """

    name: str
    suffixes: tuple[str, ...]
    write: Callable[[Sentence], str]
    read: Callable[[Iterable[str], Lexicon], Iterator[Sentence]]
    escape: Callable[[str], str] = str


RECORD_FORMATS = {
    fmt.name: fmt
    for fmt in (
        RecordFormat("text", (".txt", ".text"), write_text, _read_text),
        RecordFormat("jsonl", (".jsonl",), write_json, _read_json, json_escape),
        RecordFormat("conllu", (".conllu",), write_conllu, _read_conllu, lambda word: word or "_"),
        RecordFormat("trees", (".trees", ".mrg"), write_tree, _read_trees),
    )
}

TEXT, PARQUET = "text", "parquet"
FORMAT_NAMES = (*RECORD_FORMATS, PARQUET)


def find_record_format(path_suffix: str, name: str | None = None) -> str:
    """Return *name* or, if it is None, the format for a file suffix such as ".jsonl". Raises UsageError if unknown."""
    if name is not None:
        if name not in FORMAT_NAMES:
            hint = suggest(name, FORMAT_NAMES)
            raise UsageError(f"there is no format {name!r}{hint}; the formats are {', '.join(FORMAT_NAMES)}")
        return name
    if path_suffix == ".parquet":
        return PARQUET
    for fmt in RECORD_FORMATS.values():
        if path_suffix in fmt.suffixes:
            return fmt.name
    options = ", ".join(s for fmt in RECORD_FORMATS.values() for s in fmt.suffixes) + ", .parquet"
    raise UsageError(f"no format goes with the suffix {path_suffix!r}; use one of {options}, or name a format")
