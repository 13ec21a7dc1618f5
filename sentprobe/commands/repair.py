"""The command ``probe repair``: train a model to tell a user's texts from their opposites."""

from pathlib import Path
from typing import Annotated

import typer

from sentprobe.commands.shared import options as opt
from sentprobe.commands.shared.interruption import report_interruption
from sentprobe.commands.shared.output_paths import OUTPUT_FOLDER
from sentprobe.commands.shared.table_output import FLAT, find_table_format, write_tables
from sentprobe.common.errors import UsageError
from sentprobe.common.processes import check_count, limit_threads
from sentprobe.common.screen import print_text, show_bars
from sentprobe.common.specs import choose_member


@opt.expand_option_groups
def repair(
    model: Annotated[str, typer.Argument(metavar="st:MODEL", help="Model of sentence-transformers.")],
    texts: Annotated[str, typer.Option(metavar="FILE", help="Your texts: a line each, CSV, TSV, JSONL or CoNLL-U.")],
    out: Annotated[Path, opt.build_out_option("Folder of the repaired model, new or empty."), OUTPUT_FOLDER],
    column: Annotated[str | None, typer.Option(help="Column of the texts in a table. Default: text.")] = None,
    parser: Annotated[
        str | None,
        typer.Option("--parser", "-p", help="spacy:PIPELINE or stanza. Default: none (numbers, dates, units only)."),
    ] = None,
    language: Annotated[str, typer.Option(help="Language of the texts: en or de.")] = "en",
    pairs: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your pairs too (columns a, b, same=0/1, kind).")
    ] = None,
    keep_texts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="More texts, a line each, whose cosines are to stay.")
    ] = None,
    max_loss: Annotated[
        float, typer.Option(metavar="POINTS", help="Exit with 1 if a kind is significantly worse by more points.")
    ] = 2.0,
    steps: Annotated[int, typer.Option(help="Number of batches.")] = 120,
    batch: Annotated[int, typer.Option(help="Number of pairs or texts in a batch.")] = 32,
    rate: Annotated[float, typer.Option(help="Learning rate.")] = 5e-5,
    keep_weight: Annotated[float, typer.Option(help="Weight of the loss that keeps cosines; 0: none.")] = 30.0,
    seed: Annotated[int, opt.build_seed_option("split, batches and dropout")] = 0,
    format_: Annotated[str, opt.build_format_option(opt.TABLE_FORMATS)] = "text",
    device: Annotated[str, opt.machine_option(help="auto, cpu, cuda or mps.")] = "auto",
    precision: Annotated[str, opt.machine_option(help="float32, bfloat16 or auto.")] = "float32",
    threads: opt.ThreadsOption = None,
) -> None:
    """Train a model on opposites of your texts, near its old vectors.

    Opposites and variants are those of gen edit. 30% of the texts are held out: the figures before and after are of
    these. A killed repair resumes with the same command.
    """
    for name, count in (("steps", steps), ("batch", batch), ("threads", threads)):
        check_count(name, count)
    if not rate > 0 or not keep_weight >= 0:
        raise UsageError("--rate must be above 0, and --keep-weight at least 0")
    style = find_table_format(format_, None, subject="a repair")
    from sentprobe.probes.classifier.probe import Precision
    from sentprobe.probes.repair.repair_measures import build_repair_tables
    from sentprobe.probes.repair.repair_run import RepairPlan
    from sentprobe.probes.repair.repair_run import repair as run

    plan = RepairPlan(
        model=model,
        texts=texts,
        out=out,
        column=column,
        pairs=pairs,
        keep_texts=keep_texts,
        parser=parser,
        language=language,
        max_loss=max_loss / 100,
        command=opt.format_command_line(),
    )
    kept = f"checkpoints are kept in {plan.checkpoints}; the same command resumes from the last complete one"
    with limit_threads(threads), show_bars() as reporter, report_interruption(kept):
        result = run(
            plan,
            reporter=reporter,
            steps=steps,
            batch=batch,
            rate=rate,
            keep_weight=keep_weight,
            seed=seed,
            device=device,
            precision=choose_member(Precision, precision, what="precision"),
        )
    if style not in FLAT:
        print_text(str(result))
    write_tables(build_repair_tables(result), result.to_records, style)
    if result.list_losses():
        raise typer.Exit(1)
