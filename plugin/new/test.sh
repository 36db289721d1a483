#!/usr/bin/env bash
# Installs the @WHAT@ as it is, builds the example with it, and compares the result.
set -euo pipefail
cd "$(dirname "$0")"
@BUILD@rustomize plugin install --directory example --frozen=false
diff example/expected.yaml <(rustomize build --enable-alpha-plugins example)
@REFUSED@echo ok
