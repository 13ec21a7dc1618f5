"""Results as flat records, for CSV, JSON and data frames."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING, Any

from sentprobe.errors import UsageError
from sentprobe.probes.grids import TableFormat
from sentprobe.probes.results import Condition, Result, Results, Score

if TYPE_CHECKING:
    import pandas as pd


def to_records(results: Results) -> list[dict[str, Any]]:
    """Return a flat dictionary for each encoder, task and condition, all with the same keys."""
    return [
        _record(result, condition, score)
        for result in results.records
        for condition, score in result.scores.items()
    ]


def _record(result: Result, condition: Condition, score: Score) -> dict[str, Any]:
    return {
        "run": result.source,
        "encoder": result.encoder,
        "task": result.task,
        "condition": condition.value,
        "accuracy": score.accuracy,
        "spread": score.spread,
        "low": score.interval.low,
        "high": score.interval.high,
        "seeds": len(score.seeds),
        "total": score.total,
        "majority": result.majority,
        "mirrored": result.mirrored,
        "dim": result.dim,
        "family": result.family,
        "layer": result.layer,
        "probe_vectors": result.probe_vectors,
        "preset": result.preset.name,
        "seed": result.seed,
        "precision": "+".join(sorted({each.precision for each in score.seeds})),
        "epochs": mean(each.epochs for each in score.seeds),
        "converged": all(each.converged for each in score.seeds),
        "seconds": result.seconds.get(condition.value),
        "device": result.device,
        "dataset_fingerprint": result.dataset_fingerprint,
        "encoder_fingerprint": result.encoder_fingerprint,
    }


def to_frame(results: Results) -> "pd.DataFrame":
    """Return the records as a pandas data frame.

    Raises:
        UsageError: pandas is not installed.
    """
    try:
        import pandas as pd  # noqa: PLC0415 - optional, and slow
    except ImportError:
        raise UsageError(
            "a data frame needs the extra: pip install 'sentprobe[pandas]' (to_records() does not)"
        ) from None
    return pd.DataFrame(to_records(results))


def write_records(records: Sequence[Mapping[str, Any]], style: TableFormat) -> str:
    """Write flat records, all with the same keys, as CSV or JSON with all digits."""
    if style is TableFormat.JSON:
        return json.dumps(list(records), indent=2, ensure_ascii=False) + "\n"
    out = io.StringIO()
    writer = csv.DictWriter(out, list(records[0]) if records else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()
