"""Which encoding a text file seems to have, where it is not UTF-8."""

ENCODING_SAMPLE_BYTES = 65_536


def encoding_note(data: bytes) -> str:
    """Return what to say of bytes that are not UTF-8, or nothing where they are, or are no text.

    >>> encoding_note("plain, é".encode())
    ''
    """
    sample = data[:ENCODING_SAMPLE_BYTES]
    if not _is_broken(sample):
        return ""
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best()
    if best is None:
        return ""
    return (
        f"This is not UTF-8 text; it looks like {best.encoding}. What is not UTF-8 is shown as "
        "U+FFFD."
    )


def _is_broken(sample: bytes) -> bool:
    """Say whether bytes are not UTF-8; a character cut off at the end is no fault."""
    try:
        sample.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start < len(sample) - 3
    return b"\0" in sample
