"""The list of exercises: names, stubs, and what an unknown name is told."""

import pytest

from sharp_attention.exercises import exercises, find, stub


def test_unknown_name_is_told_the_nearest():
    with pytest.raises(ValueError, match="dispersion-lemma/share-of-bound"):
        find("dispersion-lemma/share-of-the-bound")


def test_name_like_no_other_is_told_all():
    with pytest.raises(ValueError, match="dispersion-lemma/pairwise-sum"):
        find("?")


def test_every_exercise_has_a_task_in_words():
    for exercise in exercises():
        assert (exercise.right.__doc__ or "").rstrip().endswith("."), exercise.name


def test_stub_has_signature_task_and_check():
    lines = stub("dispersion-lemma/pairwise-sum").splitlines()
    assert lines[0] == "from sharp_attention.exercises import check"
    assert "def pairwise_sum(terms):" in lines
    assert (
        '    """Return the sum of bfloat16 numbers, in bfloat16, halves first."""'
        in lines
    )
    assert lines[-1] == 'check("dispersion-lemma/pairwise-sum", pairwise_sum)'


def test_stub_runs_and_says_that_it_is_empty(capsys):
    for exercise in exercises():
        exec(stub(exercise.name), {})
        assert "is still empty" in capsys.readouterr().out
