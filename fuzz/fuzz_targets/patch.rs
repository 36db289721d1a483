//! Two texts, a resource and a patch: no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rustomize::transformer::merge;
use rustomize::yaml::{Arena, documents};

fuzz_target!(|texts: (String, String)| {
    let arena = Arena::new();
    let base = arena.add_source("base", texts.0);
    let patch = arena.add_source("patch", texts.1);
    if let (Ok(base), Ok(patch)) = (documents(&arena, base), documents(&arena, patch)) {
        for mut base in base {
            for patch in &patch {
                let _ = merge::apply(&mut base, patch.clone());
            }
        }
    }
});
