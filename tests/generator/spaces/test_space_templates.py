"""Templates and sub-templates: their counts and their names."""

from itertools import permutations

import pytest

from sentprobe.common.errors import UsageError
from sentprobe.generator.spaces.space import Space
from sentprobe.generator.spaces.templates import find_patterns, list_template_names
from sentprobe.lexicon import english


def count_of(*templates: str) -> int:
    return Space(english(), vocabulary="compeval", templates=templates).count()


@pytest.mark.parametrize("template", [name for name in list_template_names(deep=True) if "ditrans" not in name])
def test_the_counts_of_sub_templates_add_up(template: str) -> None:
    deeper = [
        name
        for name in list_template_names(deep=True)
        if name.startswith(f"{template}.") and name.count(".") == template.count(".") + 1
    ]
    if deeper:
        assert count_of(template) == sum(count_of(name) for name in deeper)
        assert count_of(template) == count_of(*deeper) == count_of(template, *deeper)


def test_the_count_does_not_depend_on_order_or_repetition() -> None:
    names = ("transitive-rc", "intransitive", "transitive")
    counts = {count_of(*order) for order in permutations(names)}
    assert counts == {sum(map(count_of, names))}
    assert count_of(*names, *names, "transitive-rc.agent") in counts


def test_all_leaves_out_two_clauses_in_a_sentence() -> None:
    four = ("intransitive", "intransitive-rc", "transitive", "transitive-rc")
    assert list_template_names()[:5] == (*four, "transitive-rc-both")
    assert find_patterns(["all"]) == find_patterns(four)
    assert all(len(pattern.clauses) <= 1 for pattern in find_patterns(["all"]))
    assert all(len(pattern.clauses) == 2 for pattern in find_patterns(["transitive-rc-both"]))
    assert count_of("all") == sum(map(count_of, four))


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("transitiv", "transitive"),
        ("transitive-rc.pateint", "transitive-rc.patient"),
        ("transitive-rc.agent.intransitive.orc", "transitive-rc.agent.intransitive.src"),
        ("transitive-r", "transitive-rc"),
        ("al", "all"),
    ],
)
def test_an_unknown_template_suggests_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_patterns([name])
    assert str(caught.value) == f"there is no template {name!r} (did you mean {nearest!r}?); gen templates lists them"


@pytest.mark.parametrize("name", ["", ".", "transitive.", "all.agent", "xyz", "TRANSITIVE"])
def test_an_unknown_template_without_a_near_one(name: str) -> None:
    with pytest.raises(UsageError, match="there is no template"):
        find_patterns([name])


def test_no_template_is_an_error() -> None:
    with pytest.raises(UsageError):
        Space(english(), templates=[])


@pytest.mark.parametrize("name", list_template_names(deep=True))
def test_every_template_is_found_under_its_name(name: str) -> None:
    for pattern in find_patterns([name]):
        assert pattern.name == name or pattern.name.startswith(f"{name}.")
