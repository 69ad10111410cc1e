"""Croissant metadata: the release's files with checksums, and the columns of the rows, for machines."""

import json
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

import pandas as pd

from aliquot.cohort import SeriesEncoder
from aliquot.release.condensation import Condensation
from aliquot.release.report import facts
from aliquot.release.report.sections.subgroups import NO_SUBGROUPS, scored_groups
from aliquot.release.report.sections.transfer import transfer_in

FORMATS = {
    ".parquet": "application/x-parquet",
    ".csv": "text/csv",
    ".json": "application/json",
    ".toml": "application/toml",
    ".md": "text/markdown",
    ".html": "text/html",
}
CONTENT = {
    "rows.parquet": "The rows as models take them: encoded features, then the labels.",
    "rows.csv": "The same rows in the columns and units of the source, for people. They are not patients, and values "
    "may be implausible.",
    "encoder.json": "How to encode new patients the same way.",
    "recipe.toml": "How to train on the rows.",
    "metrics.json": "All results.",
    "card.md": "The dataset card.",
    "report.html": "The results as a page with figures.",
}
LABELLED = (
    "probabilities, learned with the rows or given by networks; a row takes a line for each class, weighted by its "
    "probability"
)
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def croissant(result: Condensation, sums: dict[str, str]) -> str:
    """The description of a release as JSON-LD; ``sums`` are the SHA-256 sums of its files by name."""
    document = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": facts.title(result),
        "description": f"{facts.compression(result)} {facts.verdict(result)} {facts.NO_GUARANTEE}",
        "version": "1.0.0",
        "license": result.results.data.licence or "Stated by the custodian of the source data.",
        "citeAs": "{authors} ({year}). {title}. {url}".format(**facts.CITATION),
        "creator": {"@type": "sc:Organization", "name": "The custodian of the source data"},
        **_responsible_use(result),
        "distribution": [_file(name, checksum) for name, checksum in sums.items()],
        "recordSet": [_record_set(result)],
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _responsible_use(result: Condensation) -> dict[str, Any]:
    """Where the rows come from, what they are for and what they are not, in the RAI vocabulary."""
    method = facts.method(result)
    models = ["the network of recipe.toml", *transfer_in(result.results)]
    over_time = "Gaps of series take the last value before them. " if isinstance(result.encoder, SeriesEncoder) else ""
    labels = LABELLED if result.soft else "one class each"
    scored = "Scores of subgroups of patients are in metrics.json and report.html."
    groups = scored if scored_groups(result.results) else NO_SUBGROUPS
    return {
        "rai:dataCollection": f"Made by Aliquot from patient records with {method}. {facts.origin(result)}",
        "rai:dataCollectionType": "Secondary data analysis",
        "rai:dataCollectionRawData": "Patient records, which stay with the custodian of the source.",
        "rai:dataCollectionMissingData": "The rows have no gaps; features tell where patients had them.",
        "rai:dataImputationProtocol": f"{over_time}Empty cells take the training patients' median or more frequent "
        "value; where enough patients lack a value, a feature marks its absence.",
        "rai:dataPreprocessingProtocol": "Numbers are standardised and levels become one feature each, as in "
        "encoder.json.",
        "rai:dataAnnotationProtocol": f"Labels come with the rows, not from people: {labels}; as many rows were made "
        f"for every class of {result.target}.",
        "rai:dataUseCases": f"Training models that predict {result.target}; tried with: {', '.join(models)}.",
        "rai:dataLimitations": "A row may combine values that no patient could have, and statistics of the rows are "
        "not statistics of patients; rows.csv is for looking at, not for analysis. As many rows were made for every "
        "class, however frequent it is among patients. Results hold for patients like those of the source.",
        "rai:dataBiases": f"Biases of the source records may persist. {groups}",
        "rai:dataSocialImpact": "Lets others develop models without the records. A model that was trained on the rows "
        "and never judged on real patients may harm them; so may attempts to find out who was in the source.",
        "rai:dataReleaseMaintenancePlan": "None is stated by Aliquot; the custodian of the source decides on changes "
        "and withdrawal.",
        "rai:personalSensitiveInformation": f"{facts.NO_GUARANTEE} {facts.origin(result)}",
    }


def _file(name: str, checksum: str) -> dict[str, str]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "description": CONTENT.get(name, name),
        "contentUrl": name,
        "encodingFormat": FORMATS.get(PurePath(name).suffix, "application/octet-stream"),
        "sha256": checksum,
    }


def _record_set(result: Condensation) -> dict[str, Any]:
    table = result.table
    return {
        "@type": "cr:RecordSet",
        "@id": "rows",
        "name": "rows",
        "description": "The rows, encoded.",
        "field": [_field(result, name, table[name]) for name in table.columns],
    }


def _field(result: Condensation, name: str, cells: pd.Series) -> dict[str, Any]:
    if name == result.target:
        description = "The class."
    elif name in result.encoder.column_names:
        description = "An encoded feature; encoder.json tells how it is computed."
    elif name == result.weight_name:
        description = "The weight of the line: the probability of its class."
    else:
        description = "The probability of one class."
    return {
        "@type": "cr:Field",
        "@id": f"rows/{quote(name, safe='=()')}",  # an identifier must be part of an address
        "name": name,
        "description": description,
        "dataType": _data_type(cells),
        "source": {"fileObject": {"@id": "rows.parquet"}, "extract": {"column": name}},
    }


def _data_type(cells: pd.Series) -> str:
    types = pd.api.types
    if types.is_bool_dtype(cells):
        return "sc:Boolean"
    if types.is_integer_dtype(cells):
        return "sc:Integer"
    return "sc:Float" if types.is_float_dtype(cells) else "sc:Text"
