//! [`Statement`]: what a signature of a plugin says, in its trusted comment.

use super::source::Source;
use super::version::Version;
use std::fmt;

/// Which plugin a signed file is. minisign signs this text together with the file, so a signature
/// of one plugin is not one of another plugin of the same author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub source: Source,
    pub version: Version,
    /// `<os>_<arch>`, or `any_any`.
    pub platform: String,
    /// The SHA-256 of the signed file, in hex.
    pub sum: String,
}

/// The first word of a statement.
const HEAD: &str = "rustomize-plugin";

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Statement { source, version, platform, sum } = self;
        write!(f, "{HEAD} source={source} version={version} platform={platform} sha256={sum}")
    }
}

impl Statement {
    /// Reads a trusted comment; `None` for one that is not a statement.
    pub fn parse(comment: &str) -> Option<Statement> {
        let mut words = comment.split(' ');
        let mut value = |name: &str| words.next()?.strip_prefix(name);
        value(HEAD).filter(|rest| rest.is_empty())?;
        let statement = Statement {
            source: value("source=")?.parse().ok()?,
            version: value("version=")?.parse().ok()?,
            platform: value("platform=")?.to_owned(),
            sum: value("sha256=")?.to_owned(),
        };
        (statement.to_string() == comment).then_some(statement)
    }
}

#[cfg(test)]
mod tests {
    use super::Statement;

    #[test]
    fn a_statement_is_read_as_it_was_written_and_in_no_other_form() {
        let text = "rustomize-plugin source=h.io/acme/app version=1.2.3 platform=any_any sha256=00";
        let statement = Statement::parse(text).unwrap();
        assert_eq!((statement.source.name(), statement.to_string().as_str()), ("app", text));
        for other in [
            "timestamp:1700000000\tfile:app\thashed",
            "file:app",
            &format!("{text} x"),
            &text.replace("rustomize-plugin ", "rustomize-plugins "),
            &text.replace("1.2.3", "v1.2.3"),
            &text.replace("h.io", "H.io"),
            &text.replace(' ', "  "),
        ] {
            assert_eq!(Statement::parse(other), None, "{other}");
        }
    }
}
