//! Versions of plugins and of the interface, and constraints on them.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A version: `major.minor.patch`, or with `-dev` at its end, which comes before the version
/// without.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(semver::Version);

/// The fault of an invalid version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionError {
    /// It is not `major.minor.patch` with numbers without leading zeros.
    NotCanonical(String),
    /// It has build metadata.
    Metadata(String),
    /// It has another pre-release than `dev`.
    PreRelease(String),
}

impl fmt::Display for VersionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VersionError::NotCanonical(text) => {
                write!(f, "invalid version '{text}': expected MAJOR.MINOR.PATCH, as in 1.2.3")
            }
            VersionError::Metadata(text) => {
                write!(f, "'{text}' has build metadata, which names of plugins do not have")
            }
            VersionError::PreRelease(text) => write!(f, "'{text}' is a pre-release other than -dev"),
        }
    }
}

impl std::error::Error for VersionError {}

impl FromStr for Version {
    type Err = VersionError;

    /// Reads a version, with or without a `v`.
    fn from_str(text: &str) -> Result<Self, VersionError> {
        let bare = text.strip_prefix('v').unwrap_or(text);
        let version = semver::Version::parse(bare).map_err(|_| VersionError::NotCanonical(text.to_owned()))?;
        if !version.build.is_empty() {
            return Err(VersionError::Metadata(text.to_owned()));
        }
        match version.pre.as_str() {
            "" | "dev" => Ok(Version(version)),
            _ => Err(VersionError::PreRelease(text.to_owned())),
        }
    }
}

impl fmt::Display for Version {
    /// Without a `v`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Version {
    /// Returns whether this is a release and no `-dev`.
    pub fn is_final(&self) -> bool {
        self.0.pre.is_empty()
    }

    fn radical(&self) -> [u64; 3] {
        [self.0.major, self.0.minor, self.0.patch]
    }
}

/// The version of the interface that a plugin is for, as in `x1.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApiVersion {
    pub major: u32,
    pub minor: u32,
}

/// The version of this program's interface.
pub const HOST_API: ApiVersion = ApiVersion { major: 1, minor: 0 };

impl FromStr for ApiVersion {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let parse = || {
            let (major, minor) = text.strip_prefix('x')?.split_once('.')?;
            Some(ApiVersion { major: number(major)?, minor: number(minor)? })
        };
        parse().ok_or_else(|| VersionError::NotCanonical(text.to_owned()))
    }
}

/// Reads a number without leading zeros.
fn number(text: &str) -> Option<u32> {
    let is_canonical = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    is_canonical.then(|| text.parse().ok())?
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "x{}.{}", self.major, self.minor)
    }
}

impl ApiVersion {
    /// Returns true if a host of this version runs plugins of the other version: the major version
    /// is the same, and the minor version is not newer.
    pub fn runs(self, plugin: ApiVersion) -> bool {
        self.major == plugin.major && plugin.minor <= self.minor
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    /// At least this, and the last number given may grow.
    Pessimistic,
}

/// The condition for a version, as in `>= 1.2, < 2` or `~> 1.4`: all parts must be true.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constraint {
    text: String,
    parts: Vec<(Comparison, Vec<u64>)>,
}

/// The fault of an invalid constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstraintError(String);

impl fmt::Display for ConstraintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid version constraint '{}': expected one as in '>= 1.2, < 2' or '~> 1.4'", self.0)
    }
}

impl std::error::Error for ConstraintError {}

impl ConstraintError {
    /// The constraint that means the same as one of another package manager; else the forms.
    pub fn hint(&self) -> String {
        let text = self.0.trim();
        if matches!(text, "" | "latest" | "*" | "x") {
            return "leave 'version' out: then every version is allowed".to_owned();
        }
        let rest = text.trim_start_matches(['^', '~', 'v']);
        let numbers: Vec<&str> = rest.split('.').take_while(|n| number(n).is_some()).collect();
        match numbers[..] {
            [major] => format!("write '~> {major}.0'"),
            [major, minor, ..] if text.starts_with('^') && major != "0" => format!("write '~> {major}.{minor}'"),
            [major, minor] => format!("write '~> {major}.{minor}.0'"),
            [major, minor, patch] => format!("write '~> {major}.{minor}.{patch}'"),
            _ => "write an exact version, as in '1.2.3', or '~> 1.2' for 1.2 and all above it, below 2".to_owned(),
        }
    }
}

impl FromStr for Constraint {
    type Err = ConstraintError;

    fn from_str(text: &str) -> Result<Self, ConstraintError> {
        use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual, Pessimistic};
        let signs = [
            (">=", GreaterOrEqual),
            ("<=", LessOrEqual),
            ("!=", NotEqual),
            ("~>", Pessimistic),
            (">", Greater),
            ("<", Less),
            ("=", Equal),
        ];
        let part = |part: &str| {
            let part = part.trim();
            let (sign, rest) =
                signs.iter().find_map(|(sign, c)| Some((*c, part.strip_prefix(sign)?))).unwrap_or((Equal, part));
            let rest = rest.trim();
            let numbers = rest.strip_prefix('v').unwrap_or(rest).split('.');
            let numbers: Vec<u64> = numbers.map(|n| number(n).map(u64::from)).collect::<Option<_>>()?;
            (1..=3).contains(&numbers.len()).then_some((sign, numbers))
        };
        let parts = text.split(',').map(part).collect::<Option<_>>().ok_or_else(|| ConstraintError(text.to_owned()))?;
        Ok(Constraint { text: text.to_owned(), parts })
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.text.is_empty() { "any version" } else { &self.text })
    }
}

impl Constraint {
    /// Returns true if a version meets the condition. The version without its pre-release counts:
    /// `1.0.1-dev` satisfies `>= 1.0.1`.
    pub fn allows(&self, version: &Version) -> bool {
        let radical = version.radical();
        self.parts.iter().all(|(comparison, wanted)| {
            let mut full = [0; 3];
            full[..wanted.len()].copy_from_slice(wanted);
            let order = radical.cmp(&full);
            match comparison {
                Comparison::Equal => order == Ordering::Equal,
                Comparison::NotEqual => order != Ordering::Equal,
                Comparison::Greater => order == Ordering::Greater,
                Comparison::GreaterOrEqual => order != Ordering::Less,
                Comparison::Less => order == Ordering::Less,
                Comparison::LessOrEqual => order != Ordering::Greater,
                Comparison::Pessimistic => {
                    // The numbers before the last given number must be the same; a single number
                    // may grow.
                    let fixed = wanted.len().saturating_sub(1);
                    order != Ordering::Less && radical[..fixed] == full[..fixed]
                }
            }
        })
    }

    /// Returns whether every version will do.
    pub fn is_any(&self) -> bool {
        self.parts.is_empty()
    }

    /// The one version that is allowed, if it is one.
    pub fn exact(&self) -> Option<Version> {
        match self.parts.as_slice() {
            [(Comparison::Equal, wanted)] if wanted.len() == 3 => {
                Some(Version(semver::Version::new(wanted[0], wanted[1], wanted[2])))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ApiVersion, Constraint, Version, VersionError};

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn versions_have_three_numbers_and_no_metadata() {
        assert_eq!(version("v1.2.3").to_string(), "1.2.3");
        assert!("v1.2.3-dev".parse::<Version>().is_ok());
        for text in ["v1.2", "1", "v1.2.3.4", "x1.2.3", "v1.2.x", ""] {
            assert_eq!(text.parse::<Version>(), Err(VersionError::NotCanonical(text.to_owned())));
        }
        assert_eq!("v1.2.3+meta".parse::<Version>(), Err(VersionError::Metadata("v1.2.3+meta".to_owned())));
    }

    #[test]
    fn api_versions_have_two_numbers() {
        assert_eq!("x5.1".parse(), Ok(ApiVersion { major: 5, minor: 1 }));
        for text in ["5.1", "x5", "x5.1.0", "x05.1", "x5.+1", "v5.1", "x5."] {
            assert!(text.parse::<ApiVersion>().is_err(), "{text}");
        }
    }

    #[test]
    fn leading_zeros_are_rejected() {
        assert!("v1.00.01".parse::<Version>().is_err());
    }

    #[test]
    fn pre_releases_other_than_dev_are_rejected() {
        assert_eq!("v1.0.0-rc1".parse::<Version>(), Err(VersionError::PreRelease("v1.0.0-rc1".to_owned())));
        assert!("v1.0.0-dev.1".parse::<Version>().is_err());
    }

    #[test]
    fn a_final_release_comes_behind_its_pre_release() {
        let mut versions = ["1.0.1", "1.0.0", "1.0.1-dev", "0.9.9"].map(version);
        versions.sort();
        assert_eq!(versions.map(|v| v.to_string()), ["0.9.9", "1.0.0", "1.0.1-dev", "1.0.1"]);
    }

    #[test]
    fn constraints_are_checked_against_the_radical() {
        let allows = |constraint: &str, v: &str| constraint.parse::<Constraint>().unwrap().allows(&version(v));
        assert!(allows(">= 1.0.1", "1.0.1-dev"));
        assert!(allows(">= 1.0, < 2", "1.9.9") && !allows(">= 1.0, < 2", "2.0.0"));
        assert!(allows("~> 1.4", "1.9.0") && !allows("~> 1.4", "2.0.0") && !allows("~> 1.4", "1.3.9"));
        assert!(allows("~> 1.4.2", "1.4.9") && !allows("~> 1.4.2", "1.5.0"));
        assert!(allows("~> 1", "7.0.0") && !allows("~> 2", "1.0.0"));
        assert!(allows("1.2.3", "1.2.3") && allows("= v1.2.3", "1.2.3") && !allows("!= 1.2.3", "1.2.3"));
        assert!(allows("> 1.2", "1.2.1") && allows("<= 1.2", "1.2.0"));
        assert!(Constraint::default().allows(&version("0.0.1-dev")));
        for text in ["", ">=", "a", "1.2.3.4", ">= 1.2,", "1.2.3-dev", "^1", "=> 1"] {
            assert!(text.parse::<Constraint>().is_err(), "{text}");
        }
        assert_eq!("= 1.2.3".parse::<Constraint>().unwrap().exact(), Some(version("1.2.3")));
        assert_eq!("= 1.2".parse::<Constraint>().unwrap().exact(), None);
    }

    #[test]
    fn the_hint_says_what_a_constraint_of_another_tool_means() {
        let hint = |text: &str| text.parse::<Constraint>().unwrap_err().hint();
        for (text, wanted) in [
            ("^1.2.3", "~> 1.2"),
            ("^0.3.1", "~> 0.3.1"),
            ("~1.2.3", "~> 1.2.3"),
            ("1.x", "~> 1.0"),
            ("1.2.*", "~> 1.2.0"),
        ] {
            assert_eq!(hint(text), format!("write '{wanted}'"), "{text}");
            assert!(wanted.parse::<Constraint>().is_ok(), "{wanted}");
        }
        assert!(hint("latest").contains("leave 'version' out"));
        assert!(hint("=> 1").contains("an exact version"));
    }

    #[test]
    fn the_same_major_version_and_no_newer_minor_one() {
        let api = |major, minor| ApiVersion { major, minor };
        assert!(api(1, 1).runs(api(1, 0)) && api(1, 1).runs(api(1, 1)));
        assert!(!api(1, 1).runs(api(1, 2)) && !api(2, 0).runs(api(1, 0)));
    }
}
