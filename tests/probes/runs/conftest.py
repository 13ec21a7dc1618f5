"""Fixtures of runs."""

from typing import Any

import pytest

from sentprobe.probes.classifier import fit as trainer


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The keyword arguments of each training of probes."""
    calls: list[dict[str, Any]] = []
    fit = trainer.fit

    def record_call(*args: Any, **kwargs: Any) -> Any:
        calls.append(kwargs)
        return fit(*args, **kwargs)

    monkeypatch.setattr(trainer, "fit", record_call)
    return calls
