"""The instructor's key, from which hidden inputs are drawn: the same key gives the same inputs at a regrade."""

from pathlib import Path

SHORTEST = 16


def read(path: str | Path | None) -> bytes:
    """The key in a file; empty, which stands for the practice inputs, without one."""
    if path is None:
        return b""
    try:
        key = Path(path).read_bytes()[:4096].strip()
    except OSError as error:
        raise ValueError(f"the key file cannot be read ({error.strerror}): {path}") from error
    if len(key) < SHORTEST:
        raise ValueError(
            f"the key in {path} has {len(key)} bytes; {SHORTEST} at least are needed (try: openssl rand -hex 32)"
        )
    return key
