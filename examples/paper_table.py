"""A table for a paper: draws of everything, the table in LaTeX, and which differences are real.

The sizes are small, to be quick; leave `train` and `test` out for figures to report.

Prints:

    Order: bilstm-last?hidden=32 90.8, bilstm-max?hidden=32 62.5: differ (p = 0.032)
"""

from pathlib import Path

import sentprobe

preset = sentprobe.override(sentprobe.find_preset("ettinger"), [("precision", "float32")])
results = sentprobe.run(
    "compeval",
    ["bilstm-last?hidden=32", "bilstm-max?hidden=32"],
    tasks="Order",
    train=400,
    test=112,
    draws=3,
    preset=preset,
    out="results",
)
table = results.to_latex(caption="Word order, by probes.", label="tab:probes")
Path("table.tex").write_text(table, encoding="utf-8")
for found in sentprobe.compare_encoders(results):
    first, second = (100 * accuracy for accuracy in found.accuracies)
    names = f"{found.first.encoder} {first:.1f}, {found.second.encoder} {second:.1f}"
    verdict = "differ" if found.significant else "may be equal"
    print(f"{found.first.task}: {names}: {verdict} (p = {found.t_p:.3f})")
