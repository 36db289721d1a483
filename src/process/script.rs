//! Scripts: the interpreter that the first line of a script names. Unix starts it by itself; on
//! Windows [`Launch::opened`](super::Launch::opened) does so.

/// The interpreter of a script and the arguments before the script; `None` for any other file.
/// `start` is the beginning of the file. A path stays a path; of a path to `env` only the name
/// behind it counts.
pub(super) fn interpreter(start: &[u8]) -> Option<Vec<String>> {
    let line = start.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?.trim();
    let (program, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let rest = rest.trim();
    let is_env = program.rsplit(['/', '\\']).next() == Some("env");
    let words: Vec<String> = match (is_env, rest.strip_prefix("-S")) {
        (true, Some(words)) => words.split_whitespace().map(str::to_owned).collect(),
        (true, None) => vec![rest.to_owned()],
        // Unix passes the rest of the line as one argument.
        (false, _) => [program, rest].into_iter().filter(|word| !word.is_empty()).map(str::to_owned).collect(),
    };
    Some(words).filter(|words| words.first().is_some_and(|name| !name.is_empty()))
}

/// The name of an interpreter that is looked for in PATH, if no file has the path.
pub(super) fn name_of(interpreter: &str) -> &str {
    interpreter.rsplit(['/', '\\']).next().unwrap_or(interpreter)
}

#[cfg(test)]
mod tests {
    use super::{interpreter, name_of};

    #[test]
    fn the_first_line_names_the_interpreter() {
        for (text, want) in [
            ("#!/bin/sh\necho", &["/bin/sh"][..]),
            ("#! /bin/sh -eu x\r\n", &["/bin/sh", "-eu x"]),
            ("#!/usr/bin/env python3\n", &["python3"]),
            ("#!/usr/bin/env -S deno run  -A\n", &["deno", "run", "-A"]),
            (r"#!C:\tools\lua.exe", &[r"C:\tools\lua.exe"]),
        ] {
            assert_eq!(
                interpreter(text.as_bytes()).as_deref(),
                Some(&want.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>()[..]),
                "{text}"
            );
        }
        for text in ["", "MZ", "#!", "#!/usr/bin/env", "echo", "#!\u{0}\u{ff}"] {
            let bytes = if text.ends_with('\u{ff}') { b"#!\xff\n".to_vec() } else { text.as_bytes().to_vec() };
            assert_eq!(interpreter(&bytes), None, "{text}");
        }
        assert_eq!((name_of("/bin/sh"), name_of(r"C:\a\b.exe"), name_of("sh")), ("sh", "b.exe", "sh"));
    }
}
