"""The recipe of a release, read: which network, and how it is trained on the rows."""

from collections.abc import Mapping
from typing import Any

from aliquot.evaluate import Training
from aliquot.networks import TrainSettings, get_network


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
