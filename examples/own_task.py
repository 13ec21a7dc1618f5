"""A task of your own from annotated sentences, and an audit of its surface cues.

Task: is the main clause passive? The audit finds that words alone give the answer: "by" and a form
of "be" are enough. A study of voice needs a better task, or a control.

Prints:

    length: 84.0 leak
    bag-of-words: 100.0 leak
    n-grams: 100.0 leak
    fixed-positions: 59.5 chance
    template: 100.0 leak
"""

import csv
from pathlib import Path

import sentprobe

lexicon = sentprobe.english()
space = sentprobe.Space(lexicon, vocabulary="compeval", templates=["transitive"])
events = list(space.events(space.sample(600, seed=1)))
with Path("passive.csv").open("w", encoding="utf-8", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(["text", "label", "split"])
    for number, event in enumerate(events):
        split = "test" if number % 3 == 0 else "train"
        rows.writerow([sentprobe.realize(event, lexicon).text, event.voice, split])

audit = sentprobe.audit("passive.csv")
for finding in audit.findings:
    print(f"{finding.cue}: {100 * finding.score.accuracy:.1f} {finding.verdict}")
