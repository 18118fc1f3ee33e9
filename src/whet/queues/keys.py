"""A message's key as bytes, and back."""


def key_bytes(key: str) -> bytes:
    """Lone surrogates (of `surrogateescape`d paths) are carried too."""
    return key.encode("utf-8", "surrogatepass")


def key_text(key: bytes) -> str:
    """Also of what somebody else put there: one odd message must not keep all others from being taken."""
    try:
        return key.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return key.decode("utf-8", "backslashreplace")
