"""What supervised methods share: labels, classes that were fitted, divergences of classes."""
