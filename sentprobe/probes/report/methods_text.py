"""The paragraphs about runs with their references, as text, Markdown or LaTeX."""

from collections.abc import Callable, Mapping

from sentprobe.probes.report.cited_text import keys_in, write_cited
from sentprobe.probes.report.methods_paragraph import methods_paragraph
from sentprobe.probes.report.references import bibliography
from sentprobe.probes.report.tables import settings, titles
from sentprobe.probes.runs.results import Results, makings
from sentprobe.table_writers import TableFormat, write_title


def methods_text(results: Results, style: TableFormat) -> str:
    """Return a paragraph for each table of ``probe show``."""
    tables = settings(results)
    return "\n".join(
        f"{write_title(title, style)}{write_cited(methods_paragraph(table), style)}\n"
        for title, table in zip(titles(tables), tables, strict=True)
    )


def references_text(results: Results) -> str:
    """Return the BibTeX of all that the paragraphs cite."""
    pieces = [piece for table in settings(results) for piece in methods_paragraph(table)]
    made = (each for record in results.records for each in makings(record))
    versions = dict.fromkeys(each.versions.get("sentprobe", "") for each in made)
    return bibliography(keys_in(pieces), version=" and ".join(filter(None, versions)))


def _as_comments(text: str) -> str:
    return "".join(f"% {line}".rstrip() + "\n" for line in text.splitlines())


def as_below(bibtex: str, style: TableFormat) -> str:
    """Return BibTeX as it stands below the paragraphs."""
    return BELOW[style](bibtex)


BELOW: Mapping[TableFormat, Callable[[str], str]] = {
    TableFormat.TEXT: str,
    TableFormat.MARKDOWN: "```bibtex\n{}```\n".format,
    TableFormat.LATEX: _as_comments,
}
"""How BibTeX stands below the paragraphs: in LaTeX as comments."""
