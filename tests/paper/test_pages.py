"""The same lines as Markdown and LaTeX."""

import re

import pytest

from aliquot.paper.pages import Table, TableBlock, escaped, latex, markdown, mean_and_spreads, number

TABLE = Table(
    "OUH",
    ["method", "AUROC", "of full_data"],
    [
        TableBlock("50 rows per class", [["a|b", "0.8 ± 0.1", "90 %"], ["c", "–", "–"]]),
        TableBlock("", [["d & e", "1", "2"]]),
    ],
    ["Mean ± spread, p < 0.05 {sic}."],
)


def test_markdown_has_a_table_per_block_and_escapes_bars():
    text = markdown(TABLE)
    assert text.count("| method | AUROC | of full_data |\n| --- | --: | --: |") == 2
    assert "| a\\|b | 0.8 ± 0.1 | 90 % |" in text
    assert "**50 rows per class**" in text
    assert "****" not in text  # no empty heading
    assert text.rstrip().endswith("{sic}.")
    for line in text.splitlines():
        if line.startswith("|"):
            assert len(re.split(r"(?<!\\)\|", line)) == 5


def test_latex_is_well_formed():
    text = latex(TABLE, "Budget cpu, 50 % & more_less", "ouh-0")
    opened, closed = (re.findall(rf"\\{word}{{(\w+)}}", text) for word in ("begin", "end"))
    assert opened == closed[::-1] == ["table", "tabular"]
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert len(re.findall(r"(?<!\\)\$", text)) % 2 == 0
    assert r"\caption{Budget cpu, 50 \% \& more\_less}\label{tab:ouh-0}" in text
    assert [text.count(rf"\{rule}rule") for rule in ("top", "mid", "bottom")] == [1, 2, 1]
    body = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
    for line in body.splitlines():
        if line.endswith(r"\\") and "multicolumn" not in line:
            assert len(re.findall(r"(?<!\\)&", line)) == 2
    assert not re.search(r"(?<!\\)[%#_]", text.replace(r"\label{tab:ouh-0}", ""))


@pytest.mark.parametrize("sign", "&%$#_{}~^\\±×κ<>≥–…“”−·")
def test_signs_that_mean_something_to_latex_are_escaped(sign):
    assert escaped(f"a{sign}b") != f"a{sign}b"
    assert escaped(f"a{sign}b").isascii()


def test_missing_numbers_are_dashes():
    assert number(float("nan")) == number(None) == mean_and_spreads(None) == mean_and_spreads(float("nan"), 0.1) == "–"
    assert mean_and_spreads(0.5, 0.01, 0.02) == "0.500 ± 0.010 ± 0.020"
    assert mean_and_spreads(0.5, None, float("nan")) == "0.500"
