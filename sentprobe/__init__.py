"""Generate controlled, annotated English and German sentences, and probe sentence encoders with them.

>>> import sentprobe
>>> lexicon = sentprobe.english()
>>> space = sentprobe.Space(lexicon, vocabulary="compeval", templates=["transitive-rc"])
>>> event = next(space.events(space.sample(1, seed=1)))
>>> sentence = sentprobe.realize(event, lexicon)
>>> sentprobe.parse(sentence.text, lexicon) == (event,)
True
"""

import lazy_loader

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
