"""The network that reads a line: CNN, Transformer encoder and decoder, CTC head."""
