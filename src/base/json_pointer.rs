//! The parts of a JSON Pointer (RFC 6901), in which `~0` is a tilde and `~1` a slash.

use std::borrow::Cow;

/// A name as a part of a pointer.
pub fn escaped(name: &str) -> Cow<'_, str> {
    match name.contains(['~', '/']) {
        true => name.replace('~', "~0").replace('/', "~1").into(),
        false => name.into(),
    }
}

/// The name that a part of a pointer stands for.
pub fn unescaped(part: &str) -> Cow<'_, str> {
    match part.contains('~') {
        true => part.replace("~1", "/").replace("~0", "~").into(),
        false => part.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::{escaped, unescaped};

    #[test]
    fn a_name_is_read_as_it_was_written() {
        for (name, part) in [("a", "a"), ("a/b", "a~1b"), ("~", "~0"), ("~1/", "~01~1"), ("", "")] {
            assert_eq!((escaped(name).as_ref(), unescaped(part).as_ref()), (part, name));
        }
    }
}
