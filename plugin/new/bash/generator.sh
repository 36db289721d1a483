#!/usr/bin/env bash
# Generates a ConfigMap with a message. $1 is a file with the configuration object, as JSON.
set -euo pipefail
jq '{apiVersion: "v1", kind: "ConfigMap", metadata: {name: .metadata.name}, data: {message: .message}}' "$1"
