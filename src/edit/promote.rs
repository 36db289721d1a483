//! Copies the versions that one kustomization pins to another: tags and digests of images, numbers
//! of replicas, versions of remote bases and of charts. Nothing else of the other file changes.

use super::draft::{self, Draft};
use super::{lists, replicas};
use crate::diag::Result;
use crate::load::RepoSpec;
use crate::load::artifact_reference::{ArtifactReference, is_artifact};
use crate::stage::{Context, Options};
use rustomize_sources::Disk;
use rustomize_yaml::{Arena, Heap, Node, Pos, Scalar, Sequence, Tag};
use std::collections::{BTreeMap, BTreeSet};

/// The fields with images, and those with remote bases.
const IMAGES: [&str; 2] = ["images", "imageTags"];
const BASES: [&str; 3] = ["resources", "bases", "components"];

/// The fields with charts, each with the keys of a chart's name, version, repository and release.
const CHARTS: [(&str, [&str; 4]); 2] = [
    ("helmCharts", ["name", "version", "repo", "releaseName"]),
    ("helmChartInflationGenerator", ["chartName", "chartVersion", "chartRepoUrl", "releaseName"]),
];

/// A kind of pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Images,
    Replicas,
    Bases,
    Charts,
}

impl Kind {
    /// The word for people and programs.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Images => "images",
            Kind::Replicas => "replicas",
            Kind::Bases => "bases",
            Kind::Charts => "charts",
        }
    }
}

/// The pins to copy.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub kinds: Vec<Kind>,
    /// True if new names of images are copied as well.
    pub has_names: bool,
}

/// What has become of a pin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Changed {
        before: String,
        after: String,
    },
    Added {
        after: String,
    },
    /// The pin stays, and the reason.
    Stays {
        why: &'static str,
    },
}

/// A pin of which the two kustomizations say different things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    pub kind: Kind,
    pub name: String,
    pub outcome: Outcome,
}

/// The text of a kustomization file after a promotion.
#[derive(Debug)]
pub struct Promotion {
    /// `None` if the text stays as it is.
    pub text: Option<String>,
    pub pins: Vec<Pin>,
}

/// The version of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ImagePin {
    name: String,
    new_name: String,
    tag: String,
    digest: String,
    suffix: String,
}

/// A remote base: its repository, the directory in it, and its version as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BasePin {
    place: String,
    path: String,
    version: String,
}

/// A chart: its name, repository and release, and its version.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ChartPin {
    name: String,
    repo: String,
    release: String,
    version: String,
}

/// All that a kustomization pins.
#[derive(Clone, Debug, Default)]
pub struct Pins {
    images: Vec<ImagePin>,
    /// Names of workloads with their numbers.
    replicas: Vec<(String, String)>,
    bases: Vec<BasePin>,
    charts: Vec<ChartPin>,
}

impl Pins {
    /// The pins of a kustomization file. `name` is the name of the file.
    ///
    /// # Errors
    /// The text is not a kustomization.
    pub fn of(name: &'static str, text: String, options: Options) -> Result<Pins> {
        let heap = Heap::new();
        let disk = Disk::new();
        let draft = Draft::read(Context::new(&heap, &disk, options), name, text).map_err(|e| e.located(&heap))?;
        let images = IMAGES.into_iter().flat_map(|field| draft.items(field)).map(image_pin).collect();
        let replicas = draft.items("replicas").map(replica_pin).collect();
        let texts = BASES.into_iter().flat_map(|field| draft.items(field)).filter_map(Node::as_scalar);
        let bases = texts.filter_map(|text| base_pin(text.text())).collect();
        let charts = CHARTS.iter().flat_map(|(field, keys)| draft.items(field).map(|item| chart_pin(item, keys)));
        Ok(Pins { images, replicas, bases, charts: charts.collect() })
    }

    /// Copies these pins into another kustomization file.
    ///
    /// # Errors
    /// The text is not a kustomization, or is written in a way that cannot be changed.
    pub fn promoted(&self, name: &'static str, text: String, options: Options, wanted: &Wanted) -> Result<Promotion> {
        let heap = Heap::new();
        let disk = Disk::new();
        let copy = || {
            let mut draft = Draft::read(Context::new(&heap, &disk, options), name, text)?;
            let mut pins = Vec::new();
            for kind in &wanted.kinds {
                match kind {
                    Kind::Images => self.copy_images(&mut draft, wanted.has_names, &mut pins)?,
                    Kind::Replicas => self.copy_replicas(&mut draft, &mut pins)?,
                    Kind::Bases => self.copy_bases(&mut draft, &mut pins)?,
                    Kind::Charts => self.copy_charts(&mut draft, &mut pins)?,
                }
            }
            // Nothing is added to a file for which nothing was found.
            let is_changed = pins.iter().any(|pin| !matches!(pin.outcome, Outcome::Stays { .. }));
            Ok(Promotion { text: if is_changed { draft.finish()? } else { None }, pins })
        };
        copy().map_err(|error: crate::diag::Error| error.located(&heap))
    }

    fn copy_images(&self, draft: &mut Draft<'_>, has_names: bool, pins: &mut Vec<Pin>) -> Result<()> {
        let arena = draft.arena;
        let pins_by_name: BTreeMap<&str, &ImagePin> = self.images.iter().map(|pin| (pin.name.as_str(), pin)).collect();
        let mut known = BTreeSet::new();
        for field in IMAGES {
            let Some(list) = draft.written_list(field)? else { continue };
            for entry in list.iter_mut() {
                let own = image_pin(entry);
                known.insert(own.name.clone());
                let mut note = |outcome| pins.push(Pin { kind: Kind::Images, name: own.name.clone(), outcome });
                let Some(pin) = pins_by_name.get(own.name.as_str()) else {
                    note(Outcome::Stays { why: "only this side has it" });
                    continue;
                };
                if !pin.has_version() && own.has_version() {
                    note(Outcome::Stays { why: "the other side pins no version" });
                } else if pin.version() != own.version() || (has_names && pin.new_name != own.new_name) {
                    let with_names = has_names && pin.new_name != own.new_name;
                    let shown = |pin: &ImagePin| if with_names { pin.full() } else { pin.version() };
                    note(Outcome::Changed { before: shown(&own), after: shown(pin) });
                    pin.write(arena, entry, has_names);
                }
                if !has_names && pin.new_name != own.new_name {
                    let why = "its 'newName' differs; --names copies it";
                    pins.push(Pin { kind: Kind::Images, name: own.name, outcome: Outcome::Stays { why } });
                }
            }
        }
        let mut new = Vec::new();
        for pin in self.images.iter().filter(|pin| pin.has_version() && !known.contains(&pin.name)) {
            let mut entry = lists::named(arena, &pin.name);
            pin.write(arena, &mut entry, true);
            new.push(entry);
            pins.push(Pin {
                kind: Kind::Images,
                name: pin.name.clone(),
                outcome: Outcome::Added { after: pin.full() },
            });
        }
        let has_old_name = draft.get("images").is_none() && draft.get("imageTags").is_some();
        insert(draft, if has_old_name { "imageTags" } else { "images" }, new)
    }

    fn copy_replicas(&self, draft: &mut Draft<'_>, pins: &mut Vec<Pin>) -> Result<()> {
        let arena = draft.arena;
        let counts: BTreeMap<&str, &str> =
            self.replicas.iter().map(|(name, count)| (name.as_str(), count.as_str())).collect();
        let mut known = BTreeSet::new();
        if let Some(list) = draft.written_list("replicas")? {
            for entry in list.iter_mut() {
                let (name, before) = replica_pin(entry);
                known.insert(name.clone());
                let outcome = match counts.get(name.as_str()) {
                    None => Outcome::Stays { why: "only this side has it" },
                    Some(after) if *after == before => continue,
                    Some(after) => {
                        replicas::set_count(arena, entry, after);
                        Outcome::Changed { before, after: (*after).to_owned() }
                    }
                };
                pins.push(Pin { kind: Kind::Replicas, name, outcome });
            }
        }
        let mut new = Vec::new();
        for (name, count) in self.replicas.iter().filter(|(name, _)| !known.contains(name)) {
            let mut entry = lists::named(arena, name);
            replicas::set_count(arena, &mut entry, count);
            new.push(entry);
            let outcome = Outcome::Added { after: count.clone() };
            pins.push(Pin { kind: Kind::Replicas, name: name.clone(), outcome });
        }
        insert(draft, "replicas", new)
    }

    fn copy_bases(&self, draft: &mut Draft<'_>, pins: &mut Vec<Pin>) -> Result<()> {
        let arena = draft.arena;
        // A base with the same directory counts first, then all bases of the repository.
        let of_path = pinned(self.bases.iter().map(|pin| ((&*pin.place, &*pin.path), &*pin.version)));
        let of_place = pinned(self.bases.iter().map(|pin| (&*pin.place, &*pin.version)));
        let mut known = BTreeSet::new();
        for field in BASES {
            let Some(list) = draft.written_list(field)? else { continue };
            for entry in list.iter_mut() {
                let Some(text) = entry.as_scalar().map(Scalar::text) else { continue };
                let Some(own) = base_pin(text) else { continue };
                known.insert(own.place.clone());
                let found = of_path.get(&(&*own.place, &*own.path)).or_else(|| of_place.get(&*own.place));
                let outcome = match found.map(|pinned| pinned.in_place_of(&own.version)) {
                    None => Outcome::Stays { why: "only this side has it" },
                    Some(Err(why)) => Outcome::Stays { why },
                    Some(Ok(version)) if version == own.version => continue,
                    Some(Ok(version)) => {
                        let after = with_version(text, version);
                        entry.set_text(arena.text(&after), Tag::Str, Pos::NONE);
                        Outcome::Changed { before: said(&own.version), after: version.to_owned() }
                    }
                };
                pins.push(Pin { kind: Kind::Bases, name: own.name(), outcome });
            }
        }
        for pin in self.bases.iter().filter(|pin| !pin.version.is_empty() && !known.contains(&pin.place)) {
            let outcome = Outcome::Stays { why: "only the other side has it" };
            pins.push(Pin { kind: Kind::Bases, name: pin.name(), outcome });
        }
        Ok(())
    }

    fn copy_charts(&self, draft: &mut Draft<'_>, pins: &mut Vec<Pin>) -> Result<()> {
        let arena = draft.arena;
        // Charts of one name are told apart by their releases.
        let of_release = pinned(self.charts.iter().map(|pin| (pin.key(), &*pin.version)));
        let of_repo = pinned(self.charts.iter().map(|pin| ((&*pin.name, &*pin.repo), &*pin.version)));
        let names: BTreeSet<&str> = self.charts.iter().map(|pin| &*pin.name).collect();
        let mut known = BTreeSet::new();
        for (field, keys) in &CHARTS {
            let Some(list) = draft.written_list(field)? else { continue };
            for entry in list.iter_mut() {
                let own = chart_pin(entry, keys);
                known.insert(own.name.clone());
                let found = of_release.get(&own.key()).or_else(|| of_repo.get(&(&*own.name, &*own.repo)));
                let outcome = match found.map(|pinned| pinned.in_place_of(&own.version)) {
                    None if names.contains(&*own.name) => {
                        Outcome::Stays { why: "the other side has it from another repository" }
                    }
                    None => Outcome::Stays { why: "only this side has it" },
                    Some(Err(why)) => Outcome::Stays { why },
                    Some(Ok(version)) if version == own.version => continue,
                    Some(Ok(version)) => {
                        if let Some(entry) = entry.as_mapping_mut() {
                            draft::set_text(arena, entry, keys[1], version);
                        }
                        Outcome::Changed { before: said(&own.version), after: version.to_owned() }
                    }
                };
                pins.push(Pin { kind: Kind::Charts, name: own.name, outcome });
            }
        }
        for pin in self.charts.iter().filter(|pin| !known.contains(&pin.name)) {
            let outcome = Outcome::Stays { why: "only the other side has it" };
            pins.push(Pin { kind: Kind::Charts, name: pin.name.clone(), outcome });
        }
        Ok(())
    }
}

/// The version of several pins that are one for the other side.
struct PinnedVersion<'p> {
    version: &'p str,
    /// True if one of the pins has another version.
    is_ambiguous: bool,
}

/// The version of the pins of each key.
fn pinned<'p, K: Ord>(pins: impl Iterator<Item = (K, &'p str)>) -> BTreeMap<K, PinnedVersion<'p>> {
    let mut all = BTreeMap::new();
    for (key, version) in pins {
        let pinned = all.entry(key).or_insert(PinnedVersion { version, is_ambiguous: false });
        pinned.is_ambiguous |= pinned.version != version;
    }
    all
}

impl<'p> PinnedVersion<'p> {
    /// The version that takes the place of another one; the reason if the other one stays.
    fn in_place_of(&self, own: &str) -> Result<&'p str, &'static str> {
        match self {
            PinnedVersion { is_ambiguous: true, .. } => Err("the other side has it in several versions"),
            PinnedVersion { version: "", .. } if !own.is_empty() => Err("the other side pins no version"),
            PinnedVersion { version, .. } => Ok(version),
        }
    }
}

impl ImagePin {
    fn has_version(&self) -> bool {
        !(self.tag.is_empty() && self.digest.is_empty() && self.suffix.is_empty())
    }

    /// Tag and digest, as behind the name of an image.
    fn version(&self) -> String {
        let part = |mark: &str, part: &str| if part.is_empty() { String::new() } else { format!("{mark}{part}") };
        let text = format!("{}{}{}", self.tag, part("@", &self.digest), part("+", &self.suffix));
        said(&text)
    }

    /// The new name, tag and digest.
    fn full(&self) -> String {
        match self.new_name.as_str() {
            "" => self.version(),
            name => format!("{name}:{}", self.version()),
        }
    }

    /// Writes the version into an entry, and the new name if it is wanted.
    fn write<'a>(&self, arena: Arena<'a>, entry: &mut Node<'a>, has_names: bool) {
        let Some(entry) = entry.as_mapping_mut() else { return };
        if has_names {
            draft::set_text(arena, entry, "newName", &self.new_name);
        }
        draft::set_text(arena, entry, "newTag", &self.tag);
        draft::set_text(arena, entry, "digest", &self.digest);
        draft::set_text(arena, entry, "tagSuffix", &self.suffix);
    }
}

impl ChartPin {
    fn key(&self) -> (&str, &str, &str) {
        (&self.name, &self.repo, &self.release)
    }
}

impl BasePin {
    fn name(&self) -> String {
        let separator = if self.path.is_empty() { "" } else { "//" };
        format!("{}{separator}{}", self.place, self.path)
    }
}

/// A version for people.
fn said(version: &str) -> String {
    if version.is_empty() { "no version" } else { version }.to_owned()
}

fn image_pin(entry: &Node<'_>) -> ImagePin {
    let text = |key| draft::text(entry, key).to_owned();
    ImagePin {
        name: text("name"),
        new_name: text("newName"),
        tag: text("newTag"),
        digest: text("digest"),
        suffix: text("tagSuffix"),
    }
}

fn replica_pin(entry: &Node<'_>) -> (String, String) {
    (draft::text(entry, "name").to_owned(), draft::text(entry, "count").to_owned())
}

fn chart_pin(entry: &Node<'_>, [name, version, repo, release]: &[&str; 4]) -> ChartPin {
    let text = |key: &str| draft::text(entry, key).to_owned();
    ChartPin { name: text(name), version: text(version), repo: text(repo), release: text(release) }
}

/// The repository and version of an entry; `None` for a file or directory of this machine.
fn base_pin(text: &str) -> Option<BasePin> {
    if is_artifact(text) {
        let artifact = ArtifactReference::parse(text).ok()?;
        return Some(BasePin { place: artifact.repository, path: artifact.path, version: artifact.version });
    }
    let repository = RepoSpec::parse(text)?;
    let version = reference(text).map(|(_, version)| version.to_owned()).unwrap_or_default();
    Some(BasePin { place: repository.url, path: repository.path, version })
}

/// The version in the query of a reference, as it is written: its offset and its text.
fn reference(text: &str) -> Option<(usize, &str)> {
    let (_, query) = text.split_once('?')?;
    let mut at = text.len() - query.len();
    let mut found: Option<(&str, usize, &str)> = None;
    for pair in query.split('&') {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let is_better = matches!((key, &found), ("ref", None | Some(("version", ..))) | ("version", None));
        if is_better && !value.is_empty() {
            found = Some((key, at + key.len() + 1, value));
        }
        at += pair.len() + 1;
    }
    found.map(|(_, at, value)| (at, value))
}

/// A remote base with another version.
fn with_version(text: &str, version: &str) -> String {
    if let Ok(artifact) = ArtifactReference::parse(text) {
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        let directory = rest.find("//").map_or("", |at| &rest[at..]);
        let changed = ArtifactReference { version: version.to_owned(), ..artifact };
        return format!("{}{directory}", changed.name());
    }
    match reference(text) {
        Some((at, old)) => format!("{}{version}{}", &text[..at], &text[at + old.len()..]),
        None => format!("{text}{}ref={version}", if text.contains('?') { '&' } else { '?' }),
    }
}

/// Inserts entries with names into a list, which is made if it is missing.
fn insert<'a>(draft: &mut Draft<'a>, field: &'static str, entries: Vec<Node<'a>>) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    match draft.written_list(field)? {
        Some(list) => lists::insert_named(list, entries),
        None => {
            draft.remove(field)?;
            let mut list = Sequence::default();
            lists::insert_named(&mut list, entries);
            draft.put(field, Node::new(list, Pos::NONE));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustomize_base::meter;

    const ALL: [Kind; 4] = [Kind::Images, Kind::Replicas, Kind::Bases, Kind::Charts];

    fn promoted(from: &str, to: &str, has_names: bool) -> (Option<String>, Vec<String>) {
        let file = "kustomization.yaml";
        let pins = Pins::of(file, from.to_owned(), Options::default()).unwrap();
        let wanted = Wanted { kinds: ALL.to_vec(), has_names };
        let done = pins.promoted(file, to.to_owned(), Options::default(), &wanted).unwrap();
        let line = |Pin { kind, name, outcome }: &Pin| {
            let outcome = match outcome {
                Outcome::Changed { before, after } => format!("{before} -> {after}"),
                Outcome::Added { after } => format!("+ {after}"),
                Outcome::Stays { why } => format!("stays: {why}"),
            };
            format!("{} {name} {outcome}", kind.word())
        };
        (done.text, done.pins.iter().map(line).collect())
    }

    #[track_caller]
    fn check(from: &str, to: &str, want: &str, notes: &[&str]) {
        let (text, pins) = promoted(from, to, false);
        assert_eq!(
            (text.as_deref().unwrap_or(to), pins),
            (want, notes.iter().map(|note| (*note).to_owned()).collect())
        );
    }

    #[test]
    fn images() {
        check(
            "images: [{name: web, newTag: '2'}, {name: db, digest: sha256:2}, {name: new, newName: r/new, newTag: v1}]\n",
            "images: # ours\n- name: cache\n  newTag: '1'\n- name: web # the server\n  newTag: '1'\n- name: db\n  newTag: '9'\n",
            "images: # ours\n- name: cache\n  newTag: '1'\n- name: new\n  newName: r/new\n  newTag: v1\n- name: web # the server\n  newTag: '2'\n- name: db\n  digest: sha256:2\n",
            &[
                "images cache stays: only this side has it",
                "images web 1 -> 2",
                "images db 9 -> @sha256:2",
                "images new + r/new:v1",
            ],
        );
        let (from, to) =
            ("images: [{name: a, newName: x/a, newTag: v2}]\n", "images: [{name: a, newName: y/a, newTag: v1}]\n");
        check(
            from,
            to,
            "images: [{name: a, newName: y/a, newTag: v2}]\n",
            &["images a v1 -> v2", "images a stays: its 'newName' differs; --names copies it"],
        );
        let (text, pins) = promoted(from, to, true);
        assert_eq!(text.unwrap(), "images: [{name: a, newName: x/a, newTag: v2}]\n");
        assert_eq!(pins, ["images a y/a:v1 -> x/a:v2"]);
        check(
            "images: [{name: a}]\n",
            "images: [{name: a, newTag: v1}]\n",
            "images: [{name: a, newTag: v1}]\n",
            &["images a stays: the other side pins no version"],
        );
        // The old name of the field stays.
        check(
            "images: [{name: a, newTag: v2}, {name: b, newTag: v3}]\n",
            "imageTags: [{name: a, newTag: v1}]\n",
            "imageTags: [{name: a, newTag: v2}, {name: b, newTag: v3}]\n",
            &["images a v1 -> v2", "images b + v3"],
        );
        check(
            "images: [{name: a, newTag: v2}]\n",
            "images: [{name: a, newTag: v2}]\n# end\n",
            "images: [{name: a, newTag: v2}]\n# end\n",
            &[],
        );
        check("", "namespace: blue\n", "namespace: blue\n", &[]);
        check(
            "images: [{name: a, newTag: v2}]\n",
            "namespace: blue\n",
            "namespace: blue\nimages:\n- name: a\n  newTag: v2\n",
            &["images a + v2"],
        );
    }

    #[test]
    fn replicas() {
        check(
            "replicas: [{name: a, count: 3}, {name: b, count: 2}]\n",
            "replicas:\n- name: a\n  count: 1 # few\n- name: c\n  count: 4\n",
            "replicas:\n- name: a\n  count: 3 # few\n- count: 2\n  name: b\n- name: c\n  count: 4\n",
            &["replicas a 1 -> 3", "replicas c stays: only this side has it", "replicas b + 2"],
        );
    }

    #[test]
    fn bases() {
        check(
            "resources:\n- https://github.com/o/app//deploy/dev?ref=v2\n- oci://r.example/b:v9\n- github.com/o/only?ref=v1\n- ../local\n- https://github.com/o/two//a?ref=v1\n- https://github.com/o/two//b?ref=v2\n",
            "bases: [../here]\nresources:\n- https://github.com/o/app//deploy/prod?ref=v1&timeout=9s # pinned\n- oci://r.example/b:v8//dir\n- https://github.com/o/two//a?version=v0\n- https://github.com/o/two//c?ref=v0\n- github.com/o/mine\n",
            "bases: [../here]\nresources:\n- https://github.com/o/app//deploy/prod?ref=v2&timeout=9s # pinned\n- oci://r.example/b:v9//dir\n- https://github.com/o/two//a?version=v1\n- https://github.com/o/two//c?ref=v0\n- github.com/o/mine\n",
            &[
                "bases https://github.com/o/app//deploy/prod v1 -> v2",
                "bases r.example/b//dir v8 -> v9",
                "bases https://github.com/o/two//a v0 -> v1",
                "bases https://github.com/o/two//c stays: the other side has it in several versions",
                "bases https://github.com/o/mine stays: only this side has it",
                "bases https://github.com/o/only stays: only the other side has it",
            ],
        );
        check(
            "resources: ['github.com/o/a']\n",
            "resources: ['github.com/o/a?ref=v1']\n",
            "resources: ['github.com/o/a?ref=v1']\n",
            &["bases https://github.com/o/a stays: the other side pins no version"],
        );
        check(
            "resources: ['github.com/o/a?ref=v1']\n",
            "components: ['github.com/o/a']\n",
            "components: ['github.com/o/a?ref=v1']\n",
            &["bases https://github.com/o/a no version -> v1"],
        );
    }

    #[test]
    fn charts() {
        check(
            "helmCharts: [{name: a, repo: r, version: 2.0.0}, {name: b, repo: x, version: 2.0.0}, {name: c, releaseName: one, version: '3'}, {name: c, releaseName: two, version: '4'}, {name: d, version: '1'}]\n",
            "helmCharts:\n- name: a\n  repo: r\n  version: 1.0.0 # pinned\n- {name: b, repo: other, version: 1.0.0}\n- {name: c, releaseName: two, version: '1'}\n- {name: c, releaseName: three, version: '1'}\n",
            "helmCharts:\n- name: a\n  repo: r\n  version: 2.0.0 # pinned\n- {name: b, repo: other, version: 1.0.0}\n- {name: c, releaseName: two, version: '4'}\n- {name: c, releaseName: three, version: '1'}\n",
            &[
                "charts a 1.0.0 -> 2.0.0",
                "charts b stays: the other side has it from another repository",
                "charts c 1 -> 4",
                "charts c stays: the other side has it in several versions",
                "charts d stays: only the other side has it",
            ],
        );
    }

    #[test]
    fn many_pins_take_linear_time() {
        let texts: [fn(usize, usize) -> String; 4] = [
            |i, v| format!("images: [{{name: i{i}, newTag: '{v}'}}]"),
            |i, v| format!("replicas: [{{name: r{i}, count: {v}}}]"),
            |i, v| format!("resources: ['https://github.com/o/one//d{i}?ref=v{v}']"),
            |i, v| format!("helmCharts: [{{name: one, repo: r, releaseName: r{i}, version: '{v}'}}]"),
        ];
        for text in texts {
            // Half of the pins of each side are on the other one, too.
            let side = |from: usize, n: usize, version: usize| {
                let texts: Vec<String> = (from..from + n).map(|i| text(i, version)).collect();
                let (field, _) = texts[0].split_once(": [").unwrap();
                let items = texts.iter().map(|text| &text[field.len() + 3..text.len() - 1]);
                format!("{field}: [{}]\n", items.collect::<Vec<_>>().join(", "))
            };
            let steps = |n: usize| {
                meter::reset();
                let (_, pins) = promoted(&side(0, n, 2), &side(n / 2, n, 1), false);
                assert!(pins.len() >= n, "{pins:?}");
                meter::taken()
            };
            let (few, many) = (steps(1_000), steps(4_000));
            assert!(many <= 5 * few, "{}: {few} steps for 1,000, {many} for 4,000", text(0, 0));
        }
    }

    #[test]
    fn versions_of_references() {
        assert_eq!(with_version("github.com/o/a?submodules=false", "v1"), "github.com/o/a?submodules=false&ref=v1");
        assert_eq!(with_version("github.com/o/a?version=v0&ref=v1", "v2"), "github.com/o/a?version=v0&ref=v2");
        let digest = format!("sha256:{}", "a".repeat(64));
        assert_eq!(with_version("oci://h.io/a:v1", &digest), format!("oci://h.io/a@{digest}"));
    }
}
