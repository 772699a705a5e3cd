"""Files of fitted models: written whole, with a checksum, and read without trusting them."""
