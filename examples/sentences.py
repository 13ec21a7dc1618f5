"""Sentences with a fixed participant and their annotation, also written to a file.

Prints:

    494,688 sentences have lawyers that helped somebody
    the lawyers that the doctor was being helped by did not meet the scientist
      meet: agent lawyers, patient scientist
      helped: agent lawyers, patient doctor
    the lawyers did not help the professors that did not call the student
      help: agent lawyers, patient professors
      call: agent professors, patient student
    the lawyers helped the doctors that the professor was recommending
      helped: agent lawyers, patient doctors
      recommending: agent professor, patient doctors
"""

import sentprobe

lexicon = sentprobe.english()
space = sentprobe.Space(
    lexicon,
    vocabulary="compeval",
    templates=["transitive", "transitive-rc"],
    constraints=sentprobe.Constraints(required=(sentprobe.read_event("help[past](agent: lawyer[pl])"),)),
)
print(f"{space.count():,} sentences have lawyers that helped somebody")

for event in space.events(space.sample(3, seed=1)):
    sentence = sentprobe.realize(event, lexicon)
    forms = ["", *(token.form for token in sentence.tokens)]  # tokens are counted from 1
    print(sentence.text)
    for predicate in sentence.predicates:
        agent, patient = forms[predicate.agent or 0], forms[predicate.patient or 0]
        print(f"  {forms[predicate.verb]}: agent {agent}, patient {patient}")

sentprobe.write_file(space, space.sample(100, seed=1), "lawyers.conllu")
