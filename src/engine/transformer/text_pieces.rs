//! Pieces of a text between delimiters: a replacement puts its value in place of one.

use crate::config::kustomization::FieldOptions;
use crate::diag::{Code, Error};

/// The error about a delimiter for something that is no text.
pub(super) fn delimited() -> Error {
    Error::new(Code::WrongType, "delimiter option can only be used with scalar nodes")
        .hint("name a field that has a text, or remove 'delimiter'")
}

/// The pieces of a text with one replaced, or one more in front or behind.
pub(super) fn spliced(old: &str, piece: &str, options: &FieldOptions<'_>) -> String {
    let mut pieces: Vec<&str> = old.split(options.delimiter).collect();
    match usize::try_from(options.index) {
        Err(_) => pieces.insert(0, piece),
        Ok(i) if i < pieces.len() => pieces[i] = piece,
        Ok(_) => pieces.push(piece),
    }
    pieces.join(options.delimiter)
}
