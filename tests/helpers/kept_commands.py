"""Commands whose bytes ``kept_bytes.py`` keeps: by group, each of which runs in a folder of its own.

Words in braces are replaced: {model} by the folder of the packaged sentence-transformers model, {server} by the
address of an embeddings endpoint, {treebanks} and {novels} by paths of shared data.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sentprobe.cli import COMMANDS
from sentprobe.generator.pairs.contrasts import CONTRASTS


class Group(NamedTuple):
    """Commands that run one after the other in one folder."""

    commands: Sequence[str]
    readers: Sequence[str] = ()
    """Commands that only read what the others wrote: the new code runs them on the old code's files, too."""


_WITH_MORE_OPTIONS = ["gen", "probe build", "probe run", "probe train", "probe sentences"]
HELP = Group([
    "gen", "probe", "gen --version", "probe --version", "gen --help", "probe --help",
    *(f"{program} {name} --help" for program in ("gen", "probe") for name in COMMANDS[program]),
    "probe cache check --help", "probe cache clear --help",
    *(f"{name} --help-all" for name in _WITH_MORE_OPTIONS), "probe tasks", "probe tasks --json", "probe encoders",
])  # fmt: skip

_EVENT = "'help[past, neg](agent: professor[pl], patient: student that sleep[prog](agent: _))'"
_WHOLE = "'sleep[past, simple, pos, adv()](agent: the man[sg, bare])'"
_PARSED = "'the man that the doctors were called by sleeps'"
_CONSTRAINED = "-t transitive-rc --require 'help[past](agent: lawyer[pl])' --forbid-word student"
_VARIED = '-t transitive --determiner a --determiner the --negator "n\'t" --adverbs 0-2 --seed 3'
GENERATOR = Group([
    "gen -n 40 -o all.txt", "gen -n 300 -v compeval -o made.conllu", "gen -n 300 -v everyday -o made.trees",
    *(f"gen -n 60 {_CONSTRAINED} -o rc.{end}" for end in ("jsonl", "parquet", "conllu")),
    *(f"gen -n 60 -v english {_VARIED} -f {name}" for name in ("jsonl", "conllu", "trees")),
    "gen -n 20 -v published --allow syncretic --allow stative -t transitive-rc-both",
    "gen -n 20 -t intransitive --tense past --number pl --relativizer who -o plain.txt",
    "gen -n 20 -t transitive-rc.patient.transitive.orc --rc-voice passive --voice active",
    "gen -n 5 --config constraints.json", "gen -n 5 --lexicon own.toml", "gen -n 30 --exclude all.txt --seed 1",
    "gen -n 20 --require-any 'sleep(agent: man)' --require-any 'dance(agent: doctor)' --require-word lawyer",
    *(f"gen -n 30 --language de -o de.{end}" for end in ("txt", "jsonl", "conllu", "trees", "parquet")),
    "gen -n 30 --language de --fronting object-first -t transitive", "gen -n 20 --mood question --ask patient",
    "gen -n 20 --mood order", "gen -n 20 --reflexive patient", "gen -n 20 --modal can --modal none --adjectives 0-1",
    "gen -n 20 -v everyday --coordinations 0-1 --adjectives 0-1", "gen -n 20 --profile published -v published",
    "gen --count", f"gen --count {_CONSTRAINED}", "gen --count -v compeval -t transitive --polarity neg",
    "gen templates", "gen templates -v compeval", "gen templates --language de", f"gen show {_EVENT}",
    f"gen show {_WHOLE}", f"gen show {_EVENT} --svg open.svg", f"gen show {_WHOLE} --svg whole.svg",
    f"gen parse {_PARSED}", f"gen parse {_PARSED} -f trees", f"gen parse {_PARSED} -o parsed.parquet",
    "gen parse 'the man help the doctors'", "gen parse -f jsonl < plain.txt",
    "gen parse --language de --file de.txt -f trees",
])  # fmt: skip

PAIRS = Group([
    *(f"gen pairs -n 20 -v everyday -c {contrast}" for contrast in CONTRASTS),
    *(f"gen pairs -n 20 -c role -o role.{end}" for end in ("jsonl", "parquet")), "gen pairs -n 20 -c role -f blimp",
    "gen pairs -n 20 -c negation --for training", "gen pairs -n 4 -c role --for training --nli",
    "gen pairs -n 20 -c tense --translate de", "gen pairs -n 20 -c role --language de",
    *(f"gen pairs -n 20 -c role --{name} 0.2" for name in ("hold-out", "held-out")), "gen pairs -c role --count",
    "gen pairs -n 20 -c modifier --mood question --seed 2", "gen minimal --list", "gen minimal --list --language de",
    *(f"gen minimal -p all -n 5 -o minimal.{end}" for end in ("jsonl", "parquet")),
    "gen minimal -p all -n 5 -f lm-eval -o lm-eval", "gen minimal -p all -n 5 --language de -f jsonl",
    "gen retrieval -n 20 -c role -c negation -o paraphrases", "gen retrieval -n 20 --kind exclusion -o exclusions",
])  # fmt: skip

_SMALL = "--train 112 --test 56"
_ONE_CORE = "--jobs 1 --threads 1"
_SHORT = "--set max_epochs=5"
_STRUCTURE = "--train 160 --test 80"
DATASETS = Group([
    f"probe build compeval {_SMALL} -o sets", f"probe build compeval {_SMALL} --task SemRole -f jsonl -o sets-jsonl",
    f"probe build compeval {_SMALL} --validation 56 --task Negation -f published -o sets-txt",
    f"probe build compeval {_SMALL} --sampling paper -v english --task Order -o sets-paper",
    *(f"probe build compeval {_SMALL} --task Order -f {name} -o sets-{name}"
      for name in ("senteval", "csv", "splits", "hub")),
    f"probe build compeval {_SMALL} --language de -o sets-de",
    f"probe build compeval {_SMALL} --task Order --hold-out-structure passive -o sets-passive",
    f"probe build compeval {_SMALL} --task Order --profile published -v published -o sets-profile",
    f"probe build structure {_STRUCTURE} -o structure",
    f"probe build structure {_STRUCTURE} --language de -o structure-de",
    f"probe build structure {_STRUCTURE} --task TenseOf --hold-out-structure passive -o structure-passive",
    "probe audit sets-jsonl/SemRole.jsonl -f json -o audit.json --jobs 2",
    "probe audit sets-paper/Order --write --jobs 1 --strict", "probe audit sets/Order -f markdown --jobs 1",
    f"probe sentences compeval {_SMALL} --task Order -o sentences.txt",
    "probe sentences sets-csv/Order --format jsonl",
    "probe embed sentences.txt -e bow?dim=8 -o words.npz --threads 1",
    "probe embed sentences.txt -e gated-conv?dim=32 -o words.safetensors --threads 1",
    "probe embed sentences.txt -e lstm?dim=8 --format lookup -o words.lookup --threads 1",
])  # fmt: skip

_PAIR = "-e bow?dim=16 -e bilstm-max?dim=16"
_RUNS = "runs/compeval runs/sets"
RUNS = Group([
    f"probe build compeval {_SMALL} -o sets",
    f"probe build compeval {_SMALL} --task Negation -f published -o sets-txt",
    f"probe run compeval {_SMALL} -o runs/compeval {_ONE_CORE} -e bow?dim=64 -e bilstm-max?dim=64 -e tfidf "
    "--set max_epochs=10",
    f"probe run compeval {_SMALL} -o runs/compeval {_ONE_CORE} -e bow?dim=64 -e tfidf --set max_epochs=10",
    f"probe run compeval {_SMALL} -o runs/compeval -e lstm?dim=8 --set max_epochs=10 --dry-run",
    "probe run sets/Order sets-txt --jobs 2 --threads 1 --seeds 2 -o runs/sets "
    f"-e bow?dim=16 -e python:toy:encode -e length -e majority {_SHORT}",
    f"probe run --config run.toml {_ONE_CORE}",
    f"probe run sets/Order --preset logreg {_ONE_CORE} -e bilstm-last?dim=32",
    *(f"probe run sets/Order --preset {name} {_ONE_CORE} -e gru-bi?dim=8 {_SHORT}"
      for name in ("ettinger", "adi", "conneau", "senteval")),
    f"probe run sets/Order --probe-vectors encoder {_ONE_CORE} -o runs/words -e bow?dim=8 {_SHORT}",
    f"probe run compeval {_SMALL} --task Order --task SemRole --draws 2 --seeds 2 {_PAIR} {_SHORT} {_ONE_CORE} "
    "-o runs/draws --sources --intervals --notes --all-rows",
    f"probe run sets/Order --control-task {_PAIR} {_SHORT} {_ONE_CORE} -o runs/control",
    *(f"probe run sets/Order --method {name} -e bow?dim=16 {_SHORT} {_ONE_CORE} -o runs/{name}"
      for name in ("mdl", "sample-efficiency", "v-information", "complexity")),
    f"probe run sets/Order --dims 8,16 --quantize int8,binary {_PAIR} {_SHORT} {_ONE_CORE} -o runs/dims",
    f"probe run sets/Order --erase numbers.csv {_PAIR} {_SHORT} {_ONE_CORE} -o runs/erase",
    f"probe run structure {_STRUCTURE} --task Binding -e bow?dim=16 {_SHORT} {_ONE_CORE} -o runs/structure",
], [
    *(f"probe show {_RUNS} -f {name}" for name in ("text", "markdown", "latex")),
    *(f"probe show runs/compeval -f {name} --intervals" for name in ("csv", "json", "html")),
    "probe show runs/compeval --published --all-rows --notes", "probe show runs/sets --by-length bins",
    "probe show runs/compeval --by-length tokens -f csv", "probe show runs/words", "probe show runs/draws --sources",
    "probe show runs/compeval --by voice --task Order", "probe show runs/sets --by label",
    "probe show runs/compeval --wrong 3 -e bow?dim=64 --task SemRole", "probe show runs/compeval -f mteb -o mteb",
    "probe show runs/compeval --by-length bins --plot lengths.svg", "probe report runs/draws --intervals -o page.html",
    "probe show runs/dims", "probe show runs/erase", "probe show runs/control", "probe show runs/structure --notes",
    *(f"probe show runs/{name} --notes" for name in ("mdl", "sample-efficiency", "v-information", "complexity")),
    "probe compare runs/compeval", "probe compare runs/compeval -f latex --correction bh", "probe compare runs/draws",
    "probe compare runs/compeval#bow?dim=64 runs/compeval#tfidf -f json",
    "probe compare runs/sets --against length -f markdown", "probe compare runs/dims --against 'bow?dim=16'",
    "probe check runs/compeval", "probe check runs/draws -f json", "probe check runs/sets runs/words -f markdown",
    *(f"probe methods runs/compeval -f {name}" for name in ("text", "markdown", "latex")),
    "probe methods runs/draws --bib draws.bib", "probe correlate runs/compeval --with scores.csv",
    "probe correlate runs/compeval --with scores.csv -f json --plot heat.svg",
])  # fmt: skip

_FEW = f"{_SMALL} --task Order {_SHORT} {_ONE_CORE}"
ENCODERS = Group([
    f"probe run compeval {_FEW} -e 'hf:tiny-bert?layer=all' -e 'hf:tiny-gpt2?pool=last' -o runs/layers",
    f"probe run compeval {_FEW} -e hf:tiny-bert --positions verb,last -o runs/positions",
    f"probe run compeval {_FEW} -e st:{{model}} -o runs/st",
    f"probe run compeval {_FEW} -e openai:toy?base_url={{server}} -o runs/openai",
    f"probe run compeval {_FEW} -e infersent:infersent1.pkl?vectors=words.txt -e skipthought:skip -o runs/published",
    f"probe run compeval {_FEW} -e sdae:model.npz?dictionary=words.tsv -e bow:words.txt -o runs/vectors",
    f"probe sentences compeval {_SMALL} --task Order -o asked.txt",
    "probe embed asked.txt -e hf:tiny-bert -o asked.npy --threads 1",
    f"probe run compeval {_FEW} -e file:asked.npy?sentences=asked.txt -o runs/file",
    "probe cache check", "probe gate hf:tiny-bert -n 20 --threads 1",
    "probe gate bow?dim=16 -n 20 --pairs pairs.csv -f json --threads 1",
    *(f"probe gate bow?dim=16 -n 20 -c role -c negation -o gate.{end} --threads 1"
      for end in ("csv", "md", "tex", "html", "xml")),
    "probe gate bow?dim=16 --then bilstm-max?dim=8 -n 20 -c role --keep 80% --threads 1",
    "probe gate bow?dim=16 --threshold 0.9 -n 20 --draws 2 --intervals --max-false-hits 1% --threads 1",
    f"probe geometry -n 20 {_PAIR} -o runs/near --threads 1", "gen pairs -n 20 -c role -o role.jsonl",
    f"probe geometry role.jsonl {_PAIR} --threads 1 -f csv", f"probe geometry compeval -n 20 {_PAIR} --threads 1",
    f"probe geometry -n 20 -c role --language de {_PAIR} --threads 1 --mood question",
], [
    *(f"probe show runs/{name}" for name in ("layers", "positions", "st", "openai", "published", "vectors", "file")),
    "probe show runs/layers --plot layers.svg", "probe compare runs/layers", "probe methods runs/layers",
    "probe report runs/layers runs/near -o near.html", "probe compare runs/near --nearness euclid",
    *(f"probe show runs/near --nearness {name}" for name in ("cosine", "dot", "euclid", "whitened")),
    *(f"probe geometry -n 20 {_PAIR} -o runs/near --by {name} --threads 1"
      for name in ("structure", "place", "distance", "voice")),
    "probe show runs/near --plot near.svg", "probe check runs/near runs/layers",
])  # fmt: skip

_TRAIN = "--corpus texts.txt --steps 5 --hidden 8 --inputs 8 --batch 16 --validation 20 --threads 1 --precision float32"
_OBJECTIVES = ("autoencoder", "denoising", "skipthought", "meaning", "contrastive", "none")
TRAINING = Group([
    "gen -n 300 -v everyday -o texts.txt", "gen -n 300 -v everyday -o texts.trees",
    "gen -n 300 --language de -o german.txt", "gen pairs -n 40 -c role --for training --nli -f jsonl -o nli.jsonl",
    *(f"probe train {name} --objective autoencoder {_TRAIN} -o enc/{name}"
      for name in ("lstm", "bilstm-last", "bilstm-max", "gated-conv", "gru-uni", "gru-bi", "cbow")),
    *(f"probe train lstm --objective {name} {_TRAIN} -o enc/of-{name}" for name in _OBJECTIVES),
    f"probe train lstm --objective nmt {_TRAIN} --parallel german.txt -o enc/nmt",
    f"probe train lstm --objective seq2tree {_TRAIN.replace('.txt', '.trees')} -o enc/seq2tree",
    f"probe train lstm --objective nli {_TRAIN.replace('texts.txt', 'nli.jsonl')} -o enc/nli",
    f"probe train bilstm-max --objective autoencoder {_TRAIN} --probe-every 3 --items 112 --task Order -c role "
    "-o enc/probed",
    f"probe train lstm --objective autoencoder {_TRAIN.replace('--steps 5', '--steps 8')} -o enc/lstm",
    f"probe train lstm-lm {_TRAIN} -o enc/lm", "probe train ngram --corpus texts.txt --order 3 -o enc/3.arpa",
    f"probe run compeval {_FEW} -e enc/lstm -e trained:enc/nmt -o runs/trained",
    "probe lm enc/lm ngram:enc/3.arpa hf:tiny-gpt2 hf:tiny-bert -p all -n 5 -o runs/lm --threads 1 --device cpu",
    *(f"probe lm enc/lm ngram:enc/3.arpa -p transitive -n 20 --score {name} --threads 1 -f json"
      for name in ("sentence", "token", "critical")),
    "probe lm enc/lm ngram:enc/3.arpa -p all -n 5 --known-words --scores scores-lm.csv --threads 1",
    "gen minimal -p transitive -n 20 -o pairs.jsonl", "probe lm ngram:enc/3.arpa --pairs pairs.jsonl --intervals",
], [
    "probe show enc/probed/probes", "probe show enc/probed/probes --plot curve.svg", "probe show runs/trained",
    "probe lm enc/lm ngram:enc/3.arpa hf:tiny-gpt2 hf:tiny-bert -p all -n 5 -o runs/lm --by field --device cpu",
    "probe compare runs/lm", "probe show runs/lm --notes", "probe methods runs/lm runs/trained",
])  # fmt: skip

CORPUS = Group([
    "gen -n 300 -v compeval -o made.trees", "gen -n 300 -v compeval --seed 1 -o others.trees",
    "gen -n 300 -v compeval -o made.conllu", "gen -n 40 -o plain.txt",
    "probe analyze made.trees -o table-trees --jobs 1",
    "probe analyze others.trees made.conllu -o table-mixed --jobs 2",
    "probe analyze made.conllu -o table-conllu --jobs 1",
    "probe analyze plain.txt -f lines --parser none -o table-text --jobs 1",
    *(f"probe agree table-trees table-conllu -f {name}" for name in ("text", "json")),
    "probe agree table-trees table-mixed --disagreements differ.jsonl",
    "probe build natural table-trees --task Tense --task BShift --no-audit -o natural-made",
    "probe analyze {treebanks}/ud/de_gsd-ud-dev.conllu.xz -o de --universal --jobs 1",
    "probe analyze {treebanks}/ud/fr_gsd-ud-dev.conllu.xz -o fr --universal --jobs 1",
    "probe analyze hr_min-ud-test.conllu --universal -o hr --jobs 1",
    "probe build natural de fr --task universal --train 200 --validation 40 --test 60 --no-audit -o universal "
    "--train-on de --test-on fr",
    f"probe run natural de fr --task SentLen --task Tense {_ONE_CORE} --train 200 --validation 40 --test 60 "
    f"-e bow?dim=16 {_SHORT} -o runs/languages --train-on de --test-on de,fr",
    "probe show runs/languages --notes",
])  # fmt: skip

NATURAL = Group([
    "probe analyze {novels} -o table --jobs 1", "probe build natural table -o natural",
    "probe build natural table --task adi --task adi-controls --no-audit -o adi",
    "probe build natural table -f senteval --seed 1 --sequences 5 --frequency-band 1-5000 --odd-band 1-20 --words 3 "
    "--first-rank 12 --no-audit --task TopConst --task ObjNum --task SOMO --task WC -o senteval",
    "probe run natural table -o runs/natural --task SentLen --task AdiContent --train 400 --validation 80 --test 80 "
    f"-e bow?dim=32 -e tfidf -e length {_ONE_CORE} --set max_epochs=2 --set hidden=20,30 --set dropout=0 --set l2=0",
], ["probe show runs/natural", "probe show runs/natural --by-length bins", "probe compare runs/natural"])  # fmt: skip

WORKFLOWS = Group([
    "gen edit questions.txt -o edits.csv", "gen edit questions.txt --refused",
    "gen -n 20 -v everyday -o made.conllu", "gen edit made.conllu --kind negation -o negated.jsonl",
    *(f"gen logical-forms --split {split} -n 3000 -o {split}" for split in ("lexical", "structural")),
    f"probe build compeval {_SMALL} --task Order -o sets", "probe features sets numbers.csv -n 2 -o features.csv",
    "probe annotate sets/Order --n 40 -o study",
    f"probe run sets/Order -e bow?dim=16 {_SHORT} {_ONE_CORE} -o runs/order", "probe verify runs/order -f json",
    "probe intervene hf:tiny-bert --task SemRole --train 112 --n 5 --threads 1 -f json",
])  # fmt: skip

BAD = Group([
    f"probe run compeval {_FEW} -e bow?dim=8 -o runs/compeval", f"probe build compeval {_SMALL} --task Order -o sets",
    "gen -n 20 -o plain.txt", "gen -n 20 -o made.trees", "probe analyze made.trees -o table-trees --jobs 1",
    "gen -n many", "gen -n 0", "gen -t transitiv", "gen -v compevl", "gen --tence past", "gen --require help[past",
    "gen --require hlep", "gen --lexicon none.toml", "gen -o x.doc", "gen --lexicon constraints.json",
    "gen --require help[past] --forbid *[past] -t transitive", "gen -n 3 --count templates", "gen show hlep",
    "gen pairs", "gen pairs -c rloe", "gen minimal -p transitiv", "gen retrieval -o sets", "probe rnu",
    "probe run compevel", "probe run compeval -e bwo", "probe run compeval --train 402",
    "probe run compeval --words 9",
    "probe run plain.txt", "probe run sets --vocabulary compeval", "probe run compeval --set batches=3",
    "probe run compeval -e python:toy:absent", "probe run compeval --config constraints.json",
    "probe run --config untrusted.toml", "probe run compeval --method mld", "probe run compeval --task Ordre",
    "probe build compeval", "probe build natural -o x", "probe build compevl -o x", "probe build natural absent -o x",
    "probe build compeval -o natural-x -f jsnol", "probe analyze plain.txt -o x",
    "probe analyze made.trees -p stanza -o x", "probe analyze absent.mrg -o x", "probe audit plain.txt",
    "probe audit absent", "probe show absent", "probe show runs/compeval -f htlm", "probe compare runs/compeval#bwo",
    "probe show runs/compeval --by vioce", "probe report plain.txt", "probe correlate runs/compeval --with plain.txt",
    "probe agree table-trees absent", "probe embed plain.txt -e bow -o x.doc", "probe gate", "probe gate bow?dmi=3",
    "probe gate bow --pairs plain.txt", "probe geometry -c rloe", "probe geometry plain.txt",
    "probe lm plain.txt -p all",
    "probe lm ngram:absent.arpa -p all", "probe train", "probe train lstn --objective none --corpus plain.txt -o x",
    "probe train lstm --corpus plain.txt -o x", "probe train lstm --objective nmt --corpus plain.txt -o x",
    "probe methods absent", "probe check absent", "gen -n 3 -o runs/compeval/run.json",
])  # fmt: skip

GROUPS = {
    "help": HELP, "generator": GENERATOR, "pairs": PAIRS, "datasets": DATASETS, "runs": RUNS, "encoders": ENCODERS,
    "training": TRAINING, "corpus": CORPUS, "natural": NATURAL, "workflows": WORKFLOWS, "bad": BAD,
}  # fmt: skip

_NUMBERED = [
    f"{split},{label},the {word} {verb}"
    for split, verbs in (("train", ("slept", "danced", "ran", "left")), ("test", ("came", "fell")))
    for verb in verbs
    for singular in ("man", "doctor", "lawyer", "king", "girl")
    for label, word in (("one", singular), ("many", "men" if singular == "man" else f"{singular}s"))
]
TEXTS = {
    "numbers.csv": "\n".join(["split,label,sentence", *_NUMBERED, ""]),
    "toy.py": "def encode(sentences):\n    return [[float(len(s)), 0.5] for s in sentences]\n",
    "own.toml": "[noun]\nking = {}\n[intransitive]\nsleep = {}\n[transitive]\nhelp = {}\n",
    "constraints.json": '{"constraints": {"needList": {"noun": ["lawyer"]}}}\n',
    "run.toml": 'targets = ["sets/Order"]\nencoder = ["bow?dim=8"]\nset = ["max_epochs=3"]\nout = "runs/config"\n',
    "untrusted.toml": 'targets = ["compeval"]\nencoder = ["python:toy:encode"]\n',
    "questions.txt": "Are you open on Monday?\nIs the app free?\nThe ticket cost 30 euros in 2019.\n",
    "scores.csv": "encoder,other\nbow?dim=64,0.2\nbilstm-max?dim=64,0.4\ntfidf,0.3\n",
    "pairs.csv": "a,b,same\nthe man slept,the man did not sleep,0\nthe man slept,the man was sleeping,1\n",
}
"""Small files that the commands read."""
