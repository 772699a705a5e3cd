"""Put the registry's table into the README, between its two marks."""

import re
from pathlib import Path

from isentropic.registry import methods_table

README = Path(__file__).parents[1] / "README.md"

text = README.read_text(encoding="utf-8")
table = f"<!-- methods -->\n{methods_table()}\n<!-- end -->"
text = re.sub(r"<!-- methods -->.*?<!-- end -->", lambda _: table, text, flags=re.DOTALL)
README.write_text(text, encoding="utf-8")
