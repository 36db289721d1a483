//! [`FileLine`]: a line of a file, as a word names it.

/// A line of a file, as a word names it: `FILE:LINE` or `FILE:LINE:COLUMN`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileLine<'t> {
    pub file: &'t str,
    pub line: usize,
}

impl<'t> FileLine<'t> {
    /// The file and line of a word; `None` for a word of another form.
    pub(crate) fn parse(word: &'t str) -> Option<Self> {
        let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        let (front, last) = word.rsplit_once(':')?;
        let last: usize = number(last)?;
        let (file, line) = match front.rsplit_once(':').and_then(|(file, line)| Some((file, number(line)?))) {
            Some((file, line)) => (file, line),
            None => (front, last),
        };
        (!file.is_empty()).then_some(FileLine { file, line })
    }
}

#[cfg(test)]
mod tests {
    use super::FileLine;

    #[test]
    fn words_that_name_lines() {
        let check = |word: &str, want: Option<(&str, usize)>| {
            assert_eq!(FileLine::parse(word).map(|place| (place.file, place.line)), want, "{word}");
        };
        check("base/web.yaml:7", Some(("base/web.yaml", 7)));
        check("base/web.yaml:7:13", Some(("base/web.yaml", 7)));
        check("https://host/a?ref=v1/web.yaml:7:1", Some(("https://host/a?ref=v1/web.yaml", 7)));
        check("base", None);
        check("base:", None);
        check(":7", None);
        check("a:b", None);
        check("a:-1", None);
        check("a:99999999999999999999999", None);
    }
}
