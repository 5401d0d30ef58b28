"""A recogniser of VietOCR's size, with random weights: what speed is compared against.

Sizes are those that github.com/pbcquoc/vietocr publishes in config/base.yml and config/vgg-transformer.yml: VGG-19 with
batch normalisation on pictures 32 pixels high in three colours, its maximum pooling replaced by averages of 2 x 2,
2 x 2, 2 x 1, 2 x 1 and 1 x 1, projected to width 256; 6 + 6 post-norm Transformer layers of 8 heads, 2048 wide inside;
233 classes. Greedy decoding is done as vietocr/tool/translate.py does it: each step runs the decoder over the whole
prefix again, for all lines of the batch until the last one has ended.

Source: Simonyan and Zisserman, "Very Deep Convolutional Networks" (arXiv 1409.1556), table 1, column E, for VGG-19.
"""

import torch
from torch import Tensor, nn

from coursepkg.blocks.position import sinusoidal_table

BLOCKS = ((64, 2), (128, 2), (256, 4), (512, 4), (512, 4))
"""Channels and convolutions of VGG-19's five blocks."""
POOLS = ((2, 2), (2, 2), (2, 1), (2, 1), (1, 1))
"""Height and width of the average behind each block."""
HEIGHT, MOST_WIDTH = 32, 512
"""Of its pictures, in pixels."""
N_CLASSES = 233
"""Its 229 characters and four special tokens."""
WIDTH, HEADS, LAYERS, INSIDE, MOST_STEPS = 256, 8, 6, 2048, 1024


def vgg19() -> nn.Sequential:
    """The convolutions, pictures (B, 3, 32, W) -> (B, 512, 2, W / 4)."""
    parts: list[nn.Module] = []
    n_in = 3
    for (n_out, count), pool in zip(BLOCKS, POOLS, strict=True):
        for _ in range(count):
            parts += [nn.Conv2d(n_in, n_out, 3, padding=1), nn.BatchNorm2d(n_out), nn.ReLU(inplace=True)]
            n_in = n_out
        parts.append(nn.AvgPool2d(pool, stride=pool))
    return nn.Sequential(*parts)


class VggTransformer(nn.Module):
    """VGG-19, then a Transformer of PyTorch's own layers.

    The two rows that are left of a picture's height follow one another in the sequence, column after column, as
    VietOCR lays them out.
    """

    table: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.features, self.project = vgg19(), nn.Conv2d(512, WIDTH, 1)
        self.embedding, self.output = nn.Embedding(N_CLASSES, WIDTH), nn.Linear(WIDTH, N_CLASSES)
        self.core = nn.Transformer(WIDTH, HEADS, LAYERS, LAYERS, INSIDE, batch_first=True)
        self.register_buffer("table", sinusoidal_table(MOST_STEPS, WIDTH), persistent=False)

    def encode(self, images: Tensor) -> Tensor:
        """images (B, 3, 32, W) -> memory (B, S, E) of two steps a column."""
        found = self.project(self.features(images))  # (B, E, 2, W / 4)
        steps = found.transpose(2, 3).flatten(2).transpose(1, 2)  # (B, W / 4 * 2, E)
        memory: Tensor = self.core.encoder(steps * WIDTH**0.5 + self.table[: steps.shape[1]])
        return memory

    def decode(self, ids: Tensor, memory: Tensor) -> Tensor:
        """ids (B, T), memory (B, S, E) -> logits (B, T, V)."""
        x = self.embedding(ids) * WIDTH**0.5 + self.table[: ids.shape[1]]
        future = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        logits: Tensor = self.output(self.core.decoder(x, memory, tgt_mask=future))
        return logits

    @torch.inference_mode()
    def read(self, images: Tensor, n_steps: int) -> Tensor:
        """Greedy decoding of so many characters; its random weights would never end by themselves.

        Args:
            images: (B, 3, 32, W).
            n_steps: characters of the longest line of the batch, and its end.

        Returns:
            ids (B, n_steps).
        """
        memory = self.encode(images)
        ids = torch.ones(len(images), 1, dtype=torch.long)
        for _ in range(n_steps):
            best = self.decode(ids, memory)[:, -1].argmax(dim=-1)
            ids = torch.cat([ids, best[:, None]], dim=1)
        return ids[:, 1:]


def vgg_transformer(seed: int = 0) -> VggTransformer:
    """One with weights of a seed, in evaluation mode."""
    torch.manual_seed(seed)
    return VggTransformer().eval()
