//! [`Known`]: the kinds of a version of Kubernetes, from a table that is part of the program and is
//! read when a check asks for it.
//!
//! The table is a text, which `src/engine/schema/generate/structural` makes. Its lines:
//!
//! * `V 1.29 1.30 ...`: the versions. Elsewhere a set of versions is a hexadecimal number with a
//!   bit for each, the first version lowest.
//! * `T`: a type begins; types are numbered from 0. Its fields follow, each in a line that begins
//!   with a blank: name, shape, `!` if it is required, and the versions that have it, unless all of
//!   them do. Shapes: `s` string, `b` boolean, `i` and `l` integers of 32 and 64 bits, `n` number,
//!   `q` quantity, `o` int-or-string, `*` anything, a number for a type, `a` and `m` before the
//!   shape of items for lists and mappings: a list, a mapping, or a mapping of lists.
//! * `M 1013`: the type of `metadata`.
//! * `K apps v1 Deployment 99 1ff`: a kind, its type, its versions; `-` for the group without name.
//! * `L batch v1beta1 CronJob 21 25 batch/v1/CronJob`: the minor versions since which a kind is
//!   deprecated and removed, and its replacement; `-` for nothing.

use super::rules::{Field, Rule, RuleId, Shape, Struct, Table, Unread};
use crate::schema::Gvk;
use rustomize_base::meter::{FastMap, FastSet};
use std::fmt;
use std::sync::OnceLock;

static TEXT: &str = include_str!("kubernetes.txt");

/// The versions of Kubernetes whose kinds are known, oldest first, as in `1.31`.
pub fn versions() -> Vec<&'static str> {
    TEXT.lines().next().unwrap_or_default().split(' ').skip(1).collect()
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
        known.filled(TEXT)
    }

    /// Reads the table: the kinds, and where each type is. O(types, and lines about kinds).
    fn filled(mut self, text: &'static str) -> Known {
        let (types, others) = text.split_once("\nM ").unwrap_or((text, ""));
        let mut starts = Vec::new();
        let mut from = 0;
        let finder = memchr::memmem::Finder::new(TYPE);
        while let Some(at) = finder.find(&types.as_bytes()[from..]) {
            starts.push(from + at + TYPE.len());
            // The line end may begin the next type.
            from += at + TYPE.len() - 1;
        }
        let count = starts.len() as RuleId;
        let shapes = count + LETTERS.len() as RuleId;
        self.table.rules.reserve(4 * shapes as usize);
        let ends = starts.iter().skip(1).map(|start| start - TYPE.len()).chain([types.len()]);
        for (start, end) in starts.iter().zip(ends) {
            // A type without fields ends before it begins: a line end is in front of both.
            let lines = types.get(*start..end).unwrap_or_default();
            let unread = Unread { lines, versions: self.bit, types: count, read: fields };
            self.table.rules.push(Rule::of(Shape::Struct(Struct::of_kubernetes(unread))));
        }
        let letters = LETTERS.iter().map(|(_, shape)| Rule::of(shape()));
        self.table.rules.extend(letters);
        self.table.rules.extend((0..shapes).map(|of| Rule::of(Shape::List(of))));
        self.table.rules.extend((0..2 * shapes).map(|of| Rule::of(Shape::Map(of))));
        self.kinds.reserve(KINDS);
        let (metadata, others) = others.split_once('\n').unwrap_or((others, ""));
        self.metadata = metadata.parse().unwrap_or_default();
        for line in others.lines() {
            match line.split_once(' ') {
                Some(("K", kind)) => self.add_kind(kind),
                Some(("L", life)) => self.add_life(life),
                _ => {}
            }
        }
        self
    }

    fn add_kind(&mut self, line: &'static str) {
        let mut words = line.split(' ');
        if let [Some(group), Some(version), Some(kind), Some(rule), Some(versions)] = [(); 5].map(|()| words.next()) {
            let gvk = Gvk { group: name(group), version, kind };
            let (rule, versions) = (rule.parse().unwrap_or_default(), set(versions));
            self.groups.insert(gvk.group);
            // A kind has another type in another version where the type was renamed.
            let entry = self.kinds.entry(gvk).or_insert(Kind { rule, versions: 0 });
            entry.versions |= versions;
            if versions & self.bit != 0 {
                entry.rule = rule;
            }
        }
    }

    fn add_life(&mut self, line: &'static str) {
        if let [group, version, kind, deprecated, removed, replacement] = line.split(' ').collect::<Vec<_>>()[..] {
            let mut parts = replacement.split('/');
            let replacement = match (parts.next(), parts.next(), parts.next()) {
                (Some(group), Some(version), Some(kind)) => Some(Gvk { group, version, kind }),
                _ => None,
            };
            let life = Life { deprecated: deprecated.parse().ok(), removed: removed.parse().ok(), replacement };
            let gvk = Gvk { group: name(group), version, kind };
            self.groups.insert(gvk.group);
            self.lives.insert(gvk, life);
        }
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

/// The table has nearly this many kinds.
const KINDS: usize = 270;

/// The beginning of a type in the table.
const TYPE: &str = "\nT\n";

/// The shapes of values that are neither lists nor mappings. Their rules follow those of types.
/// Lists of all these come next, by the number of their items' rule, and then the mappings of all
/// these and of the lists.
const LETTERS: [(u8, fn() -> Shape<'static>); 8] = [
    (b's', || Shape::Text),
    (b'b', || Shape::Bool),
    (b'i', || Shape::Int32),
    (b'l', || Shape::Int64),
    (b'n', || Shape::Number),
    (b'q', || Shape::Quantity),
    (b'o', || Shape::IntOrString),
    (b'*', || Shape::Any),
];

/// The fields of a type that a version has.
fn fields(of: Unread) -> Vec<Field<'static>> {
    let field = |line: &'static str| {
        let mut words = line.strip_prefix(' ')?.split(' ');
        let (name, shape) = (words.next()?, words.next()?);
        let versions = words.next().map_or(u32::MAX, set);
        let rule = rule(shape.trim_end_matches('!'), of.types)?;
        (versions & of.versions != 0).then_some(Field { name, rule, is_required: shape.ends_with('!') })
    };
    of.lines.lines().filter_map(field).collect()
}

/// The number of the rule of a shape, in a table with this many types.
fn rule(shape: &str, types: RuleId) -> Option<RuleId> {
    let shapes = types + LETTERS.len() as RuleId;
    match shape.as_bytes() {
        [b'a', ..] => rule(&shape[1..], types).filter(|of| *of < shapes).map(|of| shapes + of),
        [b'm', ..] => rule(&shape[1..], types).filter(|of| *of < 2 * shapes).map(|of| 2 * shapes + of),
        [letter] if let Some(at) = LETTERS.iter().position(|(known, _)| known == letter) => Some(types + at as RuleId),
        _ => shape.parse().ok().filter(|number| *number < types),
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
    fn each_field_has_a_rule() {
        for versions in [1, 1 << 5] {
            let known = Known::read("1.29", versions);
            let (mut lines, mut read) = (0, 0);
            for of in &known.table.rules {
                if let Shape::Struct(of) = &of.shape {
                    read += of.fields().len();
                    assert!(of.fields().iter().all(|field| (field.rule as usize) < known.table.rules.len()));
                }
            }
            for line in TEXT.lines().filter_map(|line| line.strip_prefix(' ')) {
                let words: Vec<&str> = line.split(' ').collect();
                lines += usize::from(words.get(2).is_none_or(|of| set(of) & versions != 0));
            }
            assert_eq!(read, lines);
        }
        let words = |shape: &str| {
            let known = Known::of_all();
            let types = TEXT.lines().filter(|line| *line == "T").count() as RuleId;
            show(known, rule(shape, types).unwrap())
        };
        fn show(known: &Known, rule: RuleId) -> String {
            match &known.table.rules[rule as usize].shape {
                Shape::List(of) => format!("list of {}", show(known, *of)),
                Shape::Map(of) => format!("map of {}", show(known, *of)),
                shape => shape.words().to_owned(),
            }
        }
        assert_eq!(words("s"), "a string");
        assert_eq!(words("a*"), "list of any value");
        assert_eq!(words("mas"), "map of list of a string");
        assert_eq!(words("m7"), "map of a mapping");
        assert_eq!(words("0"), "a mapping");
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
