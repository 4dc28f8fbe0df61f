"""The texts that real models read in the experiment on the spread of logits.

===========  =====================================================================
``prose``    prose of this book, without its formulas
``genesis``  Genesis in the King James version (1611, public domain), from Debian's
             package bible-kjv-text
``licence``  the GNU General Public License 3, from Debian's common-licenses
``prompts``  lists to sort or search, in the form of CLRS-Text, made by `prompts`
``code``     two modules of this library: about 4,900 tokens of Python
===========  =====================================================================
"""

from importlib import resources

import numpy as np

from sharp_attention._checks import check_choice

__all__ = ["FOUR", "NAMES", "prompts", "read"]

FOUR = ("prose", "genesis", "licence", "prompts")
"""The four texts that are averaged."""

NAMES = (*FOUR, "code")


def read(name: str) -> str:
    """Return one of the texts.

    Raises
    ------
    ValueError
        If there is no text `name`.
    """
    check_choice("text", name, NAMES)
    if name == "prompts":
        return prompts()
    folder = resources.files("sharp_attention.experiments") / "texts"
    return (folder / f"{name}.txt").read_text(encoding="utf-8")


def prompts(num_prompts: int = 60, seed: int = 0) -> str:
    """Write questions about random lists with their answers, one after another.

    Parameters
    ----------
    num_prompts : how many; tasks and lengths from 4 to 16 take turns
    seed : of the numbers
    """
    rng = np.random.default_rng(seed)
    questions = []
    for number in range(num_prompts):
        key = np.round(rng.uniform(size=4 + (number * 5) % 13), 3)
        shown = _shown(key)
        if number % 3 == 0:
            text = f"minimum:\nkey: {shown}\nmin:\n{key.argmin()}\n\n"
        elif number % 3 == 1:
            ordered = np.sort(key)
            target = round(float(rng.uniform()), 3)
            place = int(np.searchsorted(ordered, target))
            text = (
                f"binary_search:\nkey: {_shown(ordered)}, target: {target}\n"
                f"return:\n{place}\n\n"
            )
        else:
            text = f"insertion_sort:\nkey: {shown}\npred:\n{_shown(np.sort(key))}\n\n"
        questions.append(text)
    return "".join(questions)


def _shown(key: np.ndarray) -> str:
    return "[" + " ".join(f"{float(number):g}" for number in key) + "]"
