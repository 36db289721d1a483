cargo build --quiet
mkdir -p bin
cp "${CARGO_TARGET_DIR:-target}/debug/@NAME@" bin/
