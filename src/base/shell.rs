//! Words for a shell, as commands in hints and in hooks need them.

use crate::shown::is_unseen;

/// A word for a shell, to be shown. A word whose characters mean nothing to a shell stays as it is;
/// any other word gets quotes. Characters that cannot be seen are escapes, which bash, zsh and
/// POSIX of 2024 read in `$'...'`.
pub fn quoted(word: &str) -> String {
    if word.contains(is_unseen) {
        let mut text = "$'".to_owned();
        for c in word.chars() {
            match c {
                '\'' | '\\' => text.extend(['\\', c]),
                c if is_unseen(c) => text.extend(c.to_string().bytes().map(|byte| format!("\\{byte:03o}"))),
                c => text.push(c),
            }
        }
        return text + "'";
    }
    String::from_utf8_lossy(&quoted_bytes(word.as_bytes())).into_owned()
}

/// As [`quoted`], for a word that need not be UTF-8, in a script: nothing is an escape.
pub fn quoted_bytes(word: &[u8]) -> Vec<u8> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+:@%=,".contains(byte);
    if !word.is_empty() && word.iter().all(is_plain) {
        return word.to_vec();
    }
    let mut text = vec![b'\''];
    for &byte in word {
        match byte {
            b'\'' => text.extend_from_slice(b"'\\''"),
            byte => text.push(byte),
        }
    }
    text.push(b'\'');
    text
}

#[cfg(test)]
mod tests {
    use super::{quoted, quoted_bytes};
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::process::Command;

    #[test]
    fn a_word_is_quoted_if_it_needs_quotes() {
        for (word, want) in [
            ("a/b.c_d-1+:@%=,", "a/b.c_d-1+:@%=,"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("~", "'~'"),
            ("$HOME", "'$HOME'"),
            ("\u{fc}", "'\u{fc}'"),
        ] {
            assert_eq!(quoted(word), want);
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a real shell")]
    fn a_shell_reads_the_word_that_was_quoted() {
        let words: [&[u8]; 6] = [b"it's", b"a\nb", b"*?[a]{b,c}", b"`id`$(id)\\", b"#!&|;<>()\"", b"\xff "];
        for word in words {
            let line = [b"printf %s ", &quoted_bytes(word)[..]].concat();
            let output = Command::new("sh").arg("-c").arg(OsStr::from_bytes(&line)).output().unwrap();
            assert_eq!(output.stdout, word);
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a real shell")]
    fn a_word_with_characters_that_cannot_be_seen_is_shown_and_read() {
        let word = "a\u{1b}]0;x\u{7}\n\u{202e}'\\1\u{e0041}";
        let text = quoted(word);
        assert_eq!(text, r"$'a\033]0;x\007\012\342\200\256\'\\1\363\240\201\201'");
        let Ok(output) = Command::new("bash").arg("-c").arg(format!("printf %s {text}")).output() else { return };
        assert_eq!(output.stdout, word.as_bytes());
    }
}
