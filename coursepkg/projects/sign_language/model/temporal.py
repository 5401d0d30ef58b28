"""What runs over the frames of a clip: an LSTM, or a 1D-CNN and a Transformer, or the 1D-CNN alone.

A convolution over time sees motion: what one frame has and the next has not. A Transformer layer sees everything at
once, wherever it stands. The best entries of a contest for signed words of 2023 have both, the convolution first.
"""

from torch import Tensor, nn

from coursepkg.attention.patterns import padding
from coursepkg.blocks.convolution import ConvolutionalEncoder
from coursepkg.blocks.encoder import Encoder
from coursepkg.blocks.layer_parts import initialise
from coursepkg.projects.sign_language.model.config import ModelConfig


class Temporal(nn.Module):
    """Frames' vectors in, as many out, each of which knows of the others.

    What enters is projected to E first where it has another width, but for an LSTM, which takes any: the baseline of
    source 002 has no layer between its ResNet and its LSTM.

    Args:
        config: `temporal`, `n_convolutions` and their sizes.
        n_inputs: width of a frame's vector as it comes from the backbone.
    """

    def __init__(self, config: ModelConfig, n_inputs: int) -> None:
        super().__init__()
        self.project: nn.Module = nn.Identity()
        self.convolutions: ConvolutionalEncoder | None = None
        self.encoder: Encoder | None = None
        self.lstm: nn.LSTM | None = None
        takes_any = config.temporal == "lstm" and not config.n_convolutions
        if n_inputs != config.d_model and not takes_any:
            self.project = nn.Linear(n_inputs, config.d_model)
        if config.n_convolutions:
            self.convolutions = ConvolutionalEncoder(
                config.d_model, config.kernel_size, config.n_convolutions, dropout_p=config.dropout
            )
        if config.temporal == "transformer":
            self.encoder = Encoder(config.transformer())
        initialise(self)
        if config.temporal == "lstm":
            n_read = n_inputs if takes_any else config.d_model
            self.lstm = nn.LSTM(n_read, config.d_model, config.n_layers, batch_first=True)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Run over time.

        Args:
            x: (B, T, n_inputs).
            mask: bool (B, T), True at a real frame; padding stands behind the real frames and changes none of them.
                None: all are real.

        Returns:
            (B, T, E); what stands at padding means nothing.
        """
        x = self.project(x)
        if self.convolutions is not None:
            x = self.convolutions(x, mask)
        if self.encoder is not None:
            encoded: Tensor = self.encoder(x, None if mask is None else padding(mask.sum(dim=1)))
            return encoded
        if self.lstm is None:
            return x
        states: Tensor = self.lstm(x)[0]
        return states
