"""The project's mark on what it keeps: HMAC-SHA256 over the manifest, which has the size and hash of every file.

One project signs and the same project checks, so one secret is enough, and it needs no package. `model-signing` gives
more where strangers check (public keys, certificates, a transparency log) and less here: it hashes a folder in place,
so that what is loaded afterwards may be something else, and it does not know the facts beside the files.
"""

import hashlib
import hmac

from whet.core.errors import RefusedInput, WhetError
from whet.registry.trees import Unfit

LARGEST_SIGNATURE = 200
_FEWEST_KEY_BYTES = 16
# The key also seals the audit trail: what is signed here must mean nothing there.
_PURPOSE, _NAMING = b"whet artefact 1\n", b"whet artefact key 1\n"
_METHOD = "hmac-sha256"


def require_key(key: bytes) -> bytes:
    if len(key) < _FEWEST_KEY_BYTES:
        raise WhetError(
            f"The project's key has {len(key)} bytes, too few to sign policies with.",
            f"Give it at least {_FEWEST_KEY_BYTES}, best 32 random ones.",
        )
    return key


def key_name(key: bytes) -> str:
    """Tells keys apart without telling anything about them."""
    return hmac.new(key, _NAMING, hashlib.sha256).hexdigest()[:16]


def signature_of(manifest: bytes, key: bytes) -> bytes:
    made = hmac.new(key, _PURPOSE + manifest, hashlib.sha256).hexdigest()
    return f"{_METHOD} {key_name(key)} {made}\n".encode()


def require_signature(manifest: bytes, signature: bytes, key: bytes) -> None:
    """Unfit unless this project signed these very bytes."""
    if hmac.compare_digest(signature, signature_of(manifest, key)):
        return
    method, _, rest = signature.decode("ascii", "replace").partition(" ")
    if method != _METHOD:
        raise Unfit("signature", "it is no signature of ours")
    if rest.partition(" ")[0] != key_name(key):
        raise Unfit("signature", "it was made with another key than this project's")
    raise Unfit("manifest.json", "it was changed since it was signed")


def refused(digest: str, problem: object) -> RefusedInput:
    return RefusedInput(
        f"The artefact {digest[:12]} was not opened: {problem}.",
        "Nothing of it was used. Put its files back from a copy, or let whet learn train another policy.",
    )
