"""Names of tasks in MTEB."""

import re


def to_file_name(text: str) -> str:
    """Return the name of a task in a form that is also a file name.

    >>> to_file_name("SemRole"), to_file_name("my/own task")
    ('SemRole', 'my_own_task')
    """
    return re.sub(r"[^\w.+=-]+", "_", text).strip("._") or "task"


def make_geometry_name(contrast: str) -> str:
    """Return the task name of a contrast, distinct from probing tasks such as Tense.

    >>> make_geometry_name("tense")
    'GeometryTense'
    """
    return f"Geometry{to_file_name(contrast[:1].upper() + contrast[1:])}"
