"""One piece after the other, in this process."""

import time
from collections.abc import Sequence

from aliquot.hooks import Progress
from aliquot.runs.executors import Done
from aliquot.runs.pieces import Piece, Work
from aliquot.runs.progress import CellProgress


class Local:
    """Runs cells in their order; what they share, the first that needs it leaves for the others."""

    def run(self, work: Work, waves: Sequence[Sequence[Piece]], progress: Progress) -> Done:
        """Do the last wave, with a bar for each cell and the time that is left."""
        cells = waves[-1] if waves else ()
        since = time.monotonic()
        for number, cell in enumerate(cells):
            taken = (time.monotonic() - since) / max(number, 1)
            left = f" (about {(len(cells) - number) * taken / 60:.0f} min left)" if number else ""
            yield cell, work(cell, CellProgress(progress, cell.title + left))
