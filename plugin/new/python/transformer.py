"""Sets the label team on all resources."""

from dataclasses import dataclass
from typing import Annotated

import rustomize_plugin


@dataclass
class @KIND@(rustomize_plugin.Plugin):
    """@SUMMARY@"""

    VERSION = "0.1.0"
    API_VERSION = "example.com/v1"
    team: Annotated[str, "@FIELD_DOC@"]

    def transform(self, call, resources):
        for resource in resources:
            resource["metadata"].setdefault("labels", {})["team"] = self.team
        return resources


if __name__ == "__main__":
    rustomize_plugin.main(@KIND@)
