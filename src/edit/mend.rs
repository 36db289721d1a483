//! Changes of files that mend findings of `lint`.

use crate::diag::{Mend, Warning};
use rustomize_yaml::Place;

/// The text of a file after its findings are mended in it, and the findings that are mended. A mend
/// whose old text is not at its place is left out: the file has changed, or spells the text in
/// another way. O(size of the text + findings × log findings).
pub fn mended<'f>(text: &str, findings: impl Iterator<Item = &'f Warning>) -> (String, Vec<&'f Warning>) {
    let mut mends: Vec<(&Place, &str, &str, &Warning)> = findings
        .filter_map(|finding| match (finding.place()?, finding.mend()?) {
            (place, Mend::Text { old, new }) => Some((place, old.as_str(), new.as_str(), finding)),
            (_, Mend::NameReference(_)) => None,
        })
        .collect();
    mends.sort_by_key(|(place, ..)| (place.line, place.column));
    let (mut after, mut done, mut written, mut start, mut lines) =
        (String::new(), Vec::new(), 0, 0, text.split_inclusive('\n'));
    let mut line = lines.next().unwrap_or_default();
    let mut number = 1;
    for (place, old, new, finding) in mends {
        while number < place.line {
            start += line.len();
            line = lines.next().unwrap_or_default();
            number += 1;
        }
        let Some((column, _)) = line.char_indices().nth(place.column - 1) else { continue };
        let at = start + column;
        if at >= written && text[at..].starts_with(old) {
            after += &text[written..at];
            after += new;
            written = at + old.len();
            done.push(finding);
        }
    }
    (after + &text[written..], done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;

    fn finding(line: usize, column: usize, old: &str, new: &str) -> Warning {
        let place = Place { file: "a".into(), line, column };
        Warning::new(Code::EnvSyntax, "").at(Some(place)).mended(Mend::text(old, new))
    }

    #[track_caller]
    fn check(text: &str, findings: &[Warning], want: (&str, usize)) {
        let (after, done) = mended(text, findings.iter());
        assert_eq!((after.as_str(), done.len()), want);
    }

    #[test]
    fn mends_are_made_in_the_order_of_the_file() {
        let text = "ä: b\r\nc: d\r\nc: e";
        check(text, &[finding(3, 4, "e", "five"), finding(1, 4, "b", "two")], ("ä: two\r\nc: d\r\nc: five", 2));
        check(text, &[finding(2, 4, "d", ""), finding(2, 4, "d", "x")], ("ä: b\r\nc: \r\nc: e", 1));
    }

    #[test]
    fn what_is_not_there_is_left() {
        let text = "a: b\n";
        check(text, &[finding(1, 4, "c", "d"), finding(7, 1, "a", "d"), finding(1, 99, "a", "d")], (text, 0));
    }
}
