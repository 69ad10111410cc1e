"""One piece after the other, in this process."""

import time
from collections.abc import Sequence

from aliquot.context import Progress
from aliquot.grid.executors import Done
from aliquot.grid.pieces import Piece, Worker
from aliquot.run.progress import CellProgress


class Local:
    """Runs cells in their order; what they share, the first that needs it leaves for the others."""

    def run(self, worker: Worker, waves: Sequence[Sequence[Piece]], progress: Progress) -> Done:
        """Do the last wave, with a bar for each cell and the time that is left."""
        cells = waves[-1] if waves else ()
        since = time.monotonic()
        for number, cell in enumerate(cells):
            taken = (time.monotonic() - since) / max(number, 1)
            left = f" (about {(len(cells) - number) * taken / 60:.0f} min left)" if number else ""
            yield cell, worker(cell, CellProgress(progress, cell.title + left))
