#!/usr/bin/env bash
# Builds the example with the plugin as it is, and holds it to what is expected.
set -euo pipefail
cd "$(dirname "$0")"
BUILDrustomize plugin install --directory example --frozen=false
diff example/expected.yaml <(rustomize build --enable-alpha-plugins example)
echo ok
