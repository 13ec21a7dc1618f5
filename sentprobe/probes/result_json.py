"""A result as JSON, both ways."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from sentprobe.errors import SentprobeError
from sentprobe.probes.intervals import Interval
from sentprobe.probes.results import Condition, Made, Norm, Result, ResultsError, Score, SeedScore
from sentprobe.probes.trainer.presets import Preset

FORMAT = "sentprobe-result 2"
"""The first value in each file of results."""


def format_result(result: Result) -> str:
    """Write a result as JSON, keys in the order of the fields; the inverse of parse_result."""
    value: dict[str, Any] = {"format": FORMAT}
    value |= {entry.name: getattr(result, entry.name) for entry in fields(result)}
    del value["source"]
    value["units"] = _line(result.units)
    value["lengths"] = _line(result.lengths)
    value["norms"] = _norms_to_json(result.norms)
    value["preset"] = result.preset.to_json()
    value["scores"] = {c.value: _score_to_json(s) for c, s in result.scores.items()}
    return json.dumps(value, indent=2, ensure_ascii=False, default=dict) + "\n"


def _line(numbers: tuple[float, ...]) -> str:
    """Write numbers, however many, as one text: JSON would give each a line."""
    return " ".join(map(repr, numbers))


def _norms_to_json(norms: tuple[Norm, ...]) -> dict[str, str]:
    return {e.name: _line(tuple(getattr(n, e.name) for n in norms)) for e in fields(Norm)}


def _score_to_json(score: Score) -> dict[str, Any]:
    seeds = [_seed_to_json(each) for each in score.seeds]
    low, high = score.interval.low, score.interval.high
    summary = {"accuracy": score.accuracy, "spread": score.spread}
    return summary | {"interval": {"low": low, "high": high}, "seeds": seeds}


def _seed_to_json(score: SeedScore) -> dict[str, Any]:
    value = {entry.name: getattr(score, entry.name) for entry in fields(score)}
    return value | {"made": score.made and asdict(score.made)}


def parse_result(text: str, *, source: str = "result") -> Result:
    """Read a result back; *source* names it in an error.

    What older versions did not keep is empty, or what it always was then.
    """
    try:
        value = json.loads(text)
        if (found := value.pop("format")) != FORMAT:
            raise ResultsError(
                f"{source}: in the format {found!r} of another version of sentprobe, "
                f"not {FORMAT!r}; use a new folder for results, or remove this file"
            )
        value["units"] = _numbers(value["units"])
        value["lengths"] = _numbers(value.get("lengths", ""))
        value["norms"] = _norms_from_json(value.get("norms", {}))
        value["preset"] = Preset.from_json(value["preset"])
        value["scores"] = {
            Condition(key): _score_from_json(score) for key, score in value["scores"].items()
        }
        return _checked(Result(**value))
    except ResultsError:
        raise
    except (SentprobeError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ResultsError(f"{source}: not a result of sentprobe ({error})") from None


def _numbers(line: str) -> tuple[int, ...]:
    return tuple(map(int, line.split()))


def _norms_from_json(value: Mapping[str, str]) -> tuple[Norm, ...]:
    if not value:
        return ()
    texts = zip(*(value[entry.name].split() for entry in fields(Norm)), strict=True)
    return tuple(Norm(int(a), int(b), float(c), float(d)) for a, b, c, d in texts)


def _checked(result: Result) -> Result:
    """Refuse what no run writes: no score of the probe, or parts that do not fit together."""
    if Condition.PROBE not in result.scores:
        raise ValueError("there is no score of the probe itself")
    totals = {each.total for score in result.scores.values() for each in score.seeds}
    for of_items in (result.units, result.lengths):
        if len(totals) > 1 or (of_items and totals != {len(of_items)}):
            raise ValueError("scores, units and lengths are of different numbers of items")
    return result


def _score_from_json(value: Mapping[str, Any]) -> Score:
    seeds = tuple(_seed_from_json(each) for each in value["seeds"])
    if not seeds:
        raise ValueError("a score without a seed")
    for each in seeds:
        each.items()
    return Score(seeds, Interval(**value["interval"]))


def _seed_from_json(value: Mapping[str, Any]) -> SeedScore:
    made = value.get("made")
    return SeedScore(**{**value, "made": made and Made(**made)})
