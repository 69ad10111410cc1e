"""Memory that the command may use: too little of it is said before compiled work crashes on it."""

import resource

from aliquot.errors import AliquotError

LEAST = 4.0  # GB of address space that compiled work takes, whatever the patients


def check_address_space() -> None:
    """Raise an error where ``ulimit -v`` leaves less than compiled work needs: without memory, it ends the process."""
    allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
    if allowed != resource.RLIM_INFINITY and allowed < LEAST * 1e9:
        raise AliquotError(
            f"this process may take {allowed / 1e9:.1f} GB of address space (ulimit -v), and compiled work needs at "
            f"least {LEAST:g} GB; raise that limit, then run the same command again"
        )
