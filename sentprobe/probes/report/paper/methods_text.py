"""Methods paragraphs with their references, as text, Markdown or LaTeX."""

from collections.abc import Callable, Mapping

from sentprobe.display.table_writers import TableFormat, format_title
from sentprobe.probes.report.cited_text import list_keys, write_with_citations
from sentprobe.probes.report.paper.methods_paragraph import write_methods_paragraph
from sentprobe.probes.report.references import write_bibliography
from sentprobe.probes.report.tables.main_table import describe_differences, split_settings
from sentprobe.probes.results.result import Results, find_provenances


def write_methods_text(results: Results, style: TableFormat) -> str:
    """Return a paragraph for each table of ``probe show``."""
    tables = split_settings(results)
    return "\n".join(
        format_title(title, style) + write_with_citations(write_methods_paragraph(table), style) + "\n"
        for title, table in zip(describe_differences(tables), tables, strict=True)
    )


def write_references_text(results: Results) -> str:
    """Return the BibTeX of all references in the paragraphs."""
    pieces = [piece for table in split_settings(results) for piece in write_methods_paragraph(table)]
    all_makings = (making for record in results.records for making in find_provenances(record))
    versions = dict.fromkeys(making.versions.get("sentprobe", "") for making in all_makings)
    return write_bibliography(list_keys(pieces), version=" and ".join(filter(None, versions)))


BIBTEX_FORMATS: Mapping[TableFormat, Callable[[str], str]] = {
    TableFormat.TEXT: str,
    TableFormat.MARKDOWN: "```bibtex\n{}```\n".format,
    TableFormat.LATEX: lambda text: "".join(f"% {line}".rstrip() + "\n" for line in text.splitlines()),
}
"""The format of BibTeX below the paragraphs: comments in LaTeX."""
