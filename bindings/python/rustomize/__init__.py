"""Builds kustomizations: the bytes of kustomize v5.8.3, by the program that comes with this package.

A source is the path of a directory with a kustomization, or a mapping of paths to texts, which is a
tree in memory. Each call runs the program once, which takes a few milliseconds. A fault is a
`RustomizeError`, whose `errors` have the file, the line and hints.
"""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Union

__all__ = ["Message", "RustomizeError", "Source", "build", "diff", "explain", "lint", "program", "version"]

#: A directory with a kustomization, or files by path.
Source = Union[str, "os.PathLike[str]", Mapping[str, Union[str, bytes]]]


@dataclass(frozen=True)
class Message:
    """An error, a warning or a finding."""

    severity: str
    code: str
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    field: str | None = None
    resource: str | None = None
    #: How the build came to the fault.
    chain: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        hints = "".join(f"\n  hint: {hint}" for hint in self.hints)
        return f"{place}{': ' if place else ''}{self.severity}: {self.message} [{self.code}]{hints}"


class RustomizeError(Exception):
    """A call that failed. `errors` has its faults, `warnings` what was said beside them."""

    def __init__(self, text: str, errors: Sequence[Message] = (), warnings: Sequence[Message] = ()) -> None:
        super().__init__(text)
        self.errors = tuple(errors)
        self.warnings = tuple(warnings)


def program() -> Path:
    """The program that calls run: the one that came with this package, or the one that RUSTOMIZE names."""
    named = os.environ.get("RUSTOMIZE")
    if named:
        return Path(named)
    name = "rustomize.exe" if os.name == "nt" else "rustomize"
    # Installers put it among the scripts of the environment or of the user; with --target beside the package.
    scripts = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    places = [Path(place, name) for place in [*scripts, str(Path(__file__).parent.parent / "bin")]]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise FileNotFoundError(f"no program '{name}' in {', '.join(str(place.parent) for place in places)}")
    return found


def build(
    source: Source,
    *,
    root: str = ".",
    compat: str | None = None,
    load_restrictor: str | None = None,
    enable_helm: bool = False,
    args: Sequence[str] = (),
    timeout: float | None = None,
) -> str:
    """Builds a kustomization and returns the resources as YAML.

    `root` is the directory in a mapping. `compat` is a version of kustomize, as in "5.7.1".
    `args` are further flags of `rustomize build`. Raises `RustomizeError`.
    """
    flags = _flags(compat, load_restrictor, enable_helm) + list(args)
    with _at(source, root) as (directory, path):
        return _run(["build", *flags, "--", path], directory, timeout)[0]


def lint(
    source: Source,
    *,
    root: str = ".",
    warn: Sequence[str] = (),
    schema: bool = False,
    args: Sequence[str] = (),
    timeout: float | None = None,
) -> list[Message]:
    """Builds a kustomization and returns its findings.

    `warn` has codes of findings that are off by default; with `schema`, resources are held to the
    schemas of their kinds. Raises `RustomizeError` if the kustomization does not build.
    """
    flags = [f"--warn={code}" for code in warn] + (["--schema"] if schema else []) + list(args)
    with _at(source, root) as (directory, path):
        return _run(["lint", *flags, "--", path], directory, timeout, may_find=True)[1]


def explain(
    source: Source,
    resource: str | None = None,
    field: str | None = None,
    *,
    root: str = ".",
    args: Sequence[str] = (),
    timeout: float | None = None,
) -> dict[str, Any]:
    """Returns where values come from, as `rustomize explain -o json` prints it.

    `resource` is NAME, KIND/NAME or KIND/NAMESPACE/NAME, `field` a path with dots. Raises
    `RustomizeError`.
    """
    words = [word for word in (resource, field) if word is not None]
    with _at(source, root) as (directory, path):
        text = _run(["explain", "--output=json", *args, "--", path, *words], directory, timeout)[0]
    explanation: dict[str, Any] = json.loads(text)
    return explanation


def diff(
    before: Source,
    after: Source,
    *,
    root: str = ".",
    args: Sequence[str] = (),
    timeout: float | None = None,
) -> dict[str, Any]:
    """Returns the differences of two builds, as `rustomize diff -o json` prints them.

    `root` is the directory in a mapping. Raises `RustomizeError`.
    """
    with _at(before, root) as (one, old), _at(after, root) as (other, new):
        sides = [str(Path(directory or ".", path).absolute()) for directory, path in ((one, old), (other, new))]
        text = _run(["diff", "--output=json", *args, "--", *sides], None, timeout, may_find=True)[0]
    difference: dict[str, Any] = json.loads(text)
    return difference


def version() -> str:
    """The version of the program."""
    return _run(["version", "--short"], None, None)[0].strip()


def _flags(compat: str | None, load_restrictor: str | None, enable_helm: bool) -> list[str]:
    flags = [f"--compat={compat}"] if compat is not None else []
    flags += [f"--load-restrictor={load_restrictor}"] if load_restrictor is not None else []
    return flags + (["--enable-helm"] if enable_helm else [])


@contextmanager
def _at(source: Source, root: str) -> Iterator[tuple[str | None, str]]:
    """The working directory for a source, and the path of its root from there."""
    if not isinstance(source, Mapping):
        yield None, os.path.join(os.fspath(source), root) if root != "." else os.fspath(source)
        return
    if not _is_inside(root):
        raise ValueError(f"root: a path in the mapping is expected, not {root!r}")
    with tempfile.TemporaryDirectory(prefix="rustomize-") as directory:
        for name, content in source.items():
            if not _is_inside(name) or name in ("", "."):
                raise ValueError(f"the path of a file in the mapping is expected, not {name!r}")
            path = Path(directory, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        yield directory, root


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path)
    return not parts.is_absolute() and ".." not in parts.parts and "\0" not in path


def _run(
    words: Sequence[str], directory: str | None, timeout: float | None, may_find: bool = False
) -> tuple[str, list[Message]]:
    """Runs the program, and returns its output and its messages.

    With `may_find`, a status that is not 0 can mean that there is something to report.
    """
    command, *rest = words
    line = [str(program()), command, "--error-format=json", "--color=never", *rest]
    try:
        done = subprocess.run(line, cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
    except subprocess.TimeoutExpired as late:
        raise RustomizeError(f"the call took longer than {timeout} s") from late
    except OSError as fault:
        raise RustomizeError(f"{line[0]} cannot be started: {fault}") from fault
    messages, rest_of_stderr = _messages(done.stderr.decode(errors="replace"))
    errors = [message for message in messages if message.severity == "error"]
    others = [message for message in messages if message.severity != "error"]
    if errors or (done.returncode != 0 and not (may_find and (others or done.stdout))):
        text = "\n".join(map(str, errors)) or rest_of_stderr or f"the program ended with status {done.returncode}"
        raise RustomizeError(text, errors, others)
    return done.stdout.decode(), others


def _messages(stderr: str) -> tuple[list[Message], str]:
    """The messages in the lines of stderr, and the other lines."""
    messages, others = [], []
    for line in stderr.splitlines():
        try:
            data = json.loads(line)
        except ValueError:
            data = None
        if not isinstance(data, dict) or "severity" not in data:
            others.append(line)
            continue
        names = ("severity", "code", "message", "file", "line", "column", "field", "resource")
        chain = tuple(link["text"] for link in data.get("chain", ()))
        members: dict[str, Any] = {name: data.get(name) for name in names}
        messages.append(Message(**members, chain=chain, hints=tuple(data.get("hints", ()))))
    return messages, "\n".join(others)
