"""Run the program ``sentprobe`` (``python -m sentprobe``)."""

from sentprobe.cli import sentprobe

if __name__ == "__main__":
    sentprobe()
