"""Generates a ConfigMap with a message."""

from dataclasses import dataclass
from typing import Annotated

import rustomize_plugin


@dataclass
class @KIND@(rustomize_plugin.Plugin):
    """@SUMMARY@"""

    VERSION = "0.1.0"
    API_VERSION = "example.com/v1"
    message: Annotated[str, "@FIELD_DOC@"]

    def generate(self, call):
        metadata = {"name": call.name}
        data = {"message": self.message}
        return [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}]


if __name__ == "__main__":
    rustomize_plugin.main(@KIND@)
