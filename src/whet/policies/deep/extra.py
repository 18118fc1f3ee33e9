"""Whether what deep policies need is installed; asked before anything of it is imported."""

from importlib.util import find_spec

from whet.core.errors import MissingTool

ACTING = ("safetensors",)
TRAINING = ("torch", "gymnasium", "safetensors", "tensorboard")
EXPORTING = ("safetensors", "onnx")


def require(what: str, modules: tuple[str, ...]) -> None:
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        told = "which is" if len(missing) == 1 else "which are"
        raise MissingTool(f"{what} needs {', '.join(missing)}, {told} not installed.", "Run pip install 'whet[deep]'.")
