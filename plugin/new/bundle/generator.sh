#!/bin/sh
# Generates a ConfigMap with a message. $1 is a file with the configuration object.
set -eu
cat <<YAML
apiVersion: v1
kind: ConfigMap
metadata:
  name: hello
data:
  $(grep '^message:' "$1")
YAML
