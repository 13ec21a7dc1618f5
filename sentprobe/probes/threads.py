"""How many threads PyTorch and NumPy's matrix products use."""

from collections.abc import Iterator
from contextlib import contextmanager

from sentprobe.errors import UsageError


def check_count(what: str, count: int | None) -> None:
    """Refuse a number that is not positive; None is no number.

    Raises:
        UsageError: it is not.
    """
    if count is not None and count < 1:
        raise UsageError(f"the number of {what} must be positive, not {count}")


@contextmanager
def limit_threads(count: int | None) -> Iterator[None]:
    """Have PyTorch and BLAS use so many threads until the end; None leaves them as they are."""
    import torch  # noqa: PLC0415 - slow
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    before = torch.get_num_threads()
    if count is not None:
        torch.set_num_threads(count)
    try:
        with threadpool_limits(limits=count, user_api="blas"):
            yield
    finally:
        torch.set_num_threads(before)
