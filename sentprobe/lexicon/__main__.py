"""Write `inflections.tsv` anew, after a change of english.toml or of lemminflect."""

from pathlib import Path

from sentprobe.lexicon.inflect import KEPT, kept_text
from sentprobe.lexicon.read import english

if __name__ == "__main__":
    target = Path(__file__).with_name(KEPT)
    target.write_text(kept_text(english().entries), encoding="utf-8")
