"""What the site of the documentation has besides docs/: mkdocs calls ``on_…`` (see mkdocs.yml)."""

import json
import re
from pathlib import Path
from typing import Any

REPORT_PAGE = Path("reports/index.html")
_ABOVE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "CITATION.cff")


def notebook_page(text: str) -> str:
    """Return a Jupyter notebook (JSON) as Markdown; what its cells print are blocks of text."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        if printed := "".join(line for out in cell.get("outputs", ()) for line in out["text"]):
            parts.append(f"```text\n{printed}```")
    return "\n\n".join(parts) + "\n"


def on_files(files: Any, config: Any) -> Any:
    """Add the files above docs/, a page for each notebook, and the report."""
    from mkdocs.structure.files import File

    root = Path(config.config_file_path).parent
    for name in _ABOVE:
        files.append(File.generated(config, name, abs_src_path=str(root / name)))
    for path in sorted((root / "docs/notebooks").glob("*.ipynb")):
        page = notebook_page(path.read_text("utf-8"))
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=page))
    report = re.sub(
        r'(href="\.\.)/docs/(\w+)\.md', r"\1/\2.html", (root / REPORT_PAGE).read_text("utf-8")
    )
    files.append(File.generated(config, "report/index.html", content=report))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Mend links: docs/ and the folder above are one folder of the site, notebooks are pages."""
    markdown = re.sub(r"(\]\([^)]*)\.ipynb\)", r"\1.md)", markdown)
    return markdown if "/" in page.file.src_uri else re.sub(r"\]\((docs|\.\.)/", "](", markdown)
