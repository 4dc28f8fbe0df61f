"""Texts that the models read."""

import pytest

from sharp_attention.experiments import spread_texts


@pytest.mark.parametrize("name", spread_texts.NAMES)
def test_texts_are_long_enough(name: str) -> None:
    text = spread_texts.read(name)
    # English has some four letters a token; the prompts, made of digits, fewer.
    assert len(text) > (15_000 if name == "code" else 5_000)
    assert text.isascii() or name in ("prose", "code")


def test_texts_are_what_they_are_called() -> None:
    assert spread_texts.read("genesis").startswith("In the beginning God created")
    assert "GNU GENERAL PUBLIC LICENSE" in spread_texts.read("licence")
    compile(spread_texts.read("code"), "code", "exec", dont_inherit=True)


def test_prompts_are_right_and_repeatable() -> None:
    text = spread_texts.prompts(6, seed=1)
    assert text == spread_texts.prompts(6, seed=1) != spread_texts.prompts(6, seed=2)
    minimum, search, sort = (part.split("\n") for part in text.split("\n\n")[:3])
    key = [float(number) for number in minimum[1][6:-1].split()]
    assert minimum[0] == "minimum:"
    assert int(minimum[3]) == key.index(min(key))
    shown, target = search[1][5:].split(", target: ")
    ordered = [float(number) for number in shown[1:-1].split()]
    assert sum(number < float(target) for number in ordered) == int(search[3])
    numbers = [
        [float(n) for n in line.split("[")[1][:-1].split()] for line in sort[1::2]
    ]
    assert sorted(numbers[0]) == numbers[1]


def test_unknown_texts_are_refused() -> None:
    with pytest.raises(ValueError, match="text must be one of 'prose'"):
        spread_texts.read("poems")
