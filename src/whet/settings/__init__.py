"""Settings from [tool.whet] in pyproject.toml, or from whet.toml, with defaults that need neither."""

from whet.settings.importing import import_s2, parse_s2
from whet.settings.keys import Key, keys, unused_keys
from whet.settings.load import load_settings
from whet.settings.model import Settings
from whet.settings.template import commented_toml, write_into

__all__ = [
    "Key",
    "Settings",
    "commented_toml",
    "import_s2",
    "keys",
    "load_settings",
    "parse_s2",
    "unused_keys",
    "write_into",
]
