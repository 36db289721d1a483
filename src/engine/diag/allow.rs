//! Comments that allow a finding: `# lint: allow CODE REASON`, on its line or on the line above.

use super::{Code, Warning};
use rustomize_yaml::{Heap, Source};
use std::collections::BTreeMap;
use std::ops::Range;

/// The beginning of such a comment.
const MARK: &str = "# lint: allow";

/// The findings that no comment allows. O(size of the files with findings + findings + length of
/// the lines, in files with such comments).
pub fn not_allowed(heap: &Heap, mut findings: Vec<Warning>) -> Vec<Warning> {
    // Each text is searched once: a line may be as long as its file.
    let mut are_marked: BTreeMap<u32, bool> = BTreeMap::new();
    findings.retain(|finding| {
        let Some((source, offset)) = finding.pos().and_then(|pos| heap.outermost(pos)) else { return true };
        let is_marked = are_marked.entry(source.base).or_insert_with(|| source.text.contains(MARK));
        !*is_marked || !is_allowed(&source.text, offset, finding.code())
    });
    findings
}

fn is_allowed(text: &str, offset: usize, code: Code) -> bool {
    let offset = text.floor_char_boundary(offset);
    let start = text[..offset].rfind('\n').map_or(0, |i| i + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    let above = text[..start].lines().next_back().unwrap_or_default().trim_start();
    allows(line, code) || (above.starts_with('#') && allows(above, code))
}

/// True if a line has a comment that allows a code.
fn allows(line: &str, code: Code) -> bool {
    let comment = line.split_once(MARK).and_then(|(_, comment)| allowed(comment).ok());
    comment.is_some_and(|allowed| allowed == code)
}

/// The code that the rest of a comment allows, or the reason why it allows nothing.
fn allowed(rest: &str) -> Result<Code, &'static str> {
    let mut words = rest.split_whitespace();
    let code = words.next().ok_or("names no code")?;
    let code = Code::finding(code).map_err(|_| "names no code of findings")?;
    words.next().map(|_| code).ok_or("gives no reason")
}

/// The findings about comments that are meant to allow a finding and allow nothing, in a part of a
/// text. The part begins at the start of a line and ends at the end of one. O(size of the part).
pub fn comments(source: &Source, part: Range<usize>) -> Vec<Warning> {
    let finder = memchr::memmem::find_iter(source.text.as_bytes().get(part.clone()).unwrap_or_default(), MARK);
    finder.filter_map(|at| fault(source, part.start + at)).collect()
}

/// The finding about a comment at an offset.
fn fault(source: &Source, at: usize) -> Option<Warning> {
    let rest = source.text[at + MARK.len()..].lines().next().unwrap_or_default();
    let is_comment = source.text[..at].chars().next_back().is_none_or(char::is_whitespace);
    if !is_comment || rest.starts_with(|c: char| !c.is_whitespace()) {
        return None;
    }
    let fault = allowed(rest).err()?;
    let finding = Warning::new(Code::BadAllow, format!("the comment allows nothing: it {fault}"));
    Some(finding.at(source.pos(at)).hint("write: # lint: allow CODE REASON"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustomize_yaml::encoding::Text;

    #[track_caller]
    fn check(text: &str, allowed: bool) {
        assert_eq!(is_allowed(text, text.find("here").unwrap(), Code::NoEffect), allowed, "{text}");
    }

    #[test]
    fn findings() {
        check("a: here # lint: allow no-effect used by one site\n", true);
        check("# lint: allow no-effect used by one site\na: here\n", true);
        check("a: here # lint: allow no-effect\n", false);
        check("a: here # lint: allow bad-name why not\n", false);
        check("b: 1 # lint: allow no-effect this is of b\na: here\n", false);
    }

    #[track_caller]
    fn check_comment(text: &str, fault: Option<&str>) {
        let heap = Heap::new();
        let source = heap.arena().add_file("a.yaml", Text::from(text.to_owned()));
        let found = comments(source, 0..text.len()).into_iter().map(|f| f.message().to_owned()).next();
        assert_eq!(found, fault.map(|fault| format!("the comment allows nothing: it {fault}")), "{text}");
    }

    #[test]
    fn comments_that_allow_nothing() {
        check_comment("a: 1 # lint: allow no-effect for a site\n", None);
        check_comment("a: 1 # lint: allow no-effect\n", Some("gives no reason"));
        check_comment("a: 1 # lint: allow no-efect for a site\n", Some("names no code of findings"));
        check_comment("# lint: allow", Some("names no code"));
        check_comment("# lint: allowed\nb: '## lint: allow'\n", None);
    }
}
