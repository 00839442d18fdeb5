"""What an environment consists of: the same for the same wheel, and another for any other."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from observatory.run.installed import contents, damaged


def environment(where: Path, code: str = "a = 1\n", script: str = "#!/one/python\n") -> Path:
    """An environment with one distribution, as an installer leaves it; returns its Python."""
    site = where / "lib" / "python3.13" / "site-packages"
    about = site / "Some_Name-1.0.dist-info"
    files = {"some/name.py": code, "../../../bin/some": script,
             f"{about.name}/METADATA": "Metadata-Version: 2.1\nName: Some_Name\nVersion: 1.0\n",
             f"{about.name}/INSTALLER": script, "some/__pycache__/name.pyc": script}  # fmt: skip
    lines = []
    for name, text in files.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        lines.append(f"{name},sha256={digest.decode()},{len(text)}")
    (about / "RECORD").write_text("\n".join([*lines, f"{about.name}/RECORD,,"]))
    return where / "bin" / "python"


def test_one_wheel_is_the_same_wherever_it_is_installed(tmp_path: Path) -> None:
    here = contents(environment(tmp_path / "here"))
    assert here.keys() == {"some-name"}
    assert here == contents(environment(tmp_path / "there", script="#!/other/python\n"))
    assert here != contents(environment(tmp_path / "else", code="a = 2\n"))


def test_a_file_that_was_changed_or_removed_since_is_named(tmp_path: Path) -> None:
    python = environment(tmp_path)
    assert damaged(python) == ""
    changed = tmp_path / "lib/python3.13/site-packages/some/name.py"
    changed.write_text("a = 3\n")
    assert damaged(python) == "some/name.py"
    changed.unlink()
    assert damaged(python) == "some/name.py"
