"""The public names, and the modules that define them.

Type checkers read this file, and so does ``__init__.py``: it imports the module of a name when the name is first used.
"""

from . import mteb as mteb
from .errors import ArgumentTypeError as ArgumentTypeError
from .errors import ResultsError as ResultsError
from .errors import SentprobeError as SentprobeError
from .errors import UsageError as UsageError
from .generator.bulk.generate import generate as generate
from .generator.bulk.sentence_files import read_file as read_file
from .generator.bulk.sentence_files import write_annotated as write_annotated
from .generator.bulk.sentence_files import write_file as write_file
from .generator.events.event import BARE as BARE
from .generator.events.event import GAP as GAP
from .generator.events.event import Aspect as Aspect
from .generator.events.event import Event as Event
from .generator.events.event import Frame as Frame
from .generator.events.event import Negator as Negator
from .generator.events.event import Number as Number
from .generator.events.event import Participant as Participant
from .generator.events.event import Polarity as Polarity
from .generator.events.event import RelativeClause as RelativeClause
from .generator.events.event import Role as Role
from .generator.events.event import Tense as Tense
from .generator.events.event import Voice as Voice
from .generator.events.event_json import event_from_json as event_from_json
from .generator.events.event_json import event_to_json as event_to_json
from .generator.events.matching import contains as contains
from .generator.events.matching import subsumes as subsumes
from .generator.events.matching import unify as unify
from .generator.events.notation import read_event as read_event
from .generator.events.notation import write_event as write_event
from .generator.sentences.parse import parse as parse
from .generator.sentences.realize import realize as realize
from .generator.sentences.sentence import Sentence as Sentence
from .generator.sentences.sentence import Token as Token
from .generator.spaces.constraints import Choices as Choices
from .generator.spaces.constraints import Constraints as Constraints
from .generator.spaces.space import Space as Space
from .lexicon import Lexicon as Lexicon
from .lexicon import english as english
from .lexicon import german as german
from .lexicon import read_lexicon as read_lexicon
from .probes.audit.cue_audit import Audit as Audit
from .probes.audit.cue_audit import audit as audit
from .probes.compeval.assemble import build_task as build_task
from .probes.dataset import Card as Card
from .probes.dataset import DatasetError as DatasetError
from .probes.dataset import Items as Items
from .probes.dataset import ProbeDataset as ProbeDataset
from .probes.dataset import Split as Split
from .probes.encoders.cache.embedding import embed as embed
from .probes.encoders.cache.vector_cache import Cache as Cache
from .probes.encoders.kinds import ENCODERS as ENCODERS
from .probes.encoders.kinds import make_encoder as make_encoder
from .probes.encoders.models.python import wrap_encoder as wrap_encoder
from .probes.encoders.protocol import Encoder as Encoder
from .probes.encoders.protocol import EncoderError as EncoderError
from .probes.formats.registry import read_dataset as read_dataset
from .probes.formats.registry import write_dataset as write_dataset
from .probes.gate.gate_run import gate as gate
from .probes.gate.gate_tables import GateResults as GateResults
from .probes.report.findings.comparisons import compare_encoders as compare_encoders
from .probes.report.findings.item_parts import accuracy_by as accuracy_by
from .probes.report.plots.length_series import accuracy_by_length as accuracy_by_length
from .probes.report.plots.length_series import norm_by_length as norm_by_length
from .probes.report.plots.length_series import series_records as series_records
from .probes.results.result import Condition as Condition
from .probes.results.result import Result as Result
from .probes.results.result import Results as Results
from .probes.results.result import Score as Score
from .probes.results.result import SeedScore as SeedScore
from .probes.results.store import read_results as read_results
from .probes.runs.request.built_suites import build_natural as build_natural
from .probes.runs.run import run as run
from .probes.runs.training.scorer import Scorer as Scorer
from .probes.runs.training.scorer import score as score
from .probes.runs.training.sentence_transformers_evaluator import GateEvaluator as GateEvaluator
from .probes.runs.training.sentence_transformers_evaluator import (
    SentenceTransformersEvaluator as SentenceTransformersEvaluator,
)
from .probes.statistics import Interval as Interval
from .probes.statistics import wilson as wilson
from .probes.trainer.classifier import Preset as Preset
from .probes.trainer.classifier import Scaling as Scaling
from .probes.trainer.presets import PRESETS as PRESETS
from .probes.trainer.presets import find_preset as find_preset
from .probes.trainer.presets import override as override

__version__: str
