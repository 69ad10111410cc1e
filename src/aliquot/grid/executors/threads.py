"""Threads of a worker: those of several workers must not fight for the same CPUs."""

import os


def limit_threads(count: int) -> None:
    """Let this process compute with so many threads; it must come before JAX computes for the first time."""
    for name in ("NPROC", "PJRT_NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(count)
