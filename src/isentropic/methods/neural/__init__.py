"""Networks: autoencoders and parametric maps."""
