//! [`Known`]: the kinds of a version of Kubernetes, from a compressed table that is part of the
//! program and unpacked when a check asks for it.
//!
//! The table is made by `src/engine/schema/generate/structural` and is a text, compressed with
//! deflate. Its lines:
//!
//! * `V 1.29 1.30 ...`: the versions. Elsewhere a set of versions is a hexadecimal number with a
//!   bit for each, the first version lowest.
//! * `T`: a type begins; types are numbered from 0. Its fields follow, each in a line that begins
//!   with a blank: name, shape, `!` if it is required, and the versions that have it, unless all of
//!   them do. Shapes: `s` string, `b` boolean, `i` and `l` integers of 32 and 64 bits, `n` number,
//!   `q` quantity, `o` int-or-string, `*` anything, a number for a type, `a` and `m` before the
//!   shape of items for lists and mappings.
//! * `M 1013`: the type of `metadata`.
//! * `K apps v1 Deployment 99 1ff`: a kind, its type, its versions; `-` for the group without name.
//! * `L batch v1beta1 CronJob 21 25 batch/v1/CronJob`: the minor versions since which a kind is
//!   deprecated and removed, and its replacement; `-` for nothing.

use super::rules::{Field, Rule, RuleId, Shape, Struct, Table};
use crate::schema::Gvk;
use flate2::read::DeflateDecoder;
use rustomize_base::meter::{FastMap, FastSet};
use std::fmt;
use std::io::Read;
use std::sync::OnceLock;

static PACKED: &[u8] = include_bytes!("kubernetes.deflate");

/// The unpacked table. The program contains it, so that it is always valid.
fn text() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let mut text = String::new();
        // A test unpacks it: a fault would be one of the program, and leaves all kinds unknown.
        let _ = DeflateDecoder::new(PACKED).read_to_string(&mut text);
        text
    })
}

/// The versions of Kubernetes whose kinds are known, oldest first, as in `1.31`.
pub fn versions() -> Vec<&'static str> {
    text().lines().next().unwrap_or_default().split(' ').skip(1).collect()
}

/// A version of Kubernetes whose kinds are not known.
#[derive(Debug)]
pub struct UnknownVersion(String);

impl fmt::Display for UnknownVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = versions().join(", ");
        write!(f, "the kinds of Kubernetes '{}' are not known\n  hint: known versions: {known}", self.0)
    }
}

impl std::error::Error for UnknownVersion {}

/// The kinds of one version of Kubernetes.
#[derive(Debug)]
pub struct Known {
    version: &'static str,
    minor: u32,
    /// This version in sets of versions, or several.
    bit: u32,
    table: Table<'static>,
    metadata: RuleId,
    /// Every kind of every version.
    kinds: FastMap<Gvk<'static>, Kind>,
    lives: FastMap<Gvk<'static>, Life>,
    /// The groups of all versions.
    groups: FastSet<&'static str>,
}

/// A kind in the versions that have it.
#[derive(Clone, Copy, Debug)]
struct Kind {
    rule: RuleId,
    versions: u32,
}

/// The end of a kind: minor versions of Kubernetes, and the kind to use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life {
    pub deprecated: Option<u32>,
    pub removed: Option<u32>,
    pub replacement: Option<Gvk<'static>>,
}

impl Known {
    /// The kinds of a version, as in `1.31`, `v1.31` or `1.31.4`; without one, of the newest that
    /// is known. O(size of the table).
    ///
    /// # Errors
    /// The version is not among [`versions`].
    pub fn new(version: Option<&str>) -> Result<Known, UnknownVersion> {
        let all = versions();
        let at = match version {
            None => all.len().saturating_sub(1),
            Some(wanted) => {
                let minor = wanted.trim_start_matches('v').split('.').take(2).collect::<Vec<_>>().join(".");
                let found = all.iter().position(|version| *version == minor);
                found.ok_or_else(|| UnknownVersion(wanted.to_owned()))?
            }
        };
        Ok(Known::read(all.get(at).copied().unwrap_or_default(), 1 << at))
    }

    /// The kinds of all versions, each with the fields that it has in any of them. The table is
    /// read once in a process.
    pub fn of_all() -> &'static Known {
        static ALL: OnceLock<Known> = OnceLock::new();
        ALL.get_or_init(|| Known::read(versions().last().copied().unwrap_or_default(), u32::MAX))
    }

    fn read(version: &'static str, bit: u32) -> Known {
        let minor = version.rsplit('.').next().and_then(|minor| minor.parse().ok()).unwrap_or_default();
        let (table, kinds, lives) = (Table::default(), FastMap::default(), FastMap::default());
        let groups = FastSet::default();
        let known = Known { version, minor, bit, table, metadata: 0, kinds, lives, groups };
        Reader { known, shapes: FastMap::default() }.read(text())
    }

    /// The version, as in `1.31`.
    pub fn version(&self) -> &'static str {
        self.version
    }

    /// Its second number.
    pub fn minor(&self) -> u32 {
        self.minor
    }

    /// The rules.
    pub(super) fn table(&self) -> &Table<'static> {
        &self.table
    }

    /// The rule for `metadata`.
    pub(super) fn metadata(&self) -> RuleId {
        self.metadata
    }

    /// The rule for a kind, if this version has it.
    pub(super) fn rule(&self, gvk: &Gvk<'_>) -> Option<RuleId> {
        self.kinds.get(gvk).filter(|kind| kind.versions & self.bit != 0).map(|kind| kind.rule)
    }

    /// The versions that have a kind.
    pub(super) fn versions_of(&self, gvk: &Gvk<'_>) -> Vec<&'static str> {
        let set = self.kinds.get(gvk).map_or(0, |kind| kind.versions);
        versions().into_iter().enumerate().filter(|(at, _)| set & (1 << at) != 0).map(|(_, version)| version).collect()
    }

    /// The kinds that this version has, sorted.
    pub(super) fn kinds(&self) -> Vec<Gvk<'static>> {
        let mut kinds: Vec<_> =
            self.kinds.iter().filter(|(_, kind)| kind.versions & self.bit != 0).map(|(gvk, _)| *gvk).collect();
        kinds.sort();
        kinds
    }

    /// Returns true for a group that Kubernetes itself has in any version.
    pub(super) fn has_group(&self, group: &str) -> bool {
        self.groups.contains(group)
    }

    /// The end of a kind, if it is announced.
    pub(super) fn life(&self, gvk: &Gvk<'_>) -> Option<Life> {
        self.lives.get(gvk).copied()
    }
}

/// Reads the table.
struct Reader {
    known: Known,
    /// The rules of shapes that are not numbers of types.
    shapes: FastMap<&'static str, RuleId>,
}

impl Reader {
    fn read(mut self, text: &'static str) -> Known {
        // Types come first, so that a shape which is a number is the number of its rule.
        let types = text.lines().filter(|line| *line == "T").count();
        self.known.table.rules = (0..types).map(|_| Rule::of(Shape::Any)).collect();
        let mut fields: Vec<Field<'static>> = Vec::new();
        let mut begun = 0;
        for line in text.lines().chain([""]) {
            if let Some(field) = line.strip_prefix(' ') {
                fields.extend(self.field(field));
                continue;
            }
            if begun > 0
                && let Some(rule) = self.known.table.rules.get_mut(begun - 1)
                && matches!(rule.shape, Shape::Any)
            {
                rule.shape = Shape::Struct(Struct::of_kubernetes(std::mem::take(&mut fields)));
            }
            match line.split_once(' ') {
                None if line == "T" => begun += 1,
                Some(("M", number)) => self.known.metadata = number.parse().unwrap_or_default(),
                Some(("K", kind)) => self.kind(kind),
                Some(("L", life)) => self.life(life),
                _ => {}
            }
        }
        self.known
    }

    /// A field, if the version has it.
    fn field(&mut self, line: &'static str) -> Option<Field<'static>> {
        let mut words = line.split(' ');
        let (name, shape) = (words.next()?, words.next()?);
        let versions = words.next().map_or(u32::MAX, set);
        if versions & self.known.bit == 0 {
            return None;
        }
        let rule = self.shape(shape.trim_end_matches('!'));
        Some(Field { name, rule, is_required: shape.ends_with('!') })
    }

    /// The rule of a shape.
    fn shape(&mut self, text: &'static str) -> RuleId {
        if let Ok(number) = text.parse() {
            return number;
        }
        if let Some(known) = self.shapes.get(text) {
            return *known;
        }
        let shape = match text.as_bytes() {
            b"s" => Shape::Text,
            b"b" => Shape::Bool,
            b"i" => Shape::Int32,
            b"l" => Shape::Int64,
            b"n" => Shape::Number,
            b"q" => Shape::Quantity,
            b"o" => Shape::IntOrString,
            [b'a', ..] => Shape::List(self.shape(&text[1..])),
            [b'm', ..] => Shape::Map(self.shape(&text[1..])),
            _ => Shape::Any,
        };
        let rules = &mut self.known.table.rules;
        rules.push(Rule::of(shape));
        let number = (rules.len() - 1) as RuleId;
        self.shapes.insert(text, number);
        number
    }

    fn kind(&mut self, line: &'static str) {
        if let [group, version, kind, rule, versions] = line.split(' ').collect::<Vec<_>>()[..] {
            let gvk = Gvk { group: name(group), version, kind };
            let (rule, versions) = (rule.parse().unwrap_or_default(), set(versions));
            self.known.groups.insert(gvk.group);
            // A kind has another type in another version where the type was renamed.
            let entry = self.known.kinds.entry(gvk).or_insert(Kind { rule, versions: 0 });
            entry.versions |= versions;
            if versions & self.known.bit != 0 {
                entry.rule = rule;
            }
        }
    }

    fn life(&mut self, line: &'static str) {
        if let [group, version, kind, deprecated, removed, replacement] = line.split(' ').collect::<Vec<_>>()[..] {
            let mut parts = replacement.split('/');
            let replacement = match (parts.next(), parts.next(), parts.next()) {
                (Some(group), Some(version), Some(kind)) => Some(Gvk { group, version, kind }),
                _ => None,
            };
            let life = Life { deprecated: deprecated.parse().ok(), removed: removed.parse().ok(), replacement };
            let gvk = Gvk { group: name(group), version, kind };
            self.known.groups.insert(gvk.group);
            self.known.lives.insert(gvk, life);
        }
    }
}

fn name(group: &str) -> &str {
    if group == "-" { "" } else { group }
}

fn set(text: &str) -> u32 {
    u32::from_str_radix(text, 16).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_complete() {
        assert!(versions().len() >= 4, "{:?}", versions());
        for version in versions() {
            let known = Known::new(Some(version)).unwrap();
            assert_eq!(known.version(), version);
            let kinds = known.kinds();
            assert!(kinds.len() > 100, "{version}: {}", kinds.len());
            for kind in [("apps", "v1", "Deployment"), ("", "v1", "Pod"), ("batch", "v1", "CronJob")] {
                let (group, version, kind) = kind;
                let rule = known.rule(&Gvk { group, version, kind }).unwrap();
                assert!(
                    matches!(&known.table().rules[rule as usize].shape, Shape::Struct(s) if s.field("spec").is_some())
                );
            }
            let metadata = &known.table().rules[known.metadata() as usize];
            assert!(matches!(&metadata.shape, Shape::Struct(s) if s.field("labels").is_some()));
        }
    }

    #[test]
    fn versions_are_read_in_each_spelling() {
        for text in ["1.31", "v1.31", "1.31.4", "v1.31.0-rc.1"] {
            assert_eq!(Known::new(Some(text)).unwrap().minor(), 31);
        }
        assert_eq!(Some(Known::new(None).unwrap().version()), versions().last().copied());
        for text in ["1.2", "", "1", "x", "9.99"] {
            assert!(Known::new(Some(text)).is_err(), "{text}");
        }
    }
}
