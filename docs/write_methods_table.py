"""Put the registry's table into docs/methods.md, between its two marks."""

import re
from pathlib import Path

from isentropic.registry import methods_table

PAGE = Path(__file__).parent / "methods.md"

text = PAGE.read_text(encoding="utf-8")
table = f"<!-- methods -->\n{methods_table()}\n<!-- end -->"
text = re.sub(r"<!-- methods -->.*?<!-- end -->", lambda _: table, text, flags=re.DOTALL)
PAGE.write_text(text, encoding="utf-8")
