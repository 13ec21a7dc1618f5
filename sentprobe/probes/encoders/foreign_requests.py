"""What an encoder spec does beside reading files: a spec in somebody else's run file may not do it unasked."""

from enum import StrEnum
from pathlib import Path

from sentprobe.probes.encoders.kinds import read_spec
from sentprobe.specs import Spec


class ForeignRequest(StrEnum):
    """A request that a file must not make, as a phrase for messages."""

    CODE = "runs code"
    CONNECTION = "opens a connection"
    KEY = "sends a key of yours over a connection"


def find_request(text: str) -> ForeignRequest | None:
    """Return what the spec of an encoder, or of the vectors of probe words, asks for; None if it reads files only."""
    if not text.partition("?")[0].partition(":")[0]:
        return None  # not a spec, which the command reports
    spec = read_spec(text)
    match spec.kind:
        case "python":
            return ForeignRequest.CODE
        case "openai":
            return ForeignRequest.KEY if _sends_key(spec) else ForeignRequest.CONNECTION
        case "st" | "hf":
            return None if _is_stored(spec) else ForeignRequest.CONNECTION
    return None


def _sends_key(spec: Spec) -> bool:
    from sentprobe.probes.encoders.models.openai import OpenAIOptions, find_key_variable
    from sentprobe.specs import read_options

    return bool(find_key_variable(read_options(spec, OpenAIOptions())))


def _is_stored(spec: Spec) -> bool:
    """Return whether a model is in a folder or in the hub's local cache, so that loading it opens no connection."""
    if Path(spec.argument).expanduser().exists():
        return True
    from importlib.util import find_spec

    if find_spec("huggingface_hub") is None:
        return False
    from sentprobe.probes.encoders.models.model_loading import is_cached
    from sentprobe.probes.encoders.models.sentence_transformer import MODEL_OWNERS

    required_file, owners = ("modules.json", MODEL_OWNERS) if spec.kind == "st" else ("config.json", ("",))
    return is_cached(
        spec.argument, revision=dict(spec.options).get("revision", ""), required_file=required_file, owners=owners
    )
