"""An option that does not exist is met with the one that was probably meant."""

from typing import Any

import typer.core

from aliquot.errors import closest


class Command(typer.core.TyperCommand):
    """A command that asks "did you mean" for its options, as typer does for commands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options; where one is unknown, name the nearest instead of all that look alike."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            asked = getattr(error, "option_name", None)
            if asked is not None and hasattr(error, "possibilities"):  # "no such option", in any version of typer
                known = [name for parameter in self.params for name in parameter.opts if name.startswith("--")]
                near = closest(asked, known)
                error.possibilities = None  # pyright: ignore[reportAttributeAccessIssue]
                error.message += f". Did you mean {near}?" if near else ""  # pyright: ignore[reportAttributeAccessIssue]
            raise
