#!/usr/bin/env bash
# Generates a ConfigMap of the configuration's message.
set -euo pipefail
field() { sed -n "s/^ *$1: //p" "$2" | head -n 1; }
cat <<END
apiVersion: v1
kind: ConfigMap
metadata:
  name: $(field name "$1")
data:
  message: $(field message "$1")
END
