"""``python -m aliquot``."""

from aliquot.cli import main

main()
