"""A table for a paper: several draws, the table in LaTeX, and the significant differences.

The sizes are small, so that the example takes less than a minute; leave out `train` and `test` for a real study.

Prints:

    Order: bilstm-last?hidden=32 65.1, bilstm-max?hidden=32 51.0: differ (p = 0.008)
"""

from pathlib import Path

import sentprobe

preset = sentprobe.override(sentprobe.find_preset("ettinger"), [("precision", "float32")])
results = sentprobe.run(
    "compeval",
    ["bilstm-last?hidden=32", "bilstm-max?hidden=32"],
    tasks="Order",
    train=1200,
    test=400,
    draws=3,
    preset=preset,
    out="results",
)
table = results.to_latex(caption="Word order, by probes.", label="tab:probes")
Path("table.tex").write_text(table, encoding="utf-8")
for comparison in sentprobe.compare_encoders(results):
    first, second = (100 * accuracy for accuracy in comparison.accuracies)
    names = f"{comparison.first.encoder} {first:.1f}, {comparison.second.encoder} {second:.1f}"
    verdict = "differ" if comparison.is_significant else "may be equal"
    print(f"{comparison.first.task}: {names}: {verdict} (p = {comparison.t_p:.3f})")
