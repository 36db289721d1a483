//! Random YAML text, for tests of comments and styles: mappings and lists, comments, empty lines,
//! odd indentation. The unit tests of the library use this file, too.

/// The parts that a text may have.
#[derive(Clone, Copy)]
pub struct Parts {
    /// Values on one line or more.
    pub values: &'static [&'static str],
    /// The signs of blocks of text.
    pub blocks: &'static [&'static str],
    /// True if comments may be left of their block.
    pub has_left_comments: bool,
}

/// Appends a random mapping, or below the top also a list.
pub fn write(parts: Parts, rng: &mut fastrand::Rng, depth: usize, indent: usize, out: &mut String) {
    let is_list = depth > 0 && rng.u8(..3) == 0;
    for n in 0..1 + rng.usize(..3) {
        gap(parts, rng, indent, out);
        out.push_str(&format!("{:indent$}{}", "", if is_list { "-".to_owned() } else { format!("k{n}:") }));
        let comment = if rng.u8(..4) == 0 { " # behind" } else { "" };
        match rng.u8(..5) {
            0 if depth < 3 => {
                out.push_str(comment);
                out.push('\n');
                let deeper = indent + 1 + rng.usize(..3);
                write(parts, rng, depth + 1, deeper, out);
            }
            1 => {
                let sign = parts.blocks[rng.usize(..parts.blocks.len())];
                out.push_str(&format!(" {sign}{comment}\n{0:indent$}    some\n\n{0:indent$}    lines\n", ""));
            }
            _ => out.push_str(&format!(" {}{comment}\n", parts.values[rng.usize(..parts.values.len())])),
        }
    }
    gap(parts, rng, indent, out);
}

/// Appends empty lines and comments.
fn gap(parts: Parts, rng: &mut fastrand::Rng, indent: usize, out: &mut String) {
    for _ in 0..rng.usize(..3) {
        match rng.u8(..5) {
            0 => out.push('\n'),
            1 => out.push_str(&format!("{:indent$}# note {}\n", "", rng.u8(..9))),
            2 if parts.has_left_comments && indent > 2 => out.push_str(&format!("{:1$}# left\n", "", indent - 2)),
            _ => {}
        }
    }
}
