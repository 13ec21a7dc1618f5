"""The public names and their homes: type checkers read this file, and so does sentprobe itself.

A name is imported when it is asked for: the commands' ``--help`` needs none.
"""

from . import mteb as mteb
from .errors import GivenError as GivenError
from .errors import ResultsError as ResultsError
from .errors import SentprobeError as SentprobeError
from .errors import UsageError as UsageError
from .generator.constraints import Choices as Choices
from .generator.constraints import Constraints as Constraints
from .generator.event import BARE as BARE
from .generator.event import GAP as GAP
from .generator.event import Aspect as Aspect
from .generator.event import Event as Event
from .generator.event import Frame as Frame
from .generator.event import Negator as Negator
from .generator.event import Number as Number
from .generator.event import Participant as Participant
from .generator.event import Polarity as Polarity
from .generator.event import RelativeClause as RelativeClause
from .generator.event import Role as Role
from .generator.event import Tense as Tense
from .generator.event import Voice as Voice
from .generator.event import contains as contains
from .generator.event import subsumes as subsumes
from .generator.event import unify as unify
from .generator.generate import generate as generate
from .generator.jsonform import event_from_json as event_from_json
from .generator.jsonform import event_to_json as event_to_json
from .generator.notation import read_event as read_event
from .generator.notation import write_event as write_event
from .generator.parse import parse as parse
from .generator.realize import realize as realize
from .generator.sentence import Sentence as Sentence
from .generator.sentence import Token as Token
from .generator.sentence_files import read_file as read_file
from .generator.sentence_files import write_annotated as write_annotated
from .generator.sentence_files import write_file as write_file
from .generator.space import Space as Space
from .lexicon import Lexicon as Lexicon
from .lexicon import english as english
from .lexicon import read_lexicon as read_lexicon
from .probes.audit.audit import Audit as Audit
from .probes.audit.audit import audit as audit
from .probes.compeval.assemble import build_task as build_task
from .probes.dataset import Card as Card
from .probes.dataset import DatasetError as DatasetError
from .probes.dataset import Items as Items
from .probes.dataset import ProbeDataset as ProbeDataset
from .probes.dataset import Split as Split
from .probes.encoders import ENCODERS as ENCODERS
from .probes.encoders import Encoder as Encoder
from .probes.encoders import EncoderError as EncoderError
from .probes.encoders import make_encoder as make_encoder
from .probes.encoders.cache import Cache as Cache
from .probes.encoders.embed import embed as embed
from .probes.encoders.python import wrap_encoder as wrap_encoder
from .probes.formats import read_dataset as read_dataset
from .probes.formats import write_dataset as write_dataset
from .probes.report.comparisons import compare_encoders as compare_encoders
from .probes.report.parts import accuracy_by as accuracy_by
from .probes.report.series import accuracy_by_length as accuracy_by_length
from .probes.report.series import norm_by_length as norm_by_length
from .probes.report.series import series_records as series_records
from .probes.runs.built_suites import build_natural as build_natural
from .probes.runs.results import Condition as Condition
from .probes.runs.results import Result as Result
from .probes.runs.results import Results as Results
from .probes.runs.results import Score as Score
from .probes.runs.results import SeedScore as SeedScore
from .probes.runs.run import run as run
from .probes.runs.scorer import Scorer as Scorer
from .probes.runs.scorer import score as score
from .probes.runs.sentence_transformers_evaluator import (
    SentenceTransformersEvaluator as SentenceTransformersEvaluator,
)
from .probes.runs.store import read_results as read_results
from .probes.statistics import Interval as Interval
from .probes.statistics import wilson as wilson
from .probes.trainer.classifier import Preset as Preset
from .probes.trainer.classifier import Scaling as Scaling
from .probes.trainer.presets import PRESETS as PRESETS
from .probes.trainer.presets import find_preset as find_preset
from .probes.trainer.presets import override as override

__version__: str
