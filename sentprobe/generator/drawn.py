"""Drawn events: a layout and a value for each of its variables, which is less than an event.

An :class:`~sentprobe.generator.event.Event` takes longer to make than its values take to draw.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sentprobe.generator import event as ev
from sentprobe.generator.layout import Layout, event_of


class DrawnEvent(NamedTuple):
    """An event of a layout: for each variable, in the layout's order, the index of its value."""

    layout: Layout
    values: Sequence[int]

    @property
    def event(self) -> ev.Event:
        """The event itself."""
        pairs = zip(self.layout.variables, self.values, strict=True)
        return event_of({v.name: v.values[value] for v, value in pairs}, self.layout)
