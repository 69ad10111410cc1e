"""Compiled programs that a long-lived process no longer needs."""

import gc
from pathlib import Path

import jax

MAPS = Path("/proc/self/maps")  # Linux: a process may have 65,530, and a compiled program takes dozens


def forget_programs(limit: int = 30_000) -> bool:
    """Forget all compiled programs if they hold more memory maps than ``limit``; whether that was done.

    JAX keeps every program that it compiles. After some thousand the system refuses more maps, and XLA
    ends the process.
    """
    if not MAPS.exists() or MAPS.read_bytes().count(b"\n") <= limit:
        return False
    jax.clear_caches()
    gc.collect()
    return True
