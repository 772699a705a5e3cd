"""How long a comparison may take: pace, plan, rows that are fitted, what is left."""
