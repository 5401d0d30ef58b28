"""What pretrained networks for pictures expect to be taken out of their pixels.

    x = (pixel - mean) / std, pixels in [0, 1]

Source: computed on ImageNet (Deng et al., CVPR 2009); every network of torchvision and of the transformers library that
was trained on it uses these numbers.
"""

MEAN = (0.485, 0.456, 0.406)
"""Of red, green and blue over ImageNet."""
STD = (0.229, 0.224, 0.225)
"""Their standard deviations."""
