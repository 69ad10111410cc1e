import json

from aliquot.release.report.comparison import ComparisonBlock, comparison_page
from aliquot.release.report.dots import method_scores

HEADS = ["method", "AUPRC"]


def page(**more) -> str:
    figure = method_scores("auprc", "AUPRC", [("btm", 0.69, 0.01), ("<i>mtt</i>", 0.65, 0.02)], bar=0.7)
    blocks = [
        ComparisonBlock("10 rows per class", HEADS, [["btm", "0.690 ± 0.010"], ["<i>mtt</i>", "failed: </script>"]]),
        ComparisonBlock("50 rows per class", HEADS, [["btm", "0.701 ± 0.008"]], note="A note <b>here</b>."),
    ]
    return comparison_page("Methods & sizes", blocks, lead="All <of> them.", figures=[figure], **more)


def test_has_a_table_for_each_block_and_a_figure_with_names():
    text = page()
    assert text.count("<table>") == 2
    assert text.count('role="img"') == 1
    assert '<th scope="row">btm</th><td>0.690 ± 0.010</td>' in text
    assert "The dotted line is what all patients reach, 0.700." in text


def test_everything_is_escaped():
    text = page(notes=["<img src=x>"], data={"</script>": "<b>"})
    for mark in ("<i>", "<b>", "<img", "<of>"):
        assert mark not in text
    assert text.count("</script>") == 1
    block = text.split('id="aliquot-comparison">')[1].split("</script>")[0]
    assert json.loads(block) == {"</script>": "<b>"}


def test_without_data_there_is_no_script():
    assert "<script" not in page()
