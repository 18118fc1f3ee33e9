"""Secrets and personal data out of texts, before anything else sees them.

Every pattern begins at one place per run of characters, or is bounded, so that hostile text takes no longer than any
other. What a label or a well-known form gives away is replaced by a word; a word is never replaced again.
"""

from whet.memory.masking_forms import FORMS, Form
from whet.memory.masking_labels import labelled_masked
from whet.memory.masking_personal import PERSONAL
from whet.memory.masking_phrases import PHRASES, parameters_masked
from whet.memory.masking_places import placed_masked
from whet.memory.masking_random import random_masked


def masked(text: str) -> str:
    """`text` without secrets, e-mail addresses, card and phone numbers. The same again when it is masked again."""
    text = _formed_masked(text, FORMS)
    text = placed_masked(labelled_masked(text))
    text = _formed_masked(parameters_masked(text), PHRASES)
    text = _formed_masked(text, PERSONAL)
    return random_masked(text)


def _formed_masked(text: str, forms: tuple[Form, ...]) -> str:
    small = text.lower()
    for form in forms:
        if any(sign in small for sign in form.signs):
            text = form.pattern.sub(form.replaced, text)
    return text
