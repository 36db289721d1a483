//! Several files in one text: a line `-- name --` begins a file.

/// The names and contents of the files, in order. Text before the first file is skipped.
pub fn files(text: &str) -> Vec<(&str, &str)> {
    let mut files: Vec<(&str, &str)> = Vec::new();
    let (mut begin, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        let name = line.trim_end().strip_prefix("-- ").and_then(|line| line.strip_suffix(" --"));
        if let Some(name) = name {
            end(&mut files, &text[begin..at]);
            begin = at + line.len();
            files.push((name, ""));
        }
        at += line.len();
    }
    end(&mut files, &text[begin..]);
    files
}

fn end<'t>(files: &mut [(&'t str, &'t str)], content: &'t str) {
    if let Some((_, last)) = files.last_mut() {
        *last = content;
    }
}
