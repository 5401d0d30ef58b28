"""Write the networks by which the page "Try it" names signs: ONNX graphs with a card.

    .venv/bin/python scripts/export_sign_demo.py --out FOLDER

    FOLDER/pose_detection.onnx, pose_landmark_full.onnx, palm_detection_full.onnx,
    FOLDER/hand_landmark_full.onnx   MediaPipe's networks, converted node by node
    FOLDER/program.onnx              the embedding of signs that ships with the package
    FOLDER/export.json               the SHA-256 of each file, and the weights of the
                                     distances
    FOLDER/ATTRIBUTION.txt           whose networks they are, and what was changed
    FOLDER/LICENSE.txt               their licence

The four networks take a picture (1, 3, size, size) in the range that `Network.run`
gives them. They keep their weights in half precision, as their makers stored them. A
mask and points in metres, which no step of the page reads, are left out.
"""

import argparse
import hashlib
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from coursepkg.app.export import ONNX_PROGRAM, OPSET, Graph, write_onnx
from coursepkg.projects.sign_language.few_shot.embedding import (
    N_FEATURES,
    default_embedding,
)
from coursepkg.projects.sign_language.few_shot.export import embedding_program
from coursepkg.projects.sign_language.few_shot.features import N_STEPS
from coursepkg.projects.sign_language.few_shot.matching import default_weights
from coursepkg.projects.sign_language.landmarks.networks import MODELS

OUTPUTS = {
    "pose_detection": {"offsets": 0, "logits": 1},
    "pose_landmark_full": {"points": 0, "score": 1, "maps": 3},
    "palm_detection_full": {"offsets": 0, "logits": 1},
    "hand_landmark_full": {"points": 0, "score": 1, "right": 2},
}
"""Of each network the outputs that are kept: name, and place among all of them."""
PICTURE = "picture"
ACTIVATIONS = {0: "", 1: "Relu", 3: "Clip"}
"""Of LiteRT's numbers of activations those that occur; 3 is a ReLU that ends at 6."""
TO_NCHW, TO_NHWC = (0, 3, 1, 2), (0, 2, 3, 1)
ATTRIBUTION = """\
pose_detection.onnx, pose_landmark_full.onnx, palm_detection_full.onnx and
hand_landmark_full.onnx are networks of MediaPipe, by The MediaPipe Authors, published
under the Apache License 2.0, which is LICENSE.txt beside this file. They were converted
to ONNX from the .tflite files of mediapipe 0.10.21; outputs that are not used were left
out, and the weights are unchanged.
"""


class Converter:
    """One network of LiteRT as an ONNX graph.

    LiteRT lays pictures out as (1, height, width, channels), and ONNX as
    (1, channels, height, width). Tensors with four axes are therefore turned, and
    turned back where a network makes a list of them.

    Args:
        path: of the `.tflite` file.
    """

    def __init__(self, path: Path) -> None:
        from ai_edge_litert import schema_py_generated as schema

        data = path.read_bytes()
        model = schema.ModelT.InitFromObj(schema.Model.GetRootAsModel(data, 0))
        self.name, (self.net,) = path.stem, model.subgraphs
        kinds = {
            number: kind
            for kind, number in vars(schema.BuiltinOperator).items()
            if isinstance(number, int)
        }
        codes = [
            max(o.builtinCode, o.deprecatedBuiltinCode) for o in model.operatorCodes
        ]
        self.operators = [
            (kinds[codes[one.opcodeIndex]], one) for one in self.net.operators
        ]
        self.constants = self._constants(data)
        self.nodes: list[Any] = []
        self.weights: dict[str, np.ndarray] = {}

    def _constants(self, data: bytes) -> dict[int, np.ndarray]:
        """Tensors that do not depend on the picture, unpacked, by their numbers."""
        from ai_edge_litert.interpreter import Interpreter, OpResolverType

        # A delegate would unpack the weights where nobody can read them.
        interpreter = Interpreter(
            model_content=data,
            experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
            experimental_preserve_all_tensors=True,
        )
        interpreter.allocate_tensors()
        interpreter.invoke()
        unpacking = [
            o for kind, o in self.operators if kind in ("DEQUANTIZE", "DENSIFY")
        ]
        computed = {int(i) for _, one in self.operators for i in one.outputs}
        packed = {int(one.inputs[0]) for one in unpacking}
        fixed = set(range(len(self.net.tensors))) - computed - {int(self.net.inputs[0])}
        fixed |= {int(one.outputs[0]) for one in unpacking}
        return {i: interpreter.get_tensor(i) for i in sorted(fixed - packed)}

    def convert(self, outputs: dict[str, int]) -> Any:
        """The graph as an ONNX model that gives these outputs, see `OUTPUTS`."""
        from onnx import TensorProto, checker, helper, numpy_helper

        order = sorted(self.net.outputs, key=lambda i: str(self.net.tensors[i].name))
        kept = {name: int(order[place]) for name, place in outputs.items()}
        needed = set(kept.values())
        for kind, one in reversed(self.operators):
            if int(one.outputs[0]) in needed and kind not in ("DEQUANTIZE", "DENSIFY"):
                needed |= set(map(int, one.inputs))
        for kind, one in self.operators:
            inputs, output = list(map(int, one.inputs)), int(one.outputs[0])
            if output in needed and output not in self.constants:
                getattr(self, f"_{kind.lower()}")(one.builtinOptions, inputs, output)
        for name, i in kept.items():
            self._node("Identity", [f"t{i}"], name)
        size = self.shape(int(self.net.inputs[0]))[1]
        graph = helper.make_graph(
            self.nodes,
            self.name,
            [
                helper.make_tensor_value_info(
                    PICTURE, TensorProto.FLOAT, [1, 3, size, size]
                )
            ],
            [
                helper.make_tensor_value_info(
                    name, TensorProto.FLOAT, self._laid_out(i)
                )
                for name, i in kept.items()
            ],
            [numpy_helper.from_array(v, name) for name, v in self.weights.items()],
        )
        opset = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=8)
        checker.check_model(model, full_check=True)
        return model

    def shape(self, tensor: int) -> list[int]:
        """Sizes of a tensor as LiteRT lays it out."""
        return [int(size) for size in self.net.tensors[tensor].shape]

    def _laid_out(self, tensor: int) -> list[int]:
        sizes = self.shape(tensor)
        return [sizes[i] for i in TO_NCHW] if len(sizes) == 4 else sizes

    def _node(self, kind: str, inputs: list[str], output: str, **options: Any) -> None:
        from onnx import helper

        self.nodes.append(helper.make_node(kind, inputs, [output], **options))

    def _name(self, tensor: int) -> str:
        return PICTURE if tensor == self.net.inputs[0] else f"t{tensor}"

    def _weight(self, tensor: int, turn: tuple[int, ...] = ()) -> str:
        """A constant as an input of a node; in half precision where nothing is lost."""
        name, stored = f"w{tensor}", f"h{tensor}"
        if name in self.weights or stored in self.weights:
            return name
        value = self.constants[tensor]
        value = np.ascontiguousarray(value.transpose(turn) if turn else value)
        half = value.astype(np.float16)
        if np.array_equal(half.astype(np.float32), value):
            self.weights[stored] = half
            self._node("Cast", [stored], name, to=1)
        else:
            self.weights[name] = value
        return name

    def _fixed(self, name: str, values: Sequence[float], kind: type) -> str:
        self.weights[name] = np.array(values, kind)
        return name

    def _activated(self, kind: str, inputs: list[str], output: int, activation: int,
                   **options: Any) -> None:  # fmt: skip
        """A node, and behind it the activation that LiteRT counts as a part of it."""
        then = ACTIVATIONS[activation]
        self._node(kind, inputs, f"b{output}" if then else f"t{output}", **options)
        if then:
            ends = [
                self._fixed("zero", 0.0, np.float32),
                self._fixed("six", 6.0, np.float32),
            ]
            self._node(
                then, [f"b{output}", *(ends if then == "Clip" else [])], f"t{output}"
            )

    def _padding(self, options: Any, tensor: int, kernel: Sequence[int]) -> list[int]:
        """Rows and columns that LiteRT's SAME adds: above, left, below, right."""
        if options.padding == 1:
            return [0, 0, 0, 0]
        strides = (options.strideH, options.strideW)
        sizes = self.shape(tensor)[1:3]
        missing = [
            max(0, (-(-size // stride) - 1) * stride + side - size)
            for size, stride, side in zip(sizes, strides, kernel, strict=True)
        ]
        return [one // 2 for one in missing] + [one - one // 2 for one in missing]

    def _convolution(self, options: Any, inputs: list[int], output: int,
                     turn: tuple[int, ...], groups: int) -> None:  # fmt: skip
        source, kernel, bias = inputs
        sides = self.shape(kernel)[1:3]
        self._activated(
            *(
                "Conv",
                [self._name(source), self._weight(kernel, turn), self._weight(bias)],
            ),
            *(output, options.fusedActivationFunction),
            pads=self._padding(options, source, sides),
            strides=[options.strideH, options.strideW],
            group=groups,
        )

    def _conv_2d(self, options: Any, inputs: list[int], output: int) -> None:
        self._convolution(options, inputs, output, TO_NCHW, 1)

    def _depthwise_conv_2d(self, options: Any, inputs: list[int], output: int) -> None:
        channels = self.shape(inputs[0])[3]
        self._convolution(options, inputs, output, (3, 0, 1, 2), channels)

    def _add(self, options: Any, inputs: list[int], output: int) -> None:
        names = [self._name(one) for one in inputs]
        self._activated("Add", names, output, options.fusedActivationFunction)

    def _prelu(self, options: Any, inputs: list[int], output: int) -> None:
        slopes = self._weight(inputs[1], (2, 0, 1))
        self._node("PRelu", [self._name(inputs[0]), slopes], f"t{output}")

    def _max_pool_2d(self, options: Any, inputs: list[int], output: int) -> None:
        sides = [options.filterHeight, options.filterWidth]
        self._node(
            *("MaxPool", [self._name(inputs[0])], f"t{output}"),
            kernel_shape=sides,
            pads=self._padding(options, inputs[0], sides),
            strides=[options.strideH, options.strideW],
        )

    def _pad(self, options: Any, inputs: list[int], output: int) -> None:
        amounts = self.constants[inputs[1]][list(TO_NCHW)].T.ravel()
        pads = self._fixed(f"w{inputs[1]}_{output}", amounts, np.int64)
        self._node("Pad", [self._name(inputs[0]), pads], f"t{output}")

    def _resize_bilinear(self, options: Any, inputs: list[int], output: int) -> None:
        sizes = self._fixed(f"s{output}", self._laid_out(output), np.int64)
        self._node(
            *("Resize", [self._name(inputs[0]), "", "", sizes], f"t{output}"),
            mode="linear",
            coordinate_transformation_mode="half_pixel",
        )

    def _depth_to_space(self, options: Any, inputs: list[int], output: int) -> None:
        name, block = self._name(inputs[0]), options.blockSize
        self._node("DepthToSpace", [name], f"t{output}", blocksize=block, mode="DCR")

    def _reshape(self, options: Any, inputs: list[int], output: int) -> None:
        sizes = self._fixed(f"s{output}", self.shape(output), np.int64)
        turned = f"b{output}"
        self._node("Transpose", [self._name(inputs[0])], turned, perm=TO_NHWC)
        self._node("Reshape", [turned, sizes], f"t{output}")

    def _concatenation(self, options: Any, inputs: list[int], output: int) -> None:
        names = [self._name(one) for one in inputs]
        self._node("Concat", names, f"t{output}", axis=options.axis)

    def _mean(self, options: Any, inputs: list[int], output: int) -> None:
        axes = self._fixed(f"s{output}", (2, 3), np.int64)
        self._node(
            "ReduceMean", [self._name(inputs[0]), axes], f"t{output}", keepdims=0
        )

    def _fully_connected(self, options: Any, inputs: list[int], output: int) -> None:
        names = [self._name(inputs[0]), *map(self._weight, inputs[1:])]
        self._node("Gemm", names, f"t{output}", transB=1)

    def _logistic(self, options: Any, inputs: list[int], output: int) -> None:
        self._node("Sigmoid", [self._name(inputs[0])], f"t{output}")


def convert(name: str) -> Any:
    """The ONNX model of one of MediaPipe's networks that ship with the package."""
    return Converter(MODELS / f"{name}.tflite").convert(OUTPUTS[name])


def export(out: Path) -> None:
    """Write the folder; it appears whole or not at all.

    Raises:
        ImportError: onnx, onnxscript or ai-edge-litert is not installed.
        ValueError: the folder exists.
        OSError: it cannot be written.
    """
    embedding = default_embedding()
    graph = Graph(
        lambda: embedding_program(embedding),
        {"steps": ("B", N_STEPS, N_FEATURES)},
        {"vectors": ("B", embedding.config.d_model)},
    )
    networks = {f"{name}.onnx": convert(name).SerializeToString() for name in OUTPUTS}
    card = {
        "weights": asdict(default_weights()["dtw+embedding"]),
        "networks": {
            name: hashlib.sha256(data).hexdigest() for name, data in networks.items()
        },
    }

    def also(part: Path) -> None:
        for name, data in networks.items():
            (part / name).write_bytes(data)
        (part / "ATTRIBUTION.txt").write_text(ATTRIBUTION, encoding="utf-8")
        shutil.copy(MODELS / "LICENSE", part / "LICENSE.txt")

    write_onnx(out, {ONNX_PROGRAM: graph}, card, also)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder, a new one")
    chosen = parser.parse_args(arguments)
    try:
        export(chosen.out)
    except (ImportError, OSError, ValueError) as reason:
        print(f"error: {reason}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
