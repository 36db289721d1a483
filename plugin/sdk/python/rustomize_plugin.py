"""Plugins for rustomize in Python: one file, which needs no package (Python 3.9 or later).

A plugin is a dataclass. Its fields are read from the configuration object; its methods are its
roles: `generate`, `transform`, `validate`.

    @dataclass
    class TeamLabel(rustomize_plugin.Plugin):
        '''Sets the label `team`.'''

        VERSION = "0.1.0"
        API_VERSION = "example.com/v1"
        team: Annotated[str, "The team that owns the resources."]

        def transform(self, call, resources):
            for resource in resources:
                resource["metadata"].setdefault("labels", {})["team"] = self.team
            return resources

    if __name__ == "__main__":
        rustomize_plugin.main(TeamLabel)

The argument `describe` prints what the plugin says of itself, with a JSON Schema of the fields.
rustomize holds a configuration object to the schema before it runs the plugin, so nothing checks
it again here.
"""

import dataclasses
import importlib.util
import json
import os
import sys
import types
import typing

SDK_VERSION = "0.1.0"

# The roles of plugins, each with the method that makes a plugin one.
ROLES = {"generator": "generate", "transformer": "transform", "validator": "validate"}


class Error(Exception):
    """An error of a plugin: it fails the build with this message."""


class Plugin:
    """A plugin: a dataclass with at least one of these methods.

    `generate(self, call)` returns the resources to add.
    `transform(self, call, resources)` returns the resources that are to exist afterwards.
    `validate(self, call, resources)` raises an Error if the resources are wrong.
    """

    VERSION = "0.0.0"
    API_VERSION = ""
    WORKER = False  # whether one process may answer several calls
    KIND = ""  # the name of the class, if it is not said


@dataclasses.dataclass
class Call:
    """Where a plugin is called, and for which configuration object."""

    name: str  # metadata.name of the configuration object
    root: str  # the directory of the kustomization that lists the plugin


def main(plugin):
    """Runs a plugin, or prints what it says of itself."""
    if sys.argv[1:] == ["describe"]:
        print(json.dumps(describe(plugin), indent=2))
        return
    try:
        if sys.argv[1:] == ["worker"] and plugin.WORKER:
            _work(plugin)
        else:
            _run(plugin)
    except Error as error:
        sys.exit(f"Error: {error}")


def need(name):
    """The client of a plugin that this one needs: `name` is its name under `dependencies`.

    It is a module with a dataclass for each kind of that plugin, as in
    `need("labels").TeamLabel(team="sea").transform(resources)`.
    """
    directory = os.path.dirname(os.path.abspath(sys.modules["__main__"].__file__))
    for _ in range(directory.count(os.sep) + 1):
        path = os.path.join(directory, ".rustomize", "sdk", name, "client.py")
        if os.path.exists(path):
            spec = importlib.util.spec_from_file_location(f"need {name}", path)
            module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
        directory = os.path.dirname(directory)
    raise Error(f"the plugin '{name}' that this plugin needs is not installed for it")


def describe(plugin):
    """What a plugin says of itself: its version, its kind, its roles and its schema."""
    component = {
        "apiVersion": plugin.API_VERSION,
        "kind": _kind(plugin),
        "summary": " ".join((plugin.__doc__ or "").split("\n\n")[0].split()),
        "schema": schema(plugin),
    }
    description = {"version": plugin.VERSION, "api_version": "x1.0", "sdk_version": SDK_VERSION}
    description.update({"protocol": "exec", "format": "json"})
    if plugin.WORKER:
        description["worker"] = True
    description.update({f"{role}s": [component] for role in ROLES if _has(plugin, role)})
    return description


def schema(plugin):
    """The JSON Schema of a plugin's configuration objects."""
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": _kind(plugin)}
    whole.update(_object(plugin, ()))
    head = {"apiVersion": {"const": plugin.API_VERSION}, "kind": {"const": _kind(plugin)}}
    whole["properties"] = {**head, "metadata": {"type": "object"}, **whole["properties"]}
    whole["required"] = ["apiVersion", "kind"] + whole["required"]
    return whole


def _kind(plugin):
    return plugin.KIND or plugin.__name__


def _has(plugin, role):
    return hasattr(plugin, ROLES[role])


def _run(plugin):
    if len(sys.argv) < 2:
        raise Error("expected the name of a file with the configuration, or 'describe'")
    with open(sys.argv[1], encoding="utf-8") as file:
        config = file.read()
    role = _role(plugin)
    resources = "" if role == "generator" else sys.stdin.buffer.read().decode("utf-8")
    sys.stdout.buffer.write(_answer(plugin, role, config, os.getcwd(), resources))


def _answer(plugin, role, config, root, resources):
    """The bytes that a plugin prints for a call, which is given as texts."""
    (config,), separator = _read(config)
    self = _value(plugin, config)
    call = Call((config.get("metadata") or {}).get("name", ""), root)
    if role == "generator":
        printed = self.generate(call)
    else:
        resources, _ = _read(resources)
        if role == "transformer":
            printed = self.transform(call, resources)
        else:
            self.validate(call, resources)
            printed = []
    if printed is None:
        raise Error(f"'{ROLES[role]}' returned no list of resources")
    lines = [json.dumps(resource, ensure_ascii=False, default=str) + "\n" for resource in printed]
    return separator.join(lines).encode("utf-8")


def _work(plugin):
    """Answers requests, which come as frames on stdin, until stdin ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever the plugin prints is for people
    sys.stdout = sys.stderr
    _send(answers, 0, b"{}")
    while head := sys.stdin.buffer.read(9):
        content, texts = sys.stdin.buffer.read(int.from_bytes(head[1:], "little")), []
        while content:
            size = int.from_bytes(content[:8], "little")
            texts.append(content[8 : 8 + size].decode("utf-8"))
            content = content[8 + size :]
        config, root, resources, options = texts
        number = json.loads(options)["request"].to_bytes(8, "little")
        try:
            role = _role(plugin, ["generator", "transformer", "validator"][head[0] - 1])
            _send(answers, 0, number + _answer(plugin, role, config, root, resources))
        except Error as error:
            _send(answers, 1, number + str(error).encode("utf-8"))


def _send(answers, kind, content):
    answers.write(bytes([kind]) + len(content).to_bytes(8, "little") + content)
    answers.flush()


def _role(plugin, role=None):
    """The role that is wanted. kustomize tells a validator to transform."""
    said = {"generate": "generator", "transform": "transformer"}
    said = said.get(os.environ.get("KUSTOMIZE_PLUGIN_MODE"))
    role = role or os.environ.get("RUSTOMIZE_PLUGIN_ROLE") or said
    own = [known for known in ROLES if _has(plugin, known)]
    if role not in own:
        others = {"transformer": "validator", "validator": "transformer"}
        role = others.get(role) if role else own[0]
    if role not in own:
        raise Error(f"{_kind(plugin)} is a {' and a '.join(own)}")
    return role


def _read(text):
    """The objects of a text, and what separates objects in the answer.

    rustomize sends JSON, each object in a line. A plugin that was placed by hand gets YAML, which
    PyYAML reads, if it is installed.
    """
    try:
        return [json.loads(line) for line in text.split("\n") if line.strip()], ""
    except ValueError:
        pass
    try:
        import yaml
    except ImportError:
        hint = "install the plugin with 'rustomize plugin add', which sends JSON, or install PyYAML"
        raise Error(f"the plugin got YAML, and Python has no package 'yaml': {hint}") from None
    return [document for document in yaml.safe_load_all(text) if document is not None], "---\n"


def _bare(hint):
    """A type without its documentation and without None, and the documentation."""
    doc = ""
    if typing.get_origin(hint) is typing.Annotated:
        hint, doc = hint.__origin__, hint.__metadata__[0]
    if typing.get_origin(hint) in (typing.Union, getattr(types, "UnionType", None)):
        known = [of for of in typing.get_args(hint) if of is not type(None)]
        if len(known) == 1:
            return _bare(known[0])[0], doc
    return hint, doc


def _fields(of):
    hints = typing.get_type_hints(of, include_extras=True)
    return [(field, *_bare(hints[field.name])) for field in dataclasses.fields(of)]


def _object(of, parents):
    """The schema of a dataclass."""
    properties, required = {}, []
    for field, hint, doc in _fields(of):
        properties[field.name] = _schema(hint, (*parents, of))
        if doc:
            properties[field.name]["description"] = doc
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            required.append(field.name)
    made = {"type": "object", "properties": properties, "required": required}
    return {**made, "additionalProperties": False}


def _schema(hint, parents):
    """The schema of a type: of any value, where the type says nothing that JSON knows."""
    origin, args = typing.get_origin(hint) or hint, typing.get_args(hint)
    names = {str: "string", bool: "boolean", int: "integer", float: "number"}
    names.update({list: "array", dict: "object"})
    if origin is typing.Literal:
        return {"enum": list(args)}
    if dataclasses.is_dataclass(hint):
        # A type in itself has no end: its inner values may be anything.
        return {} if hint in parents else _object(hint, parents)
    made = {"type": names[origin]} if origin in names else {}
    if origin is list and args:
        made["items"] = _schema(_bare(args[0])[0], parents)
    if origin is dict and args:
        made["additionalProperties"] = _schema(_bare(args[1])[0], parents)
    return made


def _value(hint, value):
    """A value of a type, with dataclasses for objects where the type says so."""
    origin, args = typing.get_origin(hint) or hint, typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        known = {field.name: of for field, of, _ in _fields(hint)}
        values = {name: _value(of, value[name]) for name, of in known.items() if name in value}
        try:
            return hint(**values)
        except TypeError as error:
            raise Error(f"the configuration: {error}") from None
    if origin is list and args and isinstance(value, list):
        return [_value(_bare(args[0])[0], item) for item in value]
    if origin is dict and args and isinstance(value, dict):
        return {key: _value(_bare(args[1])[0], item) for key, item in value.items()}
    return value
