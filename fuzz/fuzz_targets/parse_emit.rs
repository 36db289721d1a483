//! Any text: no panic, and what is printed reads and prints the same again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rustomize::yaml::{Arena, documents, emit};

fuzz_target!(|text: String| {
    let arena = Arena::new();
    let source = arena.add_source("input", text);
    let Ok(nodes) = documents(&arena, source) else { return };
    for node in nodes {
        let mut once = String::new();
        if emit::document(&mut once, &node).is_err() {
            continue;
        }
        let printed = arena.add_source("printed", once.clone());
        let again = documents(&arena, printed).expect("what was printed reads");
        let mut twice = String::new();
        for node in &again {
            emit::document(&mut twice, node).expect("what was read prints");
        }
        assert_eq!(once, twice);
    }
});
