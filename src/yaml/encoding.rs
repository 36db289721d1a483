//! Decodes the bytes of a file: UTF-8, or UTF-16 after a byte order mark, as go-yaml reads them.

/// The text of a file.
#[derive(Debug, Default)]
pub struct Text {
    pub text: String,
    /// True if the bytes were UTF-16. kustomize searches the bytes of a file for separators of
    /// documents, and finds none in UTF-16.
    pub is_wide: bool,
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text { text, is_wide: false }
    }
}

/// The reason why bytes are not a text: the name of the encoding, and the offset of the first
/// invalid byte.
#[derive(Debug, PartialEq, Eq)]
pub struct Invalid {
    pub encoding: &'static str,
    pub offset: usize,
}

/// Decodes the bytes of a file. O(bytes).
///
/// # Errors
/// The bytes are not valid in the encoding: an incomplete or overlong sequence, half a surrogate
/// pair.
pub fn decode(bytes: Vec<u8>) -> Result<Text, Invalid> {
    let unit: fn([u8; 2]) -> u16 = match bytes[..] {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => {
            let text = String::from_utf8(bytes);
            return text
                .map(Text::from)
                .map_err(|e| Invalid { encoding: "UTF-8", offset: e.utf8_error().valid_up_to() });
        }
    };
    let (pairs, rest) = bytes[2..].as_chunks::<2>();
    let mut text = String::with_capacity(pairs.len());
    let mut offset = 2;
    let invalid = |offset| Invalid { encoding: "UTF-16", offset };
    for c in char::decode_utf16(pairs.iter().map(|&pair| unit(pair))) {
        let c = c.map_err(|_| invalid(offset))?;
        offset += 2 * c.len_utf16();
        text.push(c);
    }
    if rest.is_empty() { Ok(Text { text, is_wide: true }) } else { Err(invalid(offset)) }
}

#[cfg(test)]
mod tests {
    use super::{Invalid, decode};

    #[test]
    fn bytes_of_each_encoding() {
        for (bytes, want) in [
            (&b"a: \xc3\xa9\n"[..], Ok(("a: é\n", false))),
            (b"\xff\xfea\0\xe9\0", Ok(("aé", true))),
            (b"\xfe\xff\0a\xd8\x3d\xde\0", Ok(("a😀", true))),
            (b"a\xff", Err(("UTF-8", 1))),
            (b"\xff\xfea\0b", Err(("UTF-16", 4))),
            (b"\xff\xfe\x3d\xd8", Err(("UTF-16", 2))),
            (b"\xfe\xff\xde\0\0a", Err(("UTF-16", 2))),
        ] {
            let want = want.map_err(|(encoding, offset)| Invalid { encoding, offset });
            let got = decode(bytes.to_vec());
            assert_eq!(got.as_ref().map(|t| (&*t.text, t.is_wide)), want.as_ref().map(|&t| t));
        }
    }
}
