"""Small lines drawn for tests, and small networks that read them."""

from functools import cache

import matplotlib
import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFont

from coursepkg.projects.ocr.line import TextLine
from coursepkg.projects.ocr.model.backbone import ModelConfig
from coursepkg.projects.ocr.model.recognizer import LineTransformer

SANS = f"{matplotlib.get_data_path()}/fonts/ttf/DejaVuSans.ttf"
SYLLABLES = ("phở", "bún", "trà", "sữa", "đá", "Cơm", "gà", "12", "34.000", "Tổng", "nước", "Giá")


@cache
def font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(SANS, size)


def draw(text: str, height: int = 32) -> np.ndarray:
    """Black on white, uint8 (height, width)."""
    width = round(font(height * 5 // 8).getlength(text)) + 8
    image = Image.new("L", (width, height), 255)
    ImageDraw.Draw(image).text((4, height // 8), text, fill=0, font=font(height * 5 // 8))
    return np.array(image)


def drawn_lines(count: int, seed: int = 0, height: int = 32, longest: int = 3) -> list[TextLine]:
    """Lines of a few syllables."""
    generator = np.random.Generator(np.random.PCG64(seed))
    found = []
    for i in range(count):
        chosen = generator.choice(len(SYLLABLES), size=generator.integers(1, longest + 1))
        text = " ".join(SYLLABLES[k] for k in chosen)
        found.append(TextLine(draw(text, height), text, f"group {seed}-{i}", f"drawn {seed}-{i}"))
    return found


SMALL = {
    "height": 32,
    "max_width": 512,
    "max_len": 40,
    "channels": (4, 6, 8, 8),
    "n_blocks": (0, 1, 0, 1),
    "d_model": 16,
    "n_heads": 2,
    "n_encoder_layers": 1,
    "n_decoder_layers": 2,
    "d_ff": 24,
    "dropout": 0.0,
}


def network(vocab_size: int = 30, seed: int = 0, **changes: object) -> LineTransformer:
    """A network of random weights with statistics as training leaves them, in float64 and evaluation mode."""
    torch.manual_seed(seed)
    model = LineTransformer(ModelConfig(**({"vocab_size": vocab_size} | SMALL | changes)))  # type: ignore[arg-type]
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(std=0.2)
            module.running_var.uniform_(0.5, 2.0)
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.normal_(module.bias, std=0.2)
    return model.double().eval()


def noise(
    widths: list[int], width: int, height: int = 32, seed: int = 0
) -> tuple[torch.Tensor, torch.Tensor]:
    """Random pictures (B, 1, height, width) whose padding is noise as well, and their widths."""
    generator = torch.Generator().manual_seed(seed)
    images = torch.rand(len(widths), 1, height, width, generator=generator, dtype=torch.float64) * 2 - 1
    return images, torch.tensor(widths)
