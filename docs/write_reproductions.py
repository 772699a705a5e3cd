"""Write the pages of published tables, dated, and their index in docs/guide/experiments.md.

    ISENTROPIC_DATA=FOLDER python docs/write_reproductions.py WORK [--minutes N]

It needs isentropic-papers. WORK holds, or will hold, the results (isentropic-results); a run of some minutes
goes on where the last one ended, and 0 writes the pages of what is kept.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

DOCS = Path(__file__).parent
PAGES = DOCS / "reproductions"
GUIDE = DOCS / "guide" / "experiments.md"
FORMS = (("000", False), ("001", False), ("002", False), ("002", True), ("004", False), ("survey", False))
BEGIN, END = "<!-- reproductions -->", "<!-- end of reproductions -->"


def written(source: str, quick: bool, work: Path, minutes: float, date: str) -> list[str]:
    """Run the command, keep its page, and give the lines of the index."""
    name = f"{source}-quick" if quick else source
    page = f"{name}-{date}.html"
    command = ["isentropic", "reproduce", source, *(["--quick"] if quick else [])]
    command += ["--minutes", f"{minutes:g}", "--out", page, "--quiet", "--json"]
    program = "import sys; from isentropic.cli import run; sys.argv = sys.argv[1:]; run()"
    done = subprocess.run(
        [sys.executable, "-c", program, *command], cwd=work, check=True, stdout=subprocess.PIPE, text=True
    )
    for old in PAGES.glob(f"{name}-[0-9]*.html"):
        old.unlink()
    shutil.copy(work / page, PAGES / page)
    found = json.loads(done.stdout)
    (chapter,) = found["chapters"]
    total = found["results"] + found["left"]
    compared = sum(table["compared"] for table in chapter["tables"])
    met = sum(table["met"] for table in chapter["tables"])
    hours = found["seconds"] / 3600
    head = f"{date}, {found['results']:,} of {total:,} pieces of work ({hours:.1f} h of work)"
    lines = [
        f"**[{name}](../reproductions/{page})**, {chapter['title']}: {head}; {met:,} of {compared:,} "
        "printed numbers met.",
        "",
    ]
    for one in chapter["reached"]:
        must = f" (must be: {one['must']})" if one["must"] else ""
        lines.append(f"- {one['what']}: {one['met']} of {one['of']}{must}")
    return [*lines, ""]


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("work", type=Path)
    words.add_argument("--minutes", type=float, default=0.0)
    given = words.parse_args()
    PAGES.mkdir(exist_ok=True)
    date = datetime.now(UTC).date().isoformat()
    pages = [written(source, quick, given.work, given.minutes, date) for source, quick in FORMS]
    lines = [line for page in pages for line in page]
    text = GUIDE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    GUIDE.write_text(f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
