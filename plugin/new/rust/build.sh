target=${CARGO_TARGET_DIR:-target}
cargo build --quiet --release --target-dir "$target"
mkdir -p bin
cp "$target/release/@NAME@" bin/
