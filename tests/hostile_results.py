"""Results, markers, tables, shards and chunks, sound ones to be damaged."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import made_audits
import mutations as mu
import pyarrow as pa
from hostile_datasets import toy
from hostile_files import HostileReader, text_file
from natural_tables import made_up, write_head, write_table
from probe_strategies import sample_result, seed_score

from sentprobe.probes.audit.read import read_audits
from sentprobe.probes.corpus.chunks import find_head, read_rows
from sentprobe.probes.corpus.queries import open_corpus
from sentprobe.probes.corpus.recipe import Recipe
from sentprobe.probes.corpus.sources import ChunkSize, find_sources, make_chunks
from sentprobe.probes.corpus.table import open_table
from sentprobe.probes.corpus.text_formats import RecordFields
from sentprobe.probes.corpus.work import work_on
from sentprobe.probes.geometry.material import Drawing
from sentprobe.probes.geometry.measures import Nearness, NegativeKind, TripletMeasures
from sentprobe.probes.geometry.results import (
    GeometryResult,
    GeometryScore,
    Ranking,
    parse_geometry,
    to_records,
    write_geometry,
)
from sentprobe.probes.report.curves import curve_tables, curves_of
from sentprobe.probes.report.distance_comparisons import compare_geometry, geometry_comparison_grid
from sentprobe.probes.report.downstream import read_scores
from sentprobe.probes.report.geometry import geometry_sections
from sentprobe.probes.report.mistakes import mistake_lines, mistakes_of
from sentprobe.probes.report.page_audits import page_audits
from sentprobe.probes.report.parts import accuracy_by
from sentprobe.probes.report.pictures import moments
from sentprobe.probes.report.tables import explain
from sentprobe.probes.runs.item_annotation import make_item_table
from sentprobe.probes.runs.item_table import read_item_table, write_item_table
from sentprobe.probes.runs.learning_curve import (
    PLACE,
    LearningCurve,
    LearningPoint,
    read_learning_curves,
    write_learning_curve,
)
from sentprobe.probes.runs.results import Condition, Results, make_score
from sentprobe.probes.runs.store import prepare_directory, read_results, write_result
from sentprobe.probes.statistics import Interval


def _result_file(folder: Path) -> Path:
    prepare_directory(folder, 'targets = ["compeval"]\n')
    from sentprobe.probes.runs.data_facts import facts_of
    from sentprobe.probes.runs.results import Norm

    made = sample_result("bow", "Order", 510, 500, seeds=2)
    small = replace(
        made, data=facts_of(toy()), lengths=(4,) * 1000, norms=(Norm(4, 9, 1.5, 0.5),), layer=1,
        versions={"torch": "2"}, seconds={"probe": 1.5}, family="x", notes=("A note.",),
    )  # fmt: skip
    return write_result(small, folder)


def _read_result(path: Path) -> object:
    found = read_results(path.parent)
    shown = Results(found.records)
    return explain(shown), shown.to_records(), str(shown)


def _marker(folder: Path) -> Path:
    _result_file(folder)
    return folder / "run.json"


def _read_marker(path: Path) -> object:
    prepare_directory(path.parent)
    return read_results(path.parent)


def _audit_file(folder: Path) -> Path:
    return made_audits.audit_file(folder / "audit.json", made_audits.made_audit(leaks=True))


def _read_audit(path: Path) -> object:
    found, results = read_audits(path), Results((sample_result("bow", "Order", 510),))
    return [each for audit in found for each in page_audits(results, [audit]).audits]


def _geometry_file(folder: Path) -> Path:
    whole = Interval(0.25, 0.75)
    measured = TripletMeasures(
        accuracy=0.5, accuracy_interval=whole, paired=0.5, paired_interval=whole, margin=0.125,
        ties=1, triplets=2, units=2,
    )  # fmt: skip
    scores = tuple(
        GeometryScore(
            kind=kind, nearness=Nearness.COSINE, by="", group="", measured=measured, right="0221"
        )
        for kind in NegativeKind
    )
    made = GeometryResult(
        encoder="bow", encoder_fingerprint="f", dim=4, contrast="role", material="m",
        drawing=Drawing(n=2), scores=scores, units=(0, 1), encoder_seed=3, dataset="d",
        ranking=Ranking(variants=5, mean=2.5, first=0.5, first_interval=whole),
        command="probe geometry", versions={"numpy": "2"},
    )  # fmt: skip
    write_geometry(made, folder)
    return folder / "geometry" / made.name


def _learned_file(folder: Path) -> Path:
    learned = LearningCurve(family="x", seed=0, metric="BLEU")
    for step in (5, 10):
        point = LearningPoint(step=step, epoch=step / 10, value=9.5, loss=1.5)
        learned = learned.with_point(point)
    write_learning_curve(learned, folder)
    return folder / PLACE


def _read_learning_curve(path: Path) -> object:
    """Read validations and show them with what probes read at the same steps."""
    records = [replace(sample_result("x", "Order", 500), family="x", step=step) for step in (5, 10)]
    folder = path.parents[1]
    learned = read_learning_curves([folder])
    curves = curves_of([replace(each, source=str(folder)) for each in records], (), learned)
    return [[*curve_tables(curves, intervals=True)], [moments(curve) for curve in curves]]


def _read_geometry(path: Path) -> object:
    found = (parse_geometry(path.read_bytes(), source=str(path)),)
    shown = list(geometry_sections(found, Results(()), intervals=True))
    return to_records(found), shown, geometry_comparison_grid(compare_geometry([(found, found)]))


def _items_file(folder: Path) -> Path:
    return write_item_table(make_item_table(toy()), folder)


def _read_items(path: Path) -> object:
    data = toy()
    table = read_item_table(path.parent.parent, task=data.name, fingerprint=data.fingerprint())
    if table is None or not len(table):
        return table
    score = make_score([seed_score([n % 2 == 0 for n in range(len(table))])], ())
    result = replace(sample_result("bow", data.name, 5), scores={Condition.PROBE: score})
    told = [accuracy_by(result, name, items=table) for name in table.columns]
    return told, [list(mistake_lines(each)) for each in mistakes_of(result, table, 5)]


def _table(folder: Path) -> Path:
    write_table(made_up(40), folder / "t")
    return folder / "t" / "table.json"


def _read_table(path: Path) -> object:
    table = open_table(path.parent)
    with open_corpus(table, threads=1) as corpus:
        return (
            table.constituents, list(table.versions.items()), table.counts.rows + 1,
            ", ".join(source.path for source in table.sources), corpus.tokens,
        )  # fmt: skip


def _shard(folder: Path) -> Path:
    return _table(folder).parent / "shards" / "part-00000.parquet"


def _read_shard(path: Path) -> object:
    """Read a shard whose checksum is right: whoever made it, made it so."""
    try:
        table = write_head(path.parent.parent, rows=40)
    except (pa.ArrowException, OSError, ValueError):  # the test's own reading of it
        return None
    with open_corpus(table, threads=1) as corpus:
        rows = corpus.query("SELECT tokens, tags, tree, depth, verb_tag, text FROM sentences")
        return rows, corpus.tokens, corpus.words([1, 2]), list(corpus.stream("FROM sentences"))


def _chunk(folder: Path) -> Path:
    source = folder / "a.jsonl"
    source.write_text('{"text": "the man slept"}\n', encoding="utf-8")
    (chunk,) = chunks_of(source)
    path = folder / "chunk-0000000.arrow"
    path.write_bytes(work_on(chunk, Recipe(parser="none"), "key"))
    return path


def chunks_of(source: Path) -> list[Any]:
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


def _mteb_file(folder: Path) -> Path:
    path = folder / "mteb" / "model" / "revision" / "Task.json"
    path.parent.mkdir(parents=True)
    told = {"task_name": "Task", "scores": {"test": [{"main_score": 0.5}, {"main_score": 0.25}]}}
    path.write_text(json.dumps(told), encoding="utf-8")
    return path


def _read_mteb(path: Path) -> object:
    return read_scores(path.parent.parent.parent)


SCORES = 'encoder,STS,MR\nbow,1.5,2\norg/mini,3,\n"a,b",-4e-1,5\n'

OF_RESULTS: dict[str, HostileReader] = {
    "scores": HostileReader(make=text_file("scores.csv", SCORES), read=read_scores, ways=mu.TEXT),
    "result of mteb": HostileReader(make=_mteb_file, read=_read_mteb, ways=mu.JSON),
    "result": HostileReader(make=_result_file, read=_read_result, ways=mu.JSON),
    "items": HostileReader(make=_items_file, read=_read_items, ways=mu.PARQUET, most=300),
    "run.json": HostileReader(make=_marker, read=_read_marker, ways=mu.JSON),
    "audit": HostileReader(make=_audit_file, read=_read_audit, ways=mu.JSON),
    "learned": HostileReader(make=_learned_file, read=_read_learning_curve, ways=mu.JSON),
    "geometry": HostileReader(make=_geometry_file, read=_read_geometry, ways=mu.JSON),
    "table.json": HostileReader(make=_table, read=_read_table, ways=mu.JSON),
    "shard": HostileReader(make=_shard, read=_read_shard, ways=mu.PARQUET, most=300),
    "chunk": HostileReader(make=_chunk, read=_read_chunk),
}
