#!/usr/bin/env python3
"""Generates a ConfigMap of the configuration's message."""
import re
import sys


def field(name, text):
    found = re.search(rf"^ *{name}: (.*)$", text, re.MULTILINE)
    if not found:
        sys.exit(f"the configuration has no '{name}'")
    return found[1]


with open(sys.argv[1]) as file:
    config = file.read()
print(f"""apiVersion: v1
kind: ConfigMap
metadata:
  name: {field("name", config)}
data:
  message: {field("message", config)}""")
