//! The bytes of short texts, looked at eight at a time.

/// The properties of a text that decide whether it needs quotes, or a closer look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bytes {
    /// True if all bytes are printable ASCII, and none is `#`.
    pub(super) are_usual: bool,
    /// True if one of the bytes is a colon.
    pub(super) have_colon: bool,
}

impl Bytes {
    /// Looks at the bytes of a text. O(length).
    #[inline]
    pub(super) fn of(text: &str) -> Bytes {
        let (mut unusual, mut colons) = (0, 0);
        let mut look = |word: u64| {
            let is_control = word.wrapping_sub(each(b' ')) & !word;
            // The sum has the highest bit for 0x7f.
            let is_high = word.wrapping_add(each(1)) | word;
            unusual |= is_control | is_high | zeros(word ^ each(b'#'));
            colons |= zeros(word ^ each(b':'));
        };
        let bytes = text.as_bytes();
        let n = bytes.len();
        if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            look(u64::from_le_bytes(*first));
            look(u64::from_le_bytes(*last));
            if n > 16 {
                let (chunks, _) = bytes.as_chunks();
                chunks[1..].iter().for_each(|&chunk| look(u64::from_le_bytes(chunk)));
            }
        } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            look(u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last)));
        } else if n > 0 {
            let few = [bytes[0], bytes[n / 2], bytes[n - 1]];
            look(few.into_iter().fold(each(b'a'), |word, byte| word << 8 | u64::from(byte)));
        }
        Bytes { are_usual: unusual & each(0x80) == 0, have_colon: colons != 0 }
    }
}

/// A table that is true for these bytes alone.
pub(super) const fn only(bytes: &[u8]) -> [bool; 256] {
    table(bytes, true)
}

/// A table that is true for all bytes except these.
pub(super) const fn all_except(bytes: &[u8]) -> [bool; 256] {
    table(bytes, false)
}

const fn table(bytes: &[u8], value: bool) -> [bool; 256] {
    let mut table = [!value; 256];
    let mut i = 0;
    while i < bytes.len() {
        table[bytes[i] as usize] = value;
        i += 1;
    }
    table
}

/// The length of the common prefix of two slices. O(that length).
#[inline]
pub(super) fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let mut at = 0;
    while let (Some(x), Some(y)) = (a[at..].first_chunk(), b[at..].first_chunk()) {
        let differing = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if differing != 0 {
            return at + differing.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + a[at..].iter().zip(&b[at..]).take_while(|(x, y)| x == y).count()
}

/// A word of eight equal bytes.
pub(super) const fn each(byte: u8) -> u64 {
    byte as u64 * 0x0101_0101_0101_0101
}

/// Marks the bytes of a word that are zero. The lowest mark is correct; marks above it may be
/// wrong.
#[inline]
pub(super) const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(each(1)) & !word & each(0x80)
}

#[cfg(test)]
mod tests {
    use super::{Bytes, common_prefix};

    /// As [`Bytes::of`], byte by byte.
    fn one_by_one(text: &str) -> Bytes {
        Bytes {
            are_usual: text.bytes().all(|b| (b' '..=b'~').contains(&b) && b != b'#'),
            have_colon: text.contains(':'),
        }
    }

    #[test]
    fn words_show_what_single_bytes_show() {
        for length in 0..40 {
            assert_eq!(Bytes::of(&"a".repeat(length)), one_by_one(&"a".repeat(length)));
            for at in 0..length {
                for byte in 0..128_u8 {
                    let mut text = "a".repeat(length).into_bytes();
                    text[at] = byte;
                    let text = String::from_utf8(text).unwrap();
                    assert_eq!(Bytes::of(&text), one_by_one(&text), "{text:?}");
                }
                let text = format!("{}é{}", "a".repeat(at), "a".repeat(length - at));
                assert_eq!(Bytes::of(&text), one_by_one(&text), "{text:?}");
            }
        }
    }

    #[test]
    fn a_prefix_ends_at_the_first_difference() {
        let text = b"abcdefghijklmnopqrstuvwxyz";
        for length in 0..text.len() {
            assert_eq!(common_prefix(text, &text[..length]), length);
            let mut other = *text;
            other[length] = b'-';
            assert_eq!(common_prefix(text, &other), length);
            assert_eq!(common_prefix(&other[..=length], text), length);
        }
    }
}
