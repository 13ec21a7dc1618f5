"""``probe annotate``: items of a task for people to answer, and the accuracy and agreement of their answers."""
