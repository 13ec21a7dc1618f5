"""The commands ``gen`` and ``probe``: gather what they consist of, run it, report a mistake.

A command's module is imported when that command runs; until then its name and its line of help
are all that is known, so that ``--help`` answers at once.
"""

import io
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from typing import Any, ClassVar

import typer

from sentprobe.commands.help import HelpfulCommand, HelpfulGroup
from sentprobe.commands.options import FIX, MACHINE, SETTINGS, VARY, VersionOption
from sentprobe.errors import WRONG_PATH, SentprobeError, check_utf8, told

BadUsage: Any = typer.BadParameter.__bases__[0]
"""What Typer raises for a command line that it cannot read, whatever Typer is built upon."""

_INTERRUPTED = 130
"""The exit code after Ctrl-C."""

COMMANDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "gen": {
        "templates": (
            "sentprobe.commands.gen_templates:templates",
            "List the templates and sub-templates, each with an example and the number of "
            "sentences.",
        ),
        "parse": (
            "sentprobe.commands.gen_parse:parse",
            "Annotate sentences that came from elsewhere: arguments, a file, or standard input.",
        ),
        "pairs": (
            "sentprobe.commands.gen_pairs:pairs",
            "Write triplets: an anchor, a positive that means the same in another form, two "
            "negatives.",
        ),
        "show": (
            "sentprobe.commands.gen_show:show",
            "Draw an event as a tree; with its sentence, if it is fully specified.",
        ),
    },
    "probe": {
        "analyze": (
            "sentprobe.commands.analyze:analyze",
            "Turn a corpus into a table, from which natural-text tasks are built.",
        ),
        "agree": (
            "sentprobe.commands.agree:agree",
            "Say how often two tables agree on the same sentences: what automatic parsing costs.",
        ),
        "build": (
            "sentprobe.commands.build:app",
            "Build the datasets of a suite and write them into a folder.",
        ),
        "audit": (
            "sentprobe.commands.audit:audit",
            "Report what surface cues alone achieve on datasets, and which of them leak the "
            "answer.",
        ),
        "run": (
            "sentprobe.commands.run:app",
            "Build or read the tasks, encode their sentences, train probes, and print the table.",
        ),
        "train": (
            "sentprobe.commands.train:app",
            "Train an encoder of the papers on your texts, and probe it on the way.",
        ),
        "show": (
            "sentprobe.commands.show:show",
            "Print the table of one or more runs, and those of probe geometry.",
        ),
        "report": (
            "sentprobe.commands.page:report",
            "Write one or more runs as a page: its table, sanity runs, plots, how to do it again.",
        ),
        "compare": (
            "sentprobe.commands.compare:compare",
            "Compare encoders task by task: differences, intervals and paired tests.",
        ),
        "check": (
            "sentprobe.commands.check:check",
            "List what stands in the way of a claim about results: what, where, and what to do.",
        ),
        "methods": (
            "sentprobe.commands.methods:methods",
            "Write the paragraph and the BibTeX that a paper's methods section needs.",
        ),
        "correlate": (
            "sentprobe.commands.correlate:correlate_command",
            "Correlate probing tasks with other scores of the same encoders: Spearman's, by rank.",
        ),
        "geometry": (
            "sentprobe.commands.geometry:geometry",
            "Ask encoders, without training, whether the same meaning is nearer than another.",
        ),
        "sentences": (
            "sentprobe.commands.sentences:app",
            "Write the sentences that a run encodes, to encode them elsewhere.",
        ),
        "embed": (
            "sentprobe.commands.embed:embed",
            "Write the vectors of a dataset's sentences to a file, for use elsewhere.",
        ),
        "tasks": (
            "sentprobe.commands.known_tasks:tasks",
            "List the tasks: the question that each asks, its classes, items, and paper.",
        ),
        "encoders": (
            "sentprobe.commands.encoders:encoders",
            "List the kinds of encoder, with an example, and whether their extra is installed.",
        ),
        "cache": (
            "sentprobe.commands.cache:cache_app",
            "Show, check or clear the sentence vectors that are kept on disk.",
        ),
    },
}
"""By program and command: where the command is, and its line of help."""


class LazyGroup(HelpfulGroup):
    """A program whose commands are stubs with a name and a line of help, until one is run."""

    folded: ClassVar = (FIX, VARY, MACHINE)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the name of the command that *args* begin with, the command, and the rest."""
        name, stub, rest = super().resolve_command(ctx, args)
        return name, stub and load_command(str(self.name), str(name)), rest


def load_command(program: str, name: str) -> Any:
    """Return a command of *program*, as Typer makes it of its function, or of an app of its own."""
    where, _ = COMMANDS[program][name]
    found = resolve_name(where)
    if not isinstance(found, typer.Typer):
        app = typer.Typer(add_completion=False)
        app.command(name, cls=HelpfulCommand)(found)
        found = app
    return typer.main.get_command(found)


def _gather(
    program: str, callback: Callable[..., None], text: str, **settings: bool
) -> typer.Typer:
    """Return a program with a stub for each of its commands."""
    app = typer.Typer(
        cls=LazyGroup,
        name=program,
        help=text,
        context_settings=SETTINGS,
        pretty_exceptions_enable=False,
        add_completion=True,
    )
    app.callback(**settings)(callback)  # type: ignore[arg-type]
    for name, (_, line) in COMMANDS[program].items():
        app.command(name, help=line)(lambda: None)
    return app


def gen() -> None:
    """Run the command ``gen``."""
    from sentprobe.commands.gen import generate  # noqa: PLC0415 - probe does without

    what = "Generate controlled, grammatical, annotated English sentences."
    _main(_gather("gen", generate, what, invoke_without_command=True), "gen")


def probe() -> None:
    """Run the command ``probe``."""
    what = "Find out what can be read from sentence vectors."
    _main(_gather("probe", _probe, what, no_args_is_help=True), "probe")


def _probe(*, version: VersionOption = False) -> None:
    """Have the options of ``probe`` itself."""


def _main(app: typer.Typer, name: str) -> None:
    """Run *app*; a user's mistake ends in one line on stderr and its exit code."""
    _prepare()
    try:
        check_utf8(*sys.argv[1:])
        raise SystemExit(app(prog_name=name, standalone_mode=False))
    except BadUsage as error:
        _refuse(error, name)
    except SentprobeError as error:
        print(f"{name}: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    except SystemExit as error:
        # Typer makes these of Ctrl-C, and of a reader that has had enough (| head).
        if error.code == _INTERRUPTED:
            print(f"{name}: stopped", file=sys.stderr)
        if isinstance(error.__context__, BrokenPipeError):
            _drop_output()
            raise SystemExit(0) from None
        raise
    except MemoryError:
        print(f"{name}: there is not enough memory for this; ask for less", file=sys.stderr)
        raise SystemExit(1) from None
    except OSError as error:
        where = error.filename or "standard output"
        print(told(f"{name}: {where}: {error.strerror}"), file=sys.stderr)
        _drop_output()
        wrong = error.filename is not None and error.errno in WRONG_PATH
        raise SystemExit(2 if wrong else 1) from None


def _refuse(error: Any, name: str) -> None:
    """Leave for a command line that cannot be read; say in one line why, and where help is."""
    if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help
        typer.echo(error.format_message())
        raise SystemExit(error.exit_code) from None
    what = " ".join(error.format_message().split())
    stop = "" if what.endswith((".", "?")) else "."
    where = error.ctx.command_path if error.ctx else " ".join([name, *_named_command(name)])
    print(f"{name}: {told(what)}{stop} See {where} --help.", file=sys.stderr)
    raise SystemExit(error.exit_code) from None


def _named_command(program: str) -> list[str]:
    """Return the name of the command that the command line begins with, if it does."""
    return [word for word in sys.argv[1:2] if word in COMMANDS[program]]


def _prepare() -> None:
    """Make the streams UTF-8, whatever the locale, and let a kill clean up as Ctrl-C does."""
    if sys.stdout is None:  # closed by whoever started us (gen >&-)
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A message may name a path that is not UTF-8, which stderr escapes.
            escape = "backslashreplace" if stream is sys.stderr else None
            stream.reconfigure(encoding="utf-8", errors=escape)
    signal.signal(signal.SIGTERM, _end)
    # Under nohup a terminal may go: that signal is ignored, and stays so. Windows has none.
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _end)


def _end(number: int, _: object) -> None:
    sys.exit(128 + number)


def _drop_output() -> None:
    """Let what is still buffered for stdout go nowhere, or Python complains at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
