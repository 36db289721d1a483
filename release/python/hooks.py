"""Makes the wheel of pyproject.toml, which has no files but needs the wheel of rustomize."""

import re
import zipfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent / "pyproject.toml"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel into a directory, and returns its name, as PEP 517 asks."""
    text = PROJECT.read_text()
    version = re.search(r'^version = "(.*)"$', text, re.MULTILINE)[1]
    needed = re.search(r'^dependencies = \["(.*)"\]$', text, re.MULTILINE)[1]
    name, info = f"rustomize_hooks-{version}-py3-none-any.whl", f"rustomize_hooks-{version}.dist-info"
    files = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: rustomize-hooks\nVersion: {version}\nRequires-Dist: {needed}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: rustomize\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{file},,\n" for file in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(Path(wheel_directory) / name, "w") as wheel:
        for file, content in {**files, f"{info}/RECORD": record}.items():
            wheel.writestr(file, content)
    return name


build_editable = build_wheel
