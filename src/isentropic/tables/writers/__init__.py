"""Writers: maps and scores of rows as CSV, Parquet, Feather, Excel and h5ad files."""
