"""The plugin @NAME@, for plugins in Python that need it.

Made by `rustomize plugin install` of what the plugin says of itself; changes are lost. Each kind of
the plugin is a dataclass: its fields are those of a configuration object, its methods call the
plugin.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import tempfile
import typing

_PROTOCOL, _FORMAT = "@PROTOCOL@", "@FORMAT@"
_CALL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "call")


class Failed(Exception):
    """A call that failed. What the plugin says of it is on stderr."""


def _object(value):
    """What a value is in a configuration object: fields that are None are left out."""
    if dataclasses.is_dataclass(value):
        fields = [(field, getattr(value, field.name)) for field in dataclasses.fields(value)]
        known = {field.metadata.get("name", field.name): of for field, of in fields}
        return {name: _object(of) for name, of in known.items() if of is not None}
    if isinstance(value, (list, tuple)):
        return [_object(item) for item in value]
    if isinstance(value, dict):
        return {key: _object(item) for key, item in value.items()}
    return value


def _call(of, role, resources, name):
    """Calls the plugin for a configuration object and returns the resources that it prints."""
    head = {"apiVersion": of.API_VERSION, "kind": of.KIND, "metadata": {"name": name}}
    fields = _object(of)
    config = {**head, **fields.pop("fields_", {}), **fields}
    environment = {**os.environ, "RUSTOMIZE_PLUGIN_ROLE": role}
    environment["KUSTOMIZE_PLUGIN_MODE"] = "generate" if role == "generator" else "transform"
    with tempfile.TemporaryDirectory() as directory:
        args, given = [_CALL], "".join(json.dumps(resource) + "\n" for resource in resources)
        if _PROTOCOL == "krm":
            given = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList"}
            given = json.dumps({**given, "items": resources, "functionConfig": config})
        else:
            args.append(os.path.join(directory, "config.json"))
            with open(args[1], "w", encoding="utf-8") as file:
                json.dump(config, file)
            if _FORMAT == "yaml":
                given = "---\n".join(json.dumps(resource) + "\n" for resource in resources)
        run = subprocess.run(args, input=given.encode(), stdout=subprocess.PIPE, env=environment)
    if run.returncode:
        raise Failed(f"the plugin @NAME@ failed with the status {run.returncode}")
    printed = _read(run.stdout.decode("utf-8"))
    if _PROTOCOL == "krm":
        return [item for document in printed for item in document.get("items") or []]
    return printed


def _read(text):
    try:
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    except ValueError:
        pass
    try:
        import yaml
    except ImportError:
        hint = "Python has no package 'yaml' to read that: pin PyYAML in requirements.txt"
        raise Failed(f"the plugin @NAME@ prints YAML, and {hint}") from None
    return [document for document in yaml.safe_load_all(text) if document is not None]
