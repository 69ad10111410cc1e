"""Networks as functions of one flat parameter vector, and their training."""

from aliquot.networks.architecture import Architecture, get_network
from aliquot.networks.gsam import GsamSettings
from aliquot.networks.lstm import lstm
from aliquot.networks.mlp import MLP, mlp
from aliquot.networks.network import Network, as_targets, cross_entropy
from aliquot.networks.own import Build, own_network
from aliquot.networks.tcn import tcn
from aliquot.networks.training import Trained, TrainSettings, shuffled_batches, train_networks

__all__ = [
    "MLP",
    "Architecture",
    "Build",
    "GsamSettings",
    "Network",
    "TrainSettings",
    "Trained",
    "as_targets",
    "cross_entropy",
    "get_network",
    "lstm",
    "mlp",
    "own_network",
    "shuffled_batches",
    "tcn",
    "train_networks",
]
