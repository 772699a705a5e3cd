"""What the outcomes of tables say: numbers beside printed ones, ranks, p-values, aims, sentences."""
