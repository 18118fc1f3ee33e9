"""docs/configuration.md lists exactly the keys there are."""

import re
import tomllib
from pathlib import Path

from whet.settings import Settings, keys
from whet.settings.load import ENVIRONMENT
from whet.settings.template import toml_value

DOCS = Path(__file__).parents[2] / "docs" / "configuration.md"


def keys_table() -> str:
    rows = ["| table | key | default | allowed | meaning | used |", "|---|---|---|---|---|---|"]
    for key in keys():
        default = "not set" if key.default in (None, {}) else f"`{toml_value(key.default)}`"
        used = "yes" if key.used else "not yet"
        rows.append(f"| {key.table} | `{key.name}` | {default} | {key.allowed} | {key.description} | {used} |")
    return "\n".join(rows)


def test_the_table_of_keys_is_what_the_models_have() -> None:
    found = re.search(r"<!-- keys -->\n(.*?)\n<!-- /keys -->", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    assert found[1] == keys_table()


def test_the_examples_are_valid_settings() -> None:
    examples = re.findall(r"```toml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert examples
    for example in examples:
        data = tomllib.loads(example)
        Settings.model_validate(data["tool"]["whet"] if "tool" in data else data)


def test_every_environment_variable_is_documented() -> None:
    text = DOCS.read_text(encoding="utf-8")
    assert all(f"`{variable}`" in text for variable in ENVIRONMENT)
