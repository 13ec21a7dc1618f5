"""What tasks are called where MTEB's are."""

import re


def task_name(text: str) -> str:
    """Return the name of a task, which is also that of a file.

    >>> task_name("SemRole"), task_name("my/own task")
    ('SemRole', 'my_own_task')
    """
    return re.sub(r"[^\w.+=-]+", "_", text).strip("._") or "task"


def geometry_name(contrast: str) -> str:
    """Return the name of a contrast as a task: there is a task Tense besides.

    >>> geometry_name("tense")
    'GeometryTense'
    """
    return f"Geometry{task_name(contrast[:1].upper() + contrast[1:])}"
