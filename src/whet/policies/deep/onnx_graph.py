"""An ONNX graph written out by hand: ours are short, and torch's own exporter needs another package and seconds."""

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from whet.core.errors import MissingTool
from whet.policies.deep.artefacts import Array
from whet.policies.deep.layout import Layout

OPSET, IR = 17, 8  # LayerNormalization came with 17; later ones would shut out older runtimes


class Graph:
    """Nodes in the order in which they are added; each is called by its number."""

    def __init__(self) -> None:
        self.onnx, self.nodes, self.constants = _onnx(), list[Any](), list[Any]()

    def constant(self, values: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [name], **attributes))
        return name

    def linear(self, rows: str, matrix: Array, offsets: Array) -> str:
        """`matrix` is inputs × outputs."""
        return self.add("Add", self.add("MatMul", rows, self.constant(matrix)), self.constant(offsets))

    def normed(self, rows: str, scale: Array, shift: Array) -> str:
        settled = self.add("LayerNormalization", rows, self.constant(scale), self.constant(shift), epsilon=1e-5)
        return self.add("Relu", settled)

    def shaped(self, values: str, shape: Sequence[int]) -> str:
        return self.add("Reshape", values, self.constant(np.array(shape, dtype=np.int64)))

    def columns(self, rows: str, first: int, last: int) -> str:
        bounds = (self.constant(np.array([each], dtype=np.int64)) for each in (first, last, 1))
        return self.add("Slice", rows, *bounds)

    def model(self, policy: str, layout: Layout, actions: tuple[str, ...], shape: Sequence[int]) -> Any:
        """What was added last is `values`, rows × `shape`."""
        helper, kind = self.onnx.helper, self.onnx.TensorProto.FLOAT
        rows = helper.make_tensor_value_info("observations", kind, ["rows", layout.size])
        self.nodes.append(helper.make_node("Identity", [f"n{len(self.nodes) - 1}"], ["values"]))
        values = helper.make_tensor_value_info("values", kind, ["rows", *shape])
        graph = helper.make_graph(self.nodes, policy, [rows], [values], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
        helper.set_model_props(model, {"policy": policy, "actions": "\n".join(actions), "layout": layout.digest})
        self.onnx.checker.check_model(model)
        return model


def _onnx() -> Any:
    try:
        return importlib.import_module("onnx")
    except ImportError as error:
        raise MissingTool(f"onnx cannot be imported ({error}).", "Install it: pip install 'whet[deep]'.") from error
