#!/usr/bin/env bash
# Refuses resources without a label. $1 is a file with the configuration object, as JSON; the
# resources come on stdin as JSON objects.
set -euo pipefail
wrong=$(jq --raw-output --slurpfile config "$1" '
  $config[0].label as $wanted
  | select(.metadata.labels[$wanted] == null)
  | "\(.kind) \(.metadata.name) has no label \($wanted)"')
if [[ -n $wrong ]]; then
  echo "$wrong" >&2
  exit 1
fi
