"""What several runs share, done ahead of them, a piece at a time: pilots, blocks of experts, curves."""

from typing import Literal

import jax
import jax.numpy as jnp

from aliquot.experts import train_pilots
from aliquot.methods.method import MethodKeys
from aliquot.methods.settings import MethodSettings
from aliquot.methods.task import Task
from aliquot.methods.trajectory import curves_of, experts_of

Share = Literal["length", "experts", "curves"]


def precompute(task: Task, settings: MethodSettings, share: Share, number: int = 0, *, key: jax.Array) -> None:
    """Leave one piece in the task's common store, where a method with the same key will find it.

    ===========  ==================================================================================
    ``length``   pilot ``number``, trained and watched
    ``experts``  block ``number`` of the experts; all pilots are there
    ``curves``   the fitted curves; all experts are there
    ===========  ==================================================================================

    What should be there and is not is made on the way.
    """
    keys = MethodKeys.of(key)
    if share == "length":
        train_pilots(
            task.network,
            settings.expert,
            jnp.asarray(task.x),
            task.targets,
            key=keys.expert,
            kind=settings.slots.experts,
            only=number,
            context=task.context,
        )
    elif share == "experts":
        experts_of(task, settings, key=keys.expert, block=number)
    else:
        curves_of(task, settings, experts_of(task, settings, key=keys.expert), key=keys.curve)
