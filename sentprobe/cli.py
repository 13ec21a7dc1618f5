"""The command-line programs ``gen``, ``probe`` and ``sentprobe``.

``sentprobe`` has all commands of ``probe``, and those of ``gen`` as ``sentprobe gen COMMAND``. The module of a command
is imported only when the command runs; the ``--help`` of a program needs only the names and summaries below.
"""

import io
import logging
import os
import re
import signal
import sys
from collections.abc import Mapping
from functools import partial
from pkgutil import resolve_name
from typing import Any, ClassVar

import typer

from sentprobe.commands.shared.help import HelpfulCommand, HelpfulGroup
from sentprobe.commands.shared.interruption import describe_failure, note_missing_folder, open_missing_streams
from sentprobe.commands.shared.options import SETTINGS, VersionOption
from sentprobe.common.errors import WRONG_PATH, SentprobeError, check_utf8, format_message
from sentprobe.common.inputs import guarding_inputs
from sentprobe.common.processes import is_stop_request, repeat_signal
from sentprobe.common.settings import FIX, MACHINE, VARY

BadUsage: Any = typer.BadParameter.__bases__[0]
"""Base class of the exceptions that Typer raises for an invalid command line."""

_INTERRUPTED = 130
"""Exit code after Ctrl-C."""

PROGRAMS: Mapping[str, str] = {
    "gen": "Generate annotated sentences, English or German, with a chosen content.",
    "probe": "Measure which facts about a sentence can be read from its vector.",
    "sentprobe": "Generate annotated sentences, and measure which facts can be read from sentence vectors.",
}
"""Summary of each program, by its name."""

COMMANDS: dict[str, Mapping[str, tuple[str, str]]] = {
    "gen": {
        "templates": ("parse:templates", "List the templates, with an example and the number of sentences."),
        "parse": ("parse:parse", "Annotate your own sentences (arguments, file or standard input)."),
        "pairs": ("pairs:pairs", "Write triplets: an anchor, a paraphrase, and negatives."),
        "edit": ("edit:edit", "Write minimal opposites and variants of your own texts."),
        "minimal": ("pairs:minimal", "Write minimal pairs: a sentence, and the same with one error."),
        "retrieval": ("pairs:retrieval", "Write queries and documents for retrieval, in BEIR's layout."),
        "logical-forms": ("gen:logical_forms", "Write sentences with logical forms, in compositional splits."),
        "show": ("parse:show", "Draw an event as a tree; print its sentence if no field is open."),
    },
    "probe": {
        "analyze": ("analyze:analyze", "Turn a corpus into a table, from which natural-text tasks are built."),
        "agree": ("analyze:agree", "Measure how often two tables of the same sentences have the same annotation."),
        "annotate": ("analyze:annotate", "Write sheets for people to answer a task, and measure their accuracy."),
        "build": ("build:app", "Build the datasets of a suite and write them into a folder."),
        "audit": ("build:audit", "Measure the accuracy of surface cues, and report cues that leak the answer."),
        "features": ("build:features", "List the words that tell most about each label, by Naive Bayes."),
        "run": ("run:app", "Train probes (small classifiers) on sentence vectors, and print accuracies."),
        "train": ("train:app", "Train an encoder on your texts, and probe it during training."),
        "show": ("show:show", "Print the tables of one or more runs."),
        "report": ("reports:report", "Write one or more runs as an HTML page with tables, controls and plots."),
        "compare": ("compare:compare", "Compare encoders on each task: differences, intervals, paired tests."),
        "verify": ("compare:verify", "Repeat a run, or compare two, and say which figures are equal, and why not."),
        "check": ("reports:check", "List problems that weaken claims about results, and how to fix them."),
        "methods": ("reports:methods", "Write a paragraph for the methods section of a paper, and its BibTeX."),
        "correlate": ("reports:correlate", "Correlate probing accuracy with other scores of the encoders."),
        "geometry": ("geometry:geometry", "Measure if paraphrases have nearer vectors than other sentences."),
        "gate": ("gate:app", "Measure how often pairs of different meaning pass a similarity threshold."),
        "intervene": ("intervene:intervene", "Exchange directions of a model's states between mirror sentences."),
        "repair": ("train:repair", "Train a model on opposites of your texts, near its old vectors."),
        "lm": ("lm:lm", "Measure how often language models prefer the good sentence of a minimal pair."),
        "sentences": ("embed:app", "Write the sentences that a run needs, to encode them elsewhere."),
        "embed": ("embed:embed", "Write the vectors of a dataset's sentences to a file."),
        "tasks": ("lists:tasks", "List the tasks: question, classes, number of items, and paper."),
        "encoders": ("lists:encoders", "List the kinds of encoder, each with an example and its pip extra."),
        "cache": ("embed:cache_app", "Show, check or clear the cache."),
    },
}

"""Location (``module:attribute`` in ``sentprobe.commands``) and summary of each command, by program and name."""
COMMANDS["sentprobe"] = {"gen": ("", PROGRAMS["gen"]), **COMMANDS["probe"]}


class LazyGroup(HelpfulGroup):
    """A program that knows only the names and summaries of its commands; it imports a command to run it."""

    folded: ClassVar = (FIX, VARY, MACHINE)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Import the command that *args* names; return its name, the command, and the remaining arguments."""
        # During shell completion, an unknown name gives no stub instead of an error.
        name, stub, remaining_args = super().resolve_command(ctx, args)
        return name, stub and load_command(str(self.name), str(name)), remaining_args


def load_command(program: str, name: str) -> Any:
    """Import the command *name* of *program*, and return it as a Typer command."""
    # ``gen`` is a program, and also a command of ``sentprobe``.
    if name in PROGRAMS:
        return typer.main.get_command(_build_app(name, add_completion=False))
    location, _ = COMMANDS[program][name]
    target = resolve_name(f"sentprobe.commands.{location}")
    if isinstance(target, typer.Typer):
        return typer.main.get_command(target)
    app = typer.Typer(add_completion=False)
    app.command(name, cls=HelpfulCommand)(target)
    return typer.main.get_command(app)


def _build_app(program: str, *, add_completion: bool = True) -> typer.Typer:
    """Return the Typer app of a program, with a stub for each command."""
    app = typer.Typer(
        cls=LazyGroup,
        name=program,
        help=PROGRAMS[program],
        context_settings=SETTINGS,
        pretty_exceptions_enable=False,
        add_completion=add_completion,
    )
    if program == "gen":
        from sentprobe.commands.gen import generate

        app.callback(invoke_without_command=True)(generate)
    else:
        app.callback(no_args_is_help=True)(_accept_version)
    for name, (_, line) in COMMANDS[program].items():
        app.command(name, help=line)(lambda: None)
    return app


def _accept_version(*, version: VersionOption = False) -> None:
    """Declare the option ``--version`` of ``probe`` and ``sentprobe``."""


def _run_program(name: str) -> None:
    """Run a program; if Ctrl-C is pressed again while it is stopping, exit without a traceback."""
    try:
        _run_app(name)
    except KeyboardInterrupt:
        print(f"{name}: stopped", file=sys.stderr)
        raise SystemExit(_INTERRUPTED) from None


gen, probe, sentprobe = (partial(_run_program, name) for name in PROGRAMS)
"""Entry points of the programs: functions without arguments, which read ``sys.argv``."""


def _run_app(name: str) -> None:
    """Run a program; for a user's mistake, print one line on stderr and exit with the exit code of the error."""
    app = _build_app(name)
    _prepare_streams_and_signals()
    try:
        check_utf8(*sys.argv[1:])
        with guarding_inputs(sys.argv[2:]):  # the first word is the command
            # Not standalone: Typer then raises its errors, which are printed below like all others.
            raise SystemExit(app(prog_name=name, standalone_mode=False))
    except BadUsage as error:
        _exit_with_usage_error(error, name)
    except SentprobeError as error:
        print(f"{name}: {error}{note_missing_folder()}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    except SystemExit as error:
        # Typer raises SystemExit on Ctrl-C, and when a pipe is closed (| head).
        if error.code == _INTERRUPTED:
            print(f"{name}: stopped", file=sys.stderr)
        if isinstance(error.__context__, BrokenPipeError):
            _drop_output()
            raise SystemExit(0) from None
        raise
    except Exception as error:
        _exit_with_failure(error, name)


def _exit_with_failure(error: Exception, name: str) -> None:
    """Print one line and exit if the system failed (memory, disk, file handles); raise any other error."""
    message = describe_failure(error)
    if message is None:
        raise error
    print(format_message(f"{name}: {message}{note_missing_folder()}"), file=sys.stderr)
    is_wrong_path = isinstance(error, OSError) and error.filename is not None and error.errno in WRONG_PATH
    if isinstance(error, OSError):
        _drop_output()
    raise SystemExit(2 if is_wrong_path else 1) from None


def _exit_with_usage_error(error: Any, name: str) -> None:
    """Print one line with the error and the ``--help`` command that explains the usage, and exit."""
    if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help text
        typer.echo(error.format_message())
        raise SystemExit(error.exit_code) from None
    message = " ".join(error.format_message().split()).replace(": Value error, ", ": ", 1)
    message = re.sub(r"Input should be a valid (integer|number)\b.*?(?=\.?$)", _name_number, message)
    full_stop = "" if message.endswith((".", "?")) else "."
    words = [name, *(word for word in sys.argv[1:2] if word in COMMANDS[name])]
    command = error.ctx.command_path if error.ctx else " ".join(words)
    print(f"{name}: {format_message(message)}{full_stop} See {command} --help.", file=sys.stderr)
    raise SystemExit(error.exit_code) from None


def _name_number(found: re.Match[str]) -> str:
    return "a whole number is expected" if found[1] == "integer" else "a number is expected"


class _LineFormatter(logging.Formatter):
    """A formatter that writes each message on one line."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the library's name
        return format_message(super().formatMessage(record))


def _prepare_streams_and_signals() -> None:
    """Set the output streams to UTF-8; on SIGTERM and SIGHUP, raise SystemExit, so that clean-up code runs."""
    open_missing_streams()
    if logging.lastResort is not None:  # it prints the warnings of a program that sets up no logging
        logging.lastResort.setFormatter(_LineFormatter())
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A message may name a path that is not UTF-8; stderr escapes its bytes.
            escape = "backslashreplace" if stream is sys.stderr else None
            stream.reconfigure(encoding="utf-8", errors=escape)
    if sys.unraisablehook is not _report_unraisable:  # Ctrl-C in a destructor, or while Python exits
        _UNRAISABLE_HOOKS.append(sys.unraisablehook)
        sys.unraisablehook = _report_unraisable
    signal.signal(signal.SIGTERM, _exit_on_signal)
    # Under nohup, SIGHUP is ignored and stays ignored. Windows has no SIGHUP.
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _exit_on_signal)


_UNRAISABLE_HOOKS: list[Any] = []


def _report_unraisable(error: Any) -> None:
    """Report an exception that Python cannot raise, such as one in a destructor; repeat a signal that is lost there."""
    if issubclass(error.exc_type, KeyboardInterrupt):
        repeat_signal(signal.SIGINT)
    elif error.exc_value is not None and is_stop_request(error.exc_value):
        repeat_signal(error.exc_value.code - 128)
    else:
        _UNRAISABLE_HOOKS[-1](error)


def _exit_on_signal(number: int, _: object) -> None:
    sys.exit(128 + number)


def _drop_output() -> None:
    """Redirect standard output to the null device, so that Python does not fail to flush it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
