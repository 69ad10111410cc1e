"""The recipe of a release, read: which network, and how it is trained on the rows."""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

from aliquot.evaluate import Training
from aliquot.loading import Positive, Share, plain, require, toml_of, typed
from aliquot.networks import TrainSettings, get_network

MOST_PARAMETERS = 10**8
MOST_EPOCHS = 10**6
Rate = Annotated[float, Meta(ge=0)]
Part = Annotated[float, Meta(ge=0, lt=1)]
Classes = Annotated[list[bool | int | float | str], Meta(min_length=2)]


class _Network(TypedDict):
    kind: str
    inputs: Positive
    hidden: NotRequired[list[Positive]]
    dropout: NotRequired[Part]
    steps: NotRequired[Positive]  # of series
    outputs: Positive


class _Training(TypedDict):
    learning_rate: Rate
    momentum: Rate
    weight_decay: NotRequired[Rate]
    batch_size: Positive
    epochs: Annotated[int, Meta(ge=1, le=MOST_EPOCHS)]
    steps: NotRequired[Positive]


class _Labels(TypedDict):
    target: str
    classes: Classes
    kind: Literal["hard", "soft"]
    weight: NotRequired[str]


class _Calibration(TypedDict):
    prevalence: list[Share]
    logit_scale: NotRequired[Annotated[float, Meta(gt=0)]]
    logit_offset: float | list[float]


class _Recipe(TypedDict):
    network: _Network
    training: _Training
    labels: _Labels
    calibration: _Calibration


def read_recipe(content: bytes) -> dict[str, Any]:
    """The values of ``recipe.toml``; a NotAsWrittenError where no run has written them."""
    values = plain(toml_of(content))
    recipe = typed(values, _Recipe)
    labels, network, calibration = recipe["labels"], recipe["network"], recipe["calibration"]
    count, offset = len(labels["classes"]), calibration["logit_offset"]
    require(len(set(labels["classes"])) == len({str(name) for name in labels["classes"]}) == count)
    require(network["outputs"] == (1 if count == 2 else count) and len(calibration["prevalence"]) == count)
    require((len(offset) == count) if isinstance(offset, list) else count == 2)
    widths = (network["inputs"], *network.get("hidden", ()), count)
    require(sum(math.prod(pair) for pair in pairwise(widths)) <= MOST_PARAMETERS)
    return values


def check_shape(recipe: Mapping[str, Any], shape: tuple[int, ...]) -> None:
    """Raise a NotAsWrittenError unless the network takes encoded rows of a shape."""
    network = recipe["network"]
    require(network["inputs"] == math.prod(shape) and network.get("steps") == (shape[0] if len(shape) > 1 else None))


def training_of(recipe: Mapping[str, Any], shape: tuple[int, ...]) -> Training:
    """The network of ``recipe.toml`` for encoded rows of a shape, and its training; an error where it is a user's."""
    network, how, classes = recipe["network"], recipe["training"], recipe["labels"]["classes"]
    return Training(
        get_network(
            network["kind"], shape, len(classes), tuple(network.get("hidden", ())), network.get("dropout", 0.0)
        ),
        TrainSettings(
            epochs=how["epochs"],
            learning_rate=how["learning_rate"],
            momentum=how["momentum"],
            weight_decay=how.get("weight_decay", 0.0),  # earlier releases have none
            batch_size=how["batch_size"],
        ),
    )
