"""The command ``probe cache``: parse arguments, call the API."""

from typing import Annotated

import typer

from sentprobe.commands.options import SETTINGS

cache_app = typer.Typer(
    name="cache",
    help="Show, check or clear the sentence vectors that are kept on disk.",
    context_settings=SETTINGS,
)


@cache_app.callback(invoke_without_command=True)
def show(context: typer.Context) -> None:
    """Show where sentence vectors are kept, and of which encoders; also check and clear them.

    The folder is SENTPROBE_CACHE, else sentprobe in XDG_CACHE_HOME, else ~/.cache/sentprobe.
    """
    if context.invoked_subcommand is None:
        from sentprobe.commands.cache import show_cache  # noqa: PLC0415

        show_cache()


@cache_app.command("clear")
def clear(
    encoder: Annotated[
        str | None,
        typer.Option(
            "--encoder", "-e", help="Only this encoder: its name, or 8 characters of fingerprint."
        ),
    ] = None,
    older_than: Annotated[
        float | None, typer.Option(metavar="DAYS", help="Only what was last used so long ago.")
    ] = None,
) -> None:
    """Remove what is kept; only files of ours."""
    from sentprobe.commands.cache import clear_cache  # noqa: PLC0415

    clear_cache(encoder=encoder, older_than=older_than)


@cache_app.command("check")
def check() -> None:
    """Read every file, and remove those that are damaged."""
    from sentprobe.commands.cache import check_cache  # noqa: PLC0415

    check_cache()
