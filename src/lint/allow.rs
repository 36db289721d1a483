//! Comments that allow a finding: `# lint: allow CODE REASON`, on its line or on the line above.

use crate::diag::Warning;
use crate::yaml::Heap;

/// The findings that no comment allows. O(findings + length of their lines).
pub fn not_allowed(heap: &Heap, findings: Vec<Warning>) -> Vec<Warning> {
    let is_allowed = |finding: &Warning| {
        let source = finding.pos().and_then(|pos| heap.outermost(pos));
        source.is_some_and(|(source, offset)| is_allowed(&source.text, offset, finding.code().as_str()))
    };
    findings.into_iter().filter(|finding| !is_allowed(finding)).collect()
}

fn is_allowed(text: &str, offset: usize, code: &str) -> bool {
    let offset = text.floor_char_boundary(offset);
    let start = text[..offset].rfind('\n').map_or(0, |i| i + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    let above = text[..start].lines().next_back().unwrap_or_default().trim_start();
    allows(line, code) || (above.starts_with('#') && allows(above, code))
}

/// Whether a line has a comment that allows a code. A reason is required.
fn allows(line: &str, code: &str) -> bool {
    let Some((_, rest)) = line.split_once("# lint: allow ") else { return false };
    let mut words = rest.split_whitespace();
    words.next() == Some(code) && words.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, allowed: bool) {
        assert_eq!(is_allowed(text, text.find("here").unwrap(), "no-effect"), allowed, "{text}");
    }

    #[test]
    fn comments() {
        check("a: here # lint: allow no-effect used by one site\n", true);
        check("# lint: allow no-effect used by one site\na: here\n", true);
        check("a: here # lint: allow no-effect\n", false);
        check("a: here # lint: allow bad-name why not\n", false);
        check("b: 1 # lint: allow no-effect this is of b\na: here\n", false);
    }
}
