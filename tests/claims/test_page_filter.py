import re

from sharp_attention.claims import page_filter
from toy_claims import claim

CLAIMS = [
    claim(id="one"),
    claim(0.6, id="two"),
    claim(id="three", paper="ours", chapter="escapes"),
]


def html() -> str:
    return page_filter.controls(CLAIMS).html


def options(name: str) -> dict[str, str]:
    select = re.search(f'<select [^>]*name="{name}">(.*?)</select>', html()).group(1)
    return dict(re.findall('<option value="(.*?)">(.*?)</option>', select))


def test_each_choice_says_how_many_claims_it_has() -> None:
    assert options("paper") == {
        "": "all",
        "softmax-not-enough": "Softmax is not enough (2)",
        "ours": "Beyond both papers (1)",
    }
    assert options("part") == {
        "": "all",
        "Dispersion": "Dispersion (2)",
        "Beyond the papers": "Beyond the papers (1)",
    }
    assert options("verdict") == {
        "": "all",
        "reproduced": "✓ reproduced (2)",
        "differs": "✗ differs (1)",
    }


def test_controls_wait_for_their_script() -> None:
    assert re.search("<form [^>]*hidden", html())
    assert html().count("<script") == 1
    assert f'<script src="{page_filter.SCRIPT}" defer>' in html()


def test_every_control_has_a_label_and_changes_are_announced() -> None:
    fields = re.findall("<(?:select|input) ", html())
    assert len(fields) == 4
    pairs = re.findall('<label for="(.*?)">[A-Z][a-z]+</label><[^>]*id="(.*?)"', html())
    assert len(pairs) == 4
    assert all(label == control for label, control in pairs)
    assert '<p role="status">' in html()
