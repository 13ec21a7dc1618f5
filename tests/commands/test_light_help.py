"""The help of every command imports no heavy library."""

import json
import subprocess
import sys

from helpers.processes import ENVIRONMENT

HEAVY = ["numpy", "torch", "pandas", "pyarrow", "scipy", "nltk", "sklearn", "duckdb", "matplotlib"]

CODE = (
    f"HEAVY = {HEAVY}"
    + """
import contextlib, io, json, sys
from sentprobe import cli

loaded = {}
for program, commands in cli.COMMANDS.items():
    for words in ([], *([name] for name in commands)):
        for option in ("--help", "--help-all"):
            sys.argv = [program, *words, option]
            streams = io.StringIO()
            with contextlib.redirect_stdout(streams), contextlib.redirect_stderr(streams):
                with contextlib.suppress(SystemExit):
                    getattr(cli, program)()
            heavy = [name for name in HEAVY if name in sys.modules]
            loaded[" ".join(sys.argv)] = [heavy, "Usage: " in streams.getvalue()]
print(json.dumps(loaded))
"""
)


def test_no_help_imports_a_heavy_library() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env=ENVIRONMENT)
    loaded = json.loads(done.stdout)
    assert {line: heavy for line, (heavy, _) in loaded.items() if heavy} == {}
    assert all(shown for line, (_, shown) in loaded.items() if line.endswith("--help"))
    assert {"gen --help", "probe run --help-all", "sentprobe show --help"} <= set(loaded)
