"""The networks that the page "Try it" runs give what LiteRT gives for the same picture."""

import numpy as np
import pytest
from PIL import Image

from coursepkg.projects.sign_language.landmarks.networks import Network
from coursepkg.projects.sign_language.synthetic.clips import draw_clip
from tests.book.sources import load

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")
pytest.importorskip("ai_edge_litert")
exporter = load("scripts/export_sign_demo.py")
LOW = {"pose_detection": -1.0}


@pytest.mark.parametrize("name", exporter.OUTPUTS)
def test_a_converted_network_equals_the_original(name: str) -> None:
    network, low = Network(name), LOW.get(name, 0.0)
    frame = Image.fromarray(draw_clip("Uống", 1, 0, 10).frames[8])
    picture = np.asarray(frame.resize((network.size, network.size)))
    original = network.run(picture, low=low)
    values = picture.astype(np.float32) * np.float32((1 - low) / 255) + np.float32(low)
    session = onnxruntime.InferenceSession(exporter.convert(name).SerializeToString())
    found = session.run(None, {"picture": values.transpose(2, 0, 1)[None]})
    for (output, place), one in zip(exporter.OUTPUTS[name].items(), found, strict=True):
        if one.ndim == 4:
            one = one.transpose(0, 2, 3, 1)
        scale = max(1.0, float(np.abs(original[place]).max()))
        assert np.abs(one - original[place]).max() < 1e-4 * scale, output
