"""Intact results, markers, tables, shards and chunks, which tests damage."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from helpers.hostile import mutations as mu
from helpers.hostile.hostile_datasets import make_toy
from helpers.hostile.hostile_files import HostileReader, text_file
from helpers.runs import made_audits
from helpers.runs.natural_tables import sample_rows, write_head, write_table
from helpers.strategies.probe_strategies import make_sample_result, make_seed_score

from sentprobe.probes.audits.audit_report import read_audits
from sentprobe.probes.corpus.chunks import compute_chunk_rows, find_head, read_rows
from sentprobe.probes.corpus.queries import open_corpus
from sentprobe.probes.corpus.sources import ChunkSize, RecordFields, find_sources, make_chunks
from sentprobe.probes.corpus.table import AnalysisRecipe, open_table
from sentprobe.probes.reports.correlations import read_scores
from sentprobe.probes.reports.distance_comparisons import build_geometry_comparison_grid, compare_geometry
from sentprobe.probes.reports.item_parts import accuracy_by, find_mistakes, render_mistakes
from sentprobe.probes.reports.pages.page_parts import build_page_audits
from sentprobe.probes.reports.pages.page_pictures import draw_training_picture
from sentprobe.probes.reports.tables.distance_report import build_geometry_sections
from sentprobe.probes.reports.tables.table_notes import describe_all
from sentprobe.probes.reports.tables.training_curves import build_curve_tables, build_curves
from sentprobe.probes.results.item_table import read_item_table, write_item_table
from sentprobe.probes.results.records import (
    CURVE_FILE,
    LearningPoint,
    TrainingCurve,
    read_learning_curves,
    write_learning_curve,
)
from sentprobe.probes.results.result import Condition, Results, make_score
from sentprobe.probes.results.store import prepare_directory, read_results, write_result
from sentprobe.probes.runs.completed_tasks import make_item_table
from sentprobe.probes.similarity.distance_results import (
    GeometryResult,
    GeometryScore,
    Ranking,
    build_file_name,
    parse_geometry,
    to_geometry_records,
    write_geometry,
)
from sentprobe.probes.similarity.measures import Nearness, NegativeKind, TripletMeasures
from sentprobe.probes.similarity.triplet_sentences import TripletSampling
from sentprobe.probes.statistics import Interval


def _make_result_file(folder: Path) -> Path:
    prepare_directory(folder, 'targets = ["compeval"]\n')
    from sentprobe.probes.results.data_facts import collect_data_facts
    from sentprobe.probes.results.result import Norm

    full_result = make_sample_result("bow", "Order", 510, 500, seeds=2)
    result = replace(
        full_result,
        data=collect_data_facts(make_toy()),
        lengths=(4,) * 1000,
        norms=(Norm(4, 9, 1.5, 0.5),),
        layer=1,
        versions={"torch": "2"},
        seconds={"probe": 1.5},
        family="x",
        notes=("A note.",),
    )
    return write_result(result, folder)


def _read_result(path: Path) -> object:
    stored = read_results(path.parent)
    results = Results(stored.records)
    return describe_all(results), results.to_records(), str(results)


def _make_marker(folder: Path) -> Path:
    _make_result_file(folder)
    return folder / "run.json"


def _read_marker(path: Path) -> object:
    prepare_directory(path.parent)
    return read_results(path.parent)


def _make_audit_file(folder: Path) -> Path:
    return made_audits.write_audit_file(folder / "audit.json", made_audits.make_audit(leaks=True))


def _read_audit(path: Path) -> object:
    audits, results = read_audits(path), Results((make_sample_result("bow", "Order", 510),))
    return [page_audit for audit in audits for page_audit in build_page_audits(results, [audit]).audits]


def _make_geometry_file(folder: Path) -> Path:
    interval = Interval(0.25, 0.75)
    measured = TripletMeasures(
        accuracy=0.625,
        accuracy_interval=interval,
        paired=0.25,
        paired_interval=interval,
        margin=0.125,
        ties=1,
        triplets=4,
        units=2,
    )
    scores = tuple(
        GeometryScore(kind=kind, nearness=Nearness.COSINE, by="", group="", measured=measured, right="0221")
        for kind in NegativeKind
    )
    result = GeometryResult(
        encoder="bow", encoder_fingerprint="f", dim=4, contrast="role", material="m",
        drawing=TripletSampling(n=2), scores=scores, units=(0, 1), encoder_seed=3, dataset="d",
        ranking=Ranking(distractors=5, mean=2.5, first=0.5, first_interval=interval),
        command="probe geometry", versions={"numpy": "2"},
    )  # fmt: skip
    write_geometry(result, folder)
    return folder / "geometry" / build_file_name(*result.identity)


def _make_learning_curve_file(folder: Path) -> Path:
    curve = TrainingCurve(family="x", seed=0, metric="BLEU")
    for step in (5, 10):
        point = LearningPoint(step=step, epoch=step / 10, value=9.5, loss=1.5)
        curve = curve.append_point(point)
    write_learning_curve(curve, folder)
    return folder / CURVE_FILE


def _read_learning_curve(path: Path) -> object:
    """Read validations, and show them with the probes' accuracies at the same steps."""
    records = [replace(make_sample_result("x", "Order", 500), family="x", step=step) for step in (5, 10)]
    folder = path.parents[1]
    learning_curves = read_learning_curves([folder])
    curves = build_curves([replace(record, source=str(folder)) for record in records], (), learning_curves)
    return [[*build_curve_tables(curves, intervals=True)], [draw_training_picture(curve) for curve in curves]]


def _read_geometry(path: Path) -> object:
    results = (parse_geometry(path.read_bytes(), source=str(path)),)
    report_sections = list(build_geometry_sections(results, Results(()), intervals=True))
    return (
        to_geometry_records(results),
        report_sections,
        build_geometry_comparison_grid(compare_geometry([(results, results)])),
    )


def _make_items_file(folder: Path) -> Path:
    return write_item_table(make_item_table(make_toy()), folder)


def _read_items(path: Path) -> object:
    data = make_toy()
    table = read_item_table(path.parent.parent, task=data.name, fingerprint=data.fingerprint())
    if table is None or not len(table):
        return table
    score = make_score([make_seed_score([n % 2 == 0 for n in range(len(table))])], ())
    result = replace(make_sample_result("bow", data.name, 5), scores={Condition.PROBE: score})
    accuracies = [accuracy_by(result, name, items=table) for name in table.columns]
    return accuracies, [list(render_mistakes(mistakes)) for mistakes in find_mistakes(result, table, 5)]


def _make_table(folder: Path) -> Path:
    write_table(sample_rows(40), folder / "t")
    return folder / "t" / "table.json"


def _read_table(path: Path) -> object:
    table = open_table(path.parent)
    with open_corpus(table, threads=1) as corpus:
        return (
            table.constituents, list(table.versions.items()), table.counts.rows + 1,
            ", ".join(source.path for source in table.sources), corpus.token_count,
        )  # fmt: skip


def _make_shard(folder: Path) -> Path:
    return _make_table(folder).parent / "shards" / "part-00000.parquet"


def _read_shard(path: Path) -> object:
    """Read a shard after correcting its checksum, as an attacker would."""
    try:
        table = write_head(path.parent.parent, rows=40)
    except (pa.ArrowException, OSError, ValueError):  # the test's own reading of it
        return None
    with open_corpus(table, threads=1) as corpus:
        rows = corpus.query("SELECT tokens, tags, tree, depth, verb_tag, text FROM sentences")
        return (rows, corpus.token_count, corpus.find_words([1, 2]), list(corpus.stream("FROM sentences")))


def _make_chunk(folder: Path) -> Path:
    source = folder / "a.jsonl"
    source.write_text('{"text": "the man slept"}\n', encoding="utf-8")
    (chunk,) = list_chunks(source)
    path = folder / "chunk-0000000.arrow"
    path.write_bytes(compute_chunk_rows(chunk, AnalysisRecipe(parser="none"), "key"))
    return path


def list_chunks(source: Path) -> list[Any]:
    return list(
        make_chunks(
            find_sources([str(source)]),
            reading=RecordFields(),
            encoding="utf-8",
            size=ChunkSize(pieces=10, characters=10**6),
        )
    )


def _read_chunk(path: Path) -> object:
    head = find_head(path, "key")
    return head and read_rows(path).num_rows


def _make_mteb_file(folder: Path) -> Path:
    path = folder / "mteb" / "model" / "revision" / "Task.json"
    path.parent.mkdir(parents=True)
    task_scores = {"task_name": "Task", "scores": {"test": [{"main_score": 0.5}, {"main_score": 0.25}]}}
    path.write_text(json.dumps(task_scores), encoding="utf-8")
    return path


def _read_mteb(path: Path) -> object:
    return read_scores(path.parent.parent.parent)


SCORES = 'encoder,STS,MR\nbow,1.5,2\norg/mini,3,\n"a,b",-4e-1,5\n'

RESULT_READERS: dict[str, HostileReader] = {
    "scores": HostileReader(make=text_file("scores.csv", SCORES), read=read_scores, ways=mu.TEXT),
    "result of mteb": HostileReader(make=_make_mteb_file, read=_read_mteb, ways=mu.JSON),
    "result": HostileReader(make=_make_result_file, read=_read_result, ways=mu.JSON),
    "items": HostileReader(make=_make_items_file, read=_read_items, ways=mu.PARQUET, most=300),
    "run.json": HostileReader(make=_make_marker, read=_read_marker, ways=mu.JSON),
    "audit": HostileReader(make=_make_audit_file, read=_read_audit, ways=mu.JSON),
    "learned": HostileReader(make=_make_learning_curve_file, read=_read_learning_curve, ways=mu.JSON),
    "geometry": HostileReader(make=_make_geometry_file, read=_read_geometry, ways=mu.JSON),
    "table.json": HostileReader(make=_make_table, read=_read_table, ways=mu.JSON),
    "shard": HostileReader(make=_make_shard, read=_read_shard, ways=mu.PARQUET, most=300),
    "chunk": HostileReader(make=_make_chunk, read=_read_chunk),
}
