"""Plots as SVG text: displayed in a notebook, and saved as SVG, PNG or PDF files."""

import base64
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from pathlib import Path

from sentprobe.common.errors import UsageError, format_install
from sentprobe.common.files import atomic_path

SUFFIXES = (".svg", ".png", ".pdf")
PIXELS = 2


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot, which a notebook displays."""

    title: str
    caption: str = field(repr=False)
    svg: str = field(repr=False)

    def _repr_html_(self) -> str:
        # An image of its own: the styles of an SVG within a page would apply to all of the page.
        data = base64.b64encode(self.svg.encode()).decode()
        image = f'<img alt="{escape(self.title)}" src="data:image/svg+xml;base64,{data}">'
        return f"<p>{image}</p>\n<p>{escape(self.caption)}</p>"

    def save(self, path: PathLike[str] | str) -> None:
        """Write the plot in the format of the file's suffix: .svg, .png or .pdf.

        Raises:
            UsageError: another suffix; PNG and PDF need the extra ``plots``; the file cannot be written.
        """
        suffix = check_suffix(Path(path))
        content = convert_svg(self.svg, suffix)
        with atomic_path(Path(path)) as temporary:
            temporary.write_bytes(content)


class Plots(tuple[Plot, ...]):
    """Plots, which a notebook displays one below the other."""

    def _repr_html_(self) -> str:
        return "\n".join(plot._repr_html_() for plot in self)


def check_suffix(path: Path) -> str:
    """Return a plot file's suffix in lower case; raise UsageError if it is not in ``SUFFIXES``."""
    if (suffix := path.suffix.lower()) not in SUFFIXES:
        raise UsageError(f"{path}: the suffix of a plot must be one of {', '.join(SUFFIXES)}")
    return suffix


def convert_svg(svg: str, suffix: str) -> bytes:
    """Return a plot in the format of a suffix; raise UsageError if the extra for PNG and PDF is not installed."""
    if suffix == ".svg":
        return svg.encode()
    try:
        import vl_convert
    except ImportError:
        raise UsageError(f"a plot as PNG or PDF needs the extra (SVG does not): {format_install('plots')}") from None
    if suffix == ".png":
        return vl_convert.svg_to_png(svg, scale=PIXELS)
    return vl_convert.svg_to_pdf(svg)
