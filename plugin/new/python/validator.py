"""Refuses resources without a label."""

from dataclasses import dataclass
from typing import Annotated

import rustomize_plugin


@dataclass
class @KIND@(rustomize_plugin.Plugin):
    """@SUMMARY@"""

    VERSION = "0.1.0"
    API_VERSION = "example.com/v1"
    label: Annotated[str, "@FIELD_DOC@"]

    def validate(self, call, resources):
        for resource in resources:
            metadata = resource["metadata"]
            if self.label not in metadata.get("labels", {}):
                name = f"{resource['kind']} {metadata['name']}"
                raise rustomize_plugin.Error(f"{name} has no label {self.label}")


if __name__ == "__main__":
    rustomize_plugin.main(@KIND@)
