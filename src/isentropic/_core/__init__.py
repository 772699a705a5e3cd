"""What every layer may use: errors, settings, files, the state of models, plain values."""
