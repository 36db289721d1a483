#!/usr/bin/env bash
# Sets the label team on all resources. $1 is a file with the configuration object, as JSON; the
# resources come on stdin as JSON objects.
set -euo pipefail
jq --slurpfile config "$1" '.metadata.labels.team = $config[0].team'
