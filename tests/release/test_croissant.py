import json
import warnings

import numpy as np
import pytest

from aliquot.release.croissant import croissant

SUMS = {"rows.parquet": "a" * 64, "card.md": "b" * 64}


@pytest.fixture
def mlcroissant():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of third parties
        yield pytest.importorskip("mlcroissant")


def test_lists_every_file_under_its_plain_name(result):
    document = json.loads(croissant(result, SUMS))
    assert {entry["name"]: entry["sha256"] for entry in document["distribution"]} == SUMS
    assert [entry["contentUrl"] for entry in document["distribution"]] == list(SUMS)


def test_describes_every_column(result):
    fields = json.loads(croissant(result, SUMS))["recordSet"][0]["field"]
    assert [field["name"] for field in fields] == list(result.table.columns)
    assert [field["source"]["extract"]["column"] for field in fields] == list(result.table.columns)
    assert len({field["@id"] for field in fields}) == len(fields)
    target = next(field for field in fields if field["name"] == result.target)
    assert target["dataType"] == ("sc:Text" if len(result.classes) == 3 else "sc:Integer")


def test_deterministic(result):
    assert croissant(result, SUMS) == croissant(result, SUMS)


def test_says_what_could_leak(two_classes, change):
    text = croissant(change(two_classes, {"real_rows": True, "start": "real"}), SUMS)
    assert "THESE ROWS STARTED FROM REAL PATIENTS" in text
    assert "No formal privacy guarantee" in text


@pytest.mark.parametrize("name", ["two_classes", "three_classes", "soft", "hostile"])
def test_validates_and_reads_the_rows(name, request, folder, mlcroissant):
    result = request.getfixturevalue(name)
    dataset = mlcroissant.Dataset(jsonld=folder(result) / "croissant.json")
    assert not dataset.metadata.ctx.issues.errors
    records = list(dataset.records("rows"))
    assert len(records) == len(result.rows)
    first = list(records[0].values())[: len(result.x[0])]
    assert np.allclose(np.array(first, dtype=np.float32), result.x[0])


def test_speaks_the_vocabulary_of_responsible_ai(result, mlcroissant):
    document = json.loads(croissant(result, SUMS))
    assert "http://mlcommons.org/croissant/RAI/1.0" in document["conformsTo"]
    said = {name: text for name, text in document.items() if name.startswith("rai:")}
    needed = ("Collection", "Biases", "UseCases", "Limitations", "SocialImpact", "ReleaseMaintenancePlan")
    assert {f"rai:data{name}" for name in needed} | {"rai:personalSensitiveInformation"} <= set(said)
    read = mlcroissant.Dataset(jsonld=document).metadata.to_json()
    assert {name: read.get(name) for name in said} == said
