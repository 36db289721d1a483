//! [`Compat`]: the version of kustomize whose bytes a build prints.
//!
//! Versions of kustomize differ in some thirty behaviours. Each is a question in [`QUESTIONS`],
//! with the versions that answer yes. A stage asks the question by its name; no stage compares
//! versions. `docs/compatibility.md` shows the table, which a test writes.
//!
//! A new version of kustomize is a new row of [`RELEASES`], and a new question for each behaviour
//! that it changes.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

/// A released version of kustomize: its place in [`RELEASES`].
type Release = u8;

/// The versions of kustomize, in order, each with what ships it.
pub const RELEASES: [(&str, &str); 10] = [
    ("v5.4.2", "kubectl 1.31, Argo CD 2.12"),
    ("v5.4.3", "Argo CD 2.13 and 2.14, Flux 2.4"),
    ("v5.5.0", "kubectl 1.32"),
    ("v5.6.0", "kubectl 1.33, Argo CD 3.0, Flux 2.5 and 2.6"),
    ("v5.7.0", "Argo CD 3.1 and 3.2"),
    ("v5.7.1", "kubectl 1.34 and 1.35, Flux 2.7"),
    ("v5.8.0", "Argo CD 3.3.0"),
    ("v5.8.1", "kubectl 1.36 and 1.37, Argo CD 3.3.1 to 3.5, Flux 2.8 to 2.10"),
    ("v5.8.2", ""),
    ("v5.8.3", "Argo CD 3.6"),
];

const V5_4_2: Release = 0;
const V5_4_3: Release = 1;
const V5_5_0: Release = 2;
const V5_6_0: Release = 3;
const V5_7_0: Release = 4;
const V5_7_1: Release = 5;
const V5_8_0: Release = 6;
const V5_8_1: Release = 7;
const V5_8_2: Release = 8;
const V5_8_3: Release = 9;

/// A program that ships kustomize, under the name that people give to its versions here.
struct Shipper {
    name: &'static str,
    /// The first version that ships a version of kustomize, in order: until the next one.
    first: &'static [([u32; 3], Release)],
    /// The last known minor version.
    last: [u32; 2],
}

const SHIPPERS: [Shipper; 3] = [
    Shipper {
        name: "kubectl",
        first: &[
            ([1, 31, 0], V5_4_2),
            ([1, 32, 0], V5_5_0),
            ([1, 33, 0], V5_6_0),
            ([1, 34, 0], V5_7_1),
            ([1, 36, 0], V5_8_1),
        ],
        last: [1, 37],
    },
    Shipper {
        name: "argocd",
        first: &[
            ([2, 12, 0], V5_4_2),
            ([2, 13, 0], V5_4_3),
            ([3, 0, 0], V5_6_0),
            ([3, 1, 0], V5_7_0),
            ([3, 3, 0], V5_8_0),
            ([3, 3, 1], V5_8_1),
            ([3, 6, 0], V5_8_3),
        ],
        last: [3, 6],
    },
    Shipper {
        name: "flux",
        first: &[([2, 4, 0], V5_4_3), ([2, 5, 0], V5_6_0), ([2, 7, 0], V5_7_1), ([2, 8, 0], V5_8_1)],
        last: [2, 10],
    },
];

/// What a behaviour changes for a user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// The bytes of the output.
    Output,
    /// Input that a version takes, and another one refuses.
    Accepted,
    /// What helm or a plugin is given.
    Call,
}

/// A behaviour that differs among versions.
pub struct Question {
    /// The name of the method of [`Compat`] that asks.
    pub name: &'static str,
    /// A sentence in Markdown about the versions that answer yes, and one about the others. Each
    /// can be read without the other one.
    yes: &'static str,
    no: &'static str,
    pub effect: Effect,
    first: Release,
    last: Release,
}

impl Question {
    /// What a version does, in Markdown.
    pub fn says(&self, version: Compat) -> &'static str {
        if version.answers(self) { self.yes } else { self.no }
    }

    /// The same as a plain sentence.
    pub fn sentence(&self, version: Compat) -> String {
        self.says(version).replace('`', "'")
    }

    /// The bit of this question.
    fn bit(&self) -> u32 {
        let at = QUESTIONS.iter().position(|known| known.name == self.name).unwrap_or(QUESTIONS.len());
        1u32.checked_shl(at as u32).unwrap_or(0)
    }

    /// The versions that answer yes, in words: `5.8.1`, `5.4.2 to 5.7.1`, `5.8.2 and later`.
    pub fn versions(&self) -> String {
        let (first, last) = (number_of(self.first), number_of(self.last));
        match self.last {
            V5_8_3 => format!("{first} and later"),
            last if last == self.first => first.to_owned(),
            _ => format!("{first} to {last}"),
        }
    }
}

/// Makes [`QUESTIONS`] and the methods of [`Compat`] of one list, so that a table, a doc and an
/// answer cannot disagree.
macro_rules! questions {
    ($($effect:ident $name:ident: $first:ident..=$last:ident, yes: $yes:literal, no: $no:literal;)+) => {
        /// The behaviours that differ among versions.
        pub const QUESTIONS: &[Question] = &[$(Question {
            name: stringify!($name),
            yes: $yes,
            no: $no,
            effect: Effect::$effect,
            first: $first,
            last: $last,
        }),+];

        #[allow(non_camel_case_types, reason = "each name is also that of a method")]
        #[derive(Clone, Copy)]
        enum Asked { $($name),+ }

        impl Compat {
            $(#[doc = concat!("Yes: ", $yes, "\n\nNo: ", $no)]
            ///
            /// One of [`QUESTIONS`].
            pub fn $name(self) -> bool {
                self.answer(Asked::$name as u32)
            })+
        }
    };
}

questions! {
    Output refers_to_admission_policies: V5_4_3..=V5_8_3,
        yes: "A new name of a ValidatingAdmissionPolicy is written to `spec.policyName` of its \
            binding.",
        no: "`spec.policyName` of a ValidatingAdmissionPolicyBinding keeps the old name of its \
            policy.";
    Output sorts_core_namespaces_first: V5_5_0..=V5_8_3,
        yes: "`sortOptions: {order: legacy}` puts the core Namespace before a Namespace of another \
            group.",
        no: "`sortOptions: {order: legacy}` puts a Namespace of another group before the core \
            Namespace.";
    Output keeps_lists_without_items: V5_5_0..=V5_8_3,
        yes: "A kind that ends in `List` and has no `items` is a resource.",
        no: "A kind that ends in `List` and has no `items` is left out.";
    Accepted takes_chart_debug: V5_5_0..=V5_8_3,
        yes: "A chart takes `debug`.",
        no: "`debug` of a chart is an unknown field.";
    Accepted takes_chart_devel: V5_7_0..=V5_8_3,
        yes: "A chart takes `devel`.",
        no: "`devel` of a chart is an unknown field.";
    Accepted takes_source_values: V5_7_0..=V5_8_3,
        yes: "`replacements` take a constant, `sourceValue`.",
        no: "`sourceValue` of `replacements` is an unknown field.";
    Output images_of_volumes: V5_7_0..=V5_8_3,
        yes: "`images` changes the images of volumes, too.",
        no: "`images` leaves the images of volumes as they are.";
    Accepted goes_on_after_a_deletion: V5_7_0..=V5_8_3,
        yes: "A patch that deletes a resource may have other patches behind it in its file.",
        no: "A patch that deletes a resource and has other patches behind it in its file fails: \
            kustomize panics.";
    Accepted takes_patches_of_comments: V5_7_0..=V5_8_3,
        yes: "A patch file of blank lines and comments does nothing if its entry has a target.",
        no: "A patch file of blank lines and comments is refused.";
    Accepted takes_arguments_of_functions: V5_7_0..=V5_8_3,
        yes: "A function that is a program is given `args` and `envs`.",
        no: "`args` and `envs` of a function that is a program are unknown fields.";
    Call refuses_open_quotes: V5_7_0..=V5_8_3,
        yes: "`argsOneLiner` with an open quote is refused.",
        no: "Of `argsOneLiner` with an open quote, the words in front of the quote are used.";
    Call ends_one_liners_at_hashes: V5_7_1..=V5_8_3,
        yes: "A `#` anywhere outside of quotes ends `argsOneLiner`, and empty words vanish.",
        no: "In `argsOneLiner` a `#` at the beginning of a word begins a comment, which ends with \
            the line, and empty words are kept.";
    Output leaves_namespaces_to_charts: V5_8_0..=V5_8_3,
        yes: "`namespace` skips the resources of charts; a chart without `namespace` is given that \
            of the kustomization.",
        no: "`namespace` changes the resources of charts, too; a chart without `namespace` is \
            rendered without one.";
    Output inherits_namespaces: V5_8_0..=V5_8_0,
        yes: "A kustomization without `namespace` takes that of the kustomization that names it, \
            for all resources.",
        no: "A kustomization without `namespace` has none while its own resources are built.";
    Output charts_inherit_namespaces: V5_8_1..=V5_8_3,
        yes: "A chart takes the namespace of a kustomization at any depth above it.",
        no: "A chart takes no namespace of another kustomization than its own.";
    Output replaces_in_texts: V5_8_0..=V5_8_3,
        yes: "`replacements` write into YAML and JSON in the text of a field.",
        no: "`replacements` do not look into the text of a field.";
    Output replacement_targets_are_patterns: V5_8_0..=V5_8_3,
        yes: "Targets of `replacements` are patterns.",
        no: "Targets of `replacements` are compared as plain texts.";
    Accepted refuses_unknown_patch_options: V5_8_0..=V5_8_3,
        yes: "An unknown option of a patch is refused.",
        no: "An unknown option of a patch is ignored.";
    Accepted skips_scalars_for_whole_resources: V5_4_2..=V5_8_0,
        yes: "A JSON patch that replaces the path `\"\"` by a text, a number or null changes nothing.",
        no: "A JSON patch that replaces the path `\"\"` by a text, a number or null is refused.";
    Accepted takes_empty_patches: V5_8_1..=V5_8_3,
        yes: "A patch file without a patch does nothing.",
        no: "The entry of a patch file without a patch has to have a target.";
    Call asks_helm_4_for_its_version: V5_8_1..=V5_8_3,
        yes: "helm is asked for its version by `helm version --short`.",
        no: "helm is asked for its version by `helm version -c --short`, which helm 4 does not \
            know.";
    Output labels_volume_claims_with_templates: V5_4_2..=V5_8_1,
        yes: "`labels` with `includeTemplates` labels the volume claim templates of StatefulSets, \
            too.",
        no: "`labels` with `includeTemplates` leaves the volume claim templates of StatefulSets as \
            they are.";
    Accepted takes_volume_claim_template_labels: V5_8_2..=V5_8_3,
        yes: "`labels` take `includeVolumeClaimTemplates`, and configurations \
            `volumeClaimTemplateLabels`.",
        no: "`includeVolumeClaimTemplates` of `labels` is an unknown field, and \
            `volumeClaimTemplateLabels` of configurations does nothing.";
    Output admission_policies_are_cluster_scoped: V5_8_2..=V5_8_3,
        yes: "ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding get no namespace.",
        no: "ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding get the namespace of \
            `namespace`.";
    Output matches_all_digests: V5_8_2..=V5_8_3,
        yes: "`images` matches images with a digest of any algorithm.",
        no: "`images` matches images with a digest only if it is of sha256.";
    Output images_of_cron_job_volumes: V5_8_2..=V5_8_3,
        yes: "`images` changes the images of volumes of CronJobs, too.",
        no: "`images` leaves the images of volumes of CronJobs as they are.";
    Accepted takes_broken_image_patterns: V5_8_2..=V5_8_3,
        yes: "A name in `images` that is not a valid pattern matches nothing.",
        no: "A name in `images` that is not a valid pattern is refused.";
    Output replaces_parts_in_texts: V5_8_2..=V5_8_3,
        yes: "`replacements` into texts obey `delimiter`, `index` and `create`.",
        no: "`replacements` into texts ignore `delimiter`, `index` and `create`.";
    Output merges_string_data: V5_8_2..=V5_8_3,
        yes: "A generator that merges into a Secret keeps its `stringData`, in `data`.",
        no: "A generator that merges into a Secret drops its `stringData`.";
    Accepted refuses_ambiguous_paths: V5_8_2..=V5_8_3,
        yes: "A directory with `..` inside of a part of its path, such as `a..b`, is refused.",
        no: "A directory may have `..` inside of a part of its path, as in `a..b`.";
    Accepted takes_keys_that_are_not_texts: V5_8_3..=V5_8_3,
        yes: "A mapping whose keys are integers or dates becomes JSON, with texts as keys.",
        no: "A mapping whose keys are integers or dates cannot become JSON.";
}

/// A released version of kustomize: what it answers to each of [`QUESTIONS`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Compat {
    release: Release,
    /// 0, or the number of the recorder that notes what is asked, from 1 on.
    recorder: u8,
    /// A bit for each question.
    answers: u32,
}

impl Default for Compat {
    /// The newest version.
    fn default() -> Self {
        Compat::of(V5_8_3)
    }
}

impl Compat {
    const fn of(release: Release) -> Self {
        let (mut answers, mut at) = (0, 0);
        while at < QUESTIONS.len() {
            let Question { first, last, .. } = &QUESTIONS[at];
            answers |= ((*first <= release && release <= *last) as u32) << at;
            at += 1;
        }
        Compat { release, recorder: 0, answers }
    }

    /// All versions, in order.
    pub fn all() -> impl Iterator<Item = Compat> {
        (V5_4_2..=V5_8_3).map(Compat::of)
    }

    /// Reads the name of a version: `5.8.3`, `v5.8.3`, or the program that ships it, as in
    /// `kubectl-1.34`, `argocd-3.2` and `flux-2.7`.
    ///
    /// # Errors
    /// There is no such version, or it is not known.
    pub fn parse(text: &str) -> Result<Compat, UnknownVersion> {
        let unknown = |reason| UnknownVersion { text: text.to_owned(), reason };
        if let Some((shipper, version)) =
            SHIPPERS.iter().find_map(|shipper| Some((shipper, text.strip_prefix(shipper.name)?.strip_prefix('-')?)))
        {
            let version = numbers(version).ok_or_else(|| unknown(Reason::NotAVersion))?;
            return shipper.release(version).map(Compat::of).map_err(unknown);
        }
        let version = text.strip_prefix('v').unwrap_or(text);
        if let Some(release) = (V5_4_2..=V5_8_3).find(|release| number_of(*release) == version) {
            return Ok(Compat::of(release));
        }
        let Some(parts) = numbers(version) else { return Err(unknown(Reason::NotAVersion)) };
        let edge = |release: Release| numbers(number_of(release));
        Err(unknown(match parts {
            parts if Some(parts) < edge(V5_4_2) => Reason::TooOld,
            parts if Some(parts) > edge(V5_8_3) => Reason::TooNew,
            _ => Reason::NotAVersion,
        }))
    }

    /// The version, as in `5.8.3`.
    pub fn version(self) -> &'static str {
        number_of(self.release)
    }

    /// The version as kustomize prints it, as in `v5.8.3`.
    pub fn tag(self) -> &'static str {
        RELEASES[usize::from(self.release)].0
    }

    /// The questions that this version and another one answer differently.
    pub fn differences(self, other: Compat) -> impl Iterator<Item = &'static Question> {
        let differ = self.answers ^ other.answers;
        QUESTIONS.iter().enumerate().filter(move |(at, _)| differ >> at & 1 == 1).map(|(_, question)| question)
    }

    /// The answer of this version to a question.
    pub fn answers(self, question: &Question) -> bool {
        question.first <= self.release && self.release <= question.last
    }

    #[inline]
    fn answer(self, bit: u32) -> bool {
        if self.recorder > 0 {
            self.note(bit);
        }
        self.answers >> bit & 1 == 1
    }

    #[cold]
    fn note(self, bit: u32) {
        if let Some(asked) = ASKED.get(usize::from(self.recorder - 1)) {
            asked.fetch_or(1 << bit, Ordering::Relaxed);
        }
    }

    /// This version, but with the answer of another one to one question.
    #[must_use]
    pub fn with_answer_of(self, other: Compat, question: &Question) -> Compat {
        let bit = question.bit();
        Compat { answers: self.answers & !bit | other.answers & bit, ..self }
    }
}

/// The most recorders at a time: `diff --compat` has two.
const RECORDERS: usize = 4;

/// The questions that each recorder has noted: a bit for each.
static ASKED: [AtomicU32; RECORDERS] = [const { AtomicU32::new(0) }; RECORDERS];

/// The recorders that exist: a bit for each.
static TAKEN: AtomicU32 = AtomicU32::new(0);

/// Notes which questions builds ask. A build that does not ask a question is the same with the
/// other answer. No question is asked for each node, so notes cost nothing that can be measured.
#[derive(Debug)]
pub struct Recorder {
    /// `None` if there are too many: all questions count as asked then.
    place: Option<u8>,
}

impl Recorder {
    /// Starts a recorder, which has noted nothing.
    pub fn start() -> Self {
        let is_free = |place: &u8| TAKEN.fetch_or(1 << place, Ordering::AcqRel) >> place & 1 == 0;
        let place = (0..RECORDERS as u8).find(is_free);
        if let Some(asked) = place.and_then(|place| ASKED.get(usize::from(place))) {
            asked.store(0, Ordering::Relaxed);
        }
        Recorder { place }
    }

    /// A version whose builds are noted.
    #[must_use]
    pub fn record(&self, version: Compat) -> Compat {
        Compat { recorder: self.place.map_or(0, |place| place + 1), ..version }
    }

    /// Returns true if a build may have asked a question.
    pub fn has_noted(&self, question: &Question) -> bool {
        let asked = self.place.and_then(|place| ASKED.get(usize::from(place)));
        asked.is_none_or(|asked| asked.load(Ordering::Relaxed) & question.bit() != 0)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            TAKEN.fetch_and(!(1 << place), Ordering::AcqRel);
        }
    }
}

impl fmt::Display for Compat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.tag())
    }
}

impl fmt::Debug for Compat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Shipper {
    /// The version of kustomize in a version of this program. A version without a patch level is
    /// the last of its minor version.
    fn release(&self, version: (u32, u32, Option<u32>)) -> Result<Release, Reason> {
        let (major, minor, patch) = version;
        if [major, minor] > self.last {
            return Err(Reason::TooNew);
        }
        let version = [major, minor, patch.unwrap_or(u32::MAX)];
        let shipped = self.first.iter().rev().find(|(first, _)| *first <= version);
        shipped.map(|(_, release)| *release).ok_or(Reason::TooOld)
    }
}

/// A version without its `v`.
fn number_of(release: Release) -> &'static str {
    RELEASES[usize::from(release)].0.trim_start_matches('v')
}

/// The numbers of a version; the last one may be missing.
fn numbers(text: &str) -> Option<(u32, u32, Option<u32>)> {
    let mut parts =
        text.split('.').map(|part| part.parse::<u32>().ok().filter(|_| part.bytes().all(|b| b.is_ascii_digit())));
    let numbers = (
        parts.next()??,
        parts.next()??,
        match parts.next() {
            Some(patch) => Some(patch?),
            None => None,
        },
    );
    parts.next().is_none().then_some(numbers)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reason {
    NotAVersion,
    TooOld,
    TooNew,
}

/// A text that names no known version of kustomize.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownVersion {
    text: String,
    reason: Reason,
}

impl UnknownVersion {
    /// The names that are known, for a hint.
    pub fn known() -> String {
        let versions: Vec<&str> = Compat::all().map(Compat::version).collect();
        let shippers = SHIPPERS.iter().map(|shipper| {
            let ([major, minor, _], [last_major, last_minor]) = (shipper.first[0].0, shipper.last);
            format!("{0}-{major}.{minor} to {0}-{last_major}.{last_minor}", shipper.name)
        });
        format!("{}; {}", versions.join(", "), shippers.collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Display for UnknownVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.text;
        match self.reason {
            Reason::NotAVersion => write!(f, "'{text}' is not a version of kustomize"),
            Reason::TooOld => {
                write!(f, "'{text}' is older than kustomize {}, the oldest known version", number_of(V5_4_2))
            }
            Reason::TooNew => {
                write!(f, "'{text}' is newer than kustomize {}, the newest known version", Compat::default().version())
            }
        }
    }
}

impl std::error::Error for UnknownVersion {}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> &'static str {
        Compat::parse(text).unwrap().version()
    }

    #[test]
    fn versions_have_the_names_of_what_ships_them() {
        for (text, want) in [
            ("5.8.3", "5.8.3"),
            ("v5.7.1", "5.7.1"),
            ("kubectl-1.31", "5.4.2"),
            ("kubectl-1.35.7", "5.7.1"),
            ("kubectl-1.37", "5.8.1"),
            ("argocd-2.14", "5.4.3"),
            ("argocd-3.3.0", "5.8.0"),
            ("argocd-3.3", "5.8.1"),
            ("argocd-3.5.2", "5.8.1"),
            ("argocd-3.6", "5.8.3"),
            ("flux-2.6", "5.6.0"),
            ("flux-2.10", "5.8.1"),
        ] {
            assert_eq!(version(text), want, "{text}");
        }
    }

    #[test]
    fn other_names_are_errors_that_say_why() {
        let says = |text: &str| Compat::parse(text).unwrap_err().to_string();
        for text in [
            "",
            "5",
            "5.8",
            "5.8.1.0",
            "5.5.3",
            "v 5.8.1",
            "+5.8.1",
            "argo-3.2",
            "flux",
            "flux-",
            "kubectl-1.x",
            "5.8.1-rc1",
        ] {
            assert!(says(text).ends_with("is not a version of kustomize"), "{}", says(text));
        }
        for text in ["5.4.1", "4.5.7", "kubectl-1.30", "argocd-2.11", "flux-2.3.9"] {
            assert!(says(text).contains("older than kustomize 5.4.2"), "{}", says(text));
        }
        for text in ["5.8.4", "5.9.0", "6.0.0", "kubectl-1.38", "argocd-4.0", "flux-2.11"] {
            assert!(says(text).contains("newer than kustomize 5.8.3"), "{}", says(text));
        }
    }

    #[test]
    fn a_question_is_answered_by_the_versions_of_its_row() {
        let yes = |ask: fn(Compat) -> bool| Compat::all().filter(|c| ask(*c)).map(Compat::version).collect::<Vec<_>>();
        assert_eq!(yes(Compat::inherits_namespaces), ["5.8.0"]);
        assert_eq!(yes(Compat::matches_all_digests), ["5.8.2", "5.8.3"]);
        assert_eq!(yes(Compat::labels_volume_claims_with_templates).len(), 8);
    }

    #[test]
    fn a_recorder_notes_what_is_asked() {
        assert_eq!(size_of::<Compat>(), 8, "each arena has one");
        let question = |name: &str| QUESTIONS.iter().find(|question| question.name == name).unwrap();
        let (one, other) = (Recorder::start(), Recorder::start());
        let version = one.record(Compat::default());
        assert!(version.takes_chart_devel() && !version.inherits_namespaces());
        assert!(other.record(Compat::default()).merges_string_data());
        for (name, by_one, by_other) in [
            ("takes_chart_devel", true, false),
            ("inherits_namespaces", true, false),
            ("merges_string_data", false, true),
            ("takes_chart_debug", false, false),
        ] {
            let noted = [one.has_noted(question(name)), other.has_noted(question(name))];
            assert_eq!(noted, [by_one, by_other], "{name}");
        }
        drop(one);
        let more: Vec<Recorder> = (0..RECORDERS).map(|_| Recorder::start()).collect();
        let full = more.iter().find(|recorder| recorder.place.is_none()).unwrap();
        assert!(full.record(version).takes_chart_devel() && full.has_noted(question("takes_chart_debug")));
        assert!(!more[0].has_noted(question("takes_chart_devel")), "a new recorder has noted nothing");
    }

    /// The part of docs/compatibility.md that this file decides.
    fn page() -> String {
        let mut page = "\
## Versions of kustomize
A build answers to one version of kustomize: the one that `--compat` names, else `RUSTOMIZE_COMPAT`,
else `compat:` in the nearest `rustomize.yaml` that has it, else the name of the program, as in
`kustomize-v5.7.1`, else the newest. The version is in `version` and in the label of
`managedByLabel`. `rustomize diff --compat 5.7.1..5.8.3` shows what an upgrade changes, and
`rustomize lint -W version` says whether the newest version prints something else.

| version | ships with |
|---|---|
"
        .to_owned();
        for (version, shippers) in RELEASES {
            page += &format!("| {version} | {shippers} |\n");
        }
        page += "\nWhat versions do of their own; all else is the same in all of them:\n\n";
        page += "| versions | what they do | what all others do | `--compat` changes |\n|---|---|---|---|\n";
        for question in QUESTIONS {
            let effect = match question.effect {
                Effect::Output => "the output",
                Effect::Accepted => "what is accepted",
                Effect::Call => "what programs are given",
            };
            let Question { yes, no, .. } = question;
            page += &format!("| {} | {yes} | {no} | {effect} |\n", question.versions());
        }
        page
    }

    #[test]
    fn each_question_has_a_recorded_case_of_each_answer() {
        for question in QUESTIONS {
            for answer in ["yes", "no"] {
                let name = question.name.replace('_', "-");
                let path = format!("{}/../../testdata/versions/{name}-{answer}.txtar", env!("CARGO_MANIFEST_DIR"));
                let case = std::fs::read_to_string(&path).expect(&path);
                let version = case.split_once("--compat ").unwrap().1.split_whitespace().next().unwrap();
                assert_eq!(Compat::parse(version).unwrap().answers(question), answer == "yes", "{path}");
            }
        }
    }

    #[test]
    fn each_sentence_is_about_one_side_alone() {
        for question in QUESTIONS {
            assert_ne!(question.yes, question.no);
            for says in [question.yes, question.no] {
                let compares = ["before,", "no longer", "any more", " now ", "instead"];
                assert!(!compares.iter().any(|word| says.contains(word)), "{says}");
                assert!(says.ends_with('.') && !says.contains('|'), "{says}");
            }
        }
        let question = |name: &str| QUESTIONS.iter().find(|question| question.name == name).unwrap();
        let says = |name: &str, version: &str| question(name).says(Compat::parse(version).unwrap());
        assert_eq!(says("takes_chart_devel", "5.7.0"), "A chart takes `devel`.");
        assert_eq!(says("takes_chart_devel", "5.6.0"), "`devel` of a chart is an unknown field.");
    }

    #[test]
    fn the_page_has_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/compatibility.md");
        let text = std::fs::read_to_string(path).unwrap();
        let (before, rest) = text.split_once("## Versions of kustomize\n").unwrap();
        let (_, after) = rest.split_once("\n## ").unwrap();
        let wanted = format!("{before}{}\n## {after}", page());
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(path, &wanted).unwrap();
        }
        assert!(text == wanted, "docs/compatibility.md has another table: UPDATE=1 writes it");
    }

    #[test]
    fn one_answer_at_a_time_leads_from_a_version_to_another() {
        let (old, new) = (Compat::parse("5.7.1").unwrap(), Compat::default());
        let differ: Vec<_> = old.differences(new).collect();
        assert!(differ.iter().any(|q| q.name == "leaves_namespaces_to_charts"));
        assert!(differ.iter().all(|q| q.name != "images_of_volumes"), "both answer yes");
        let turned = differ.iter().fold(old, |turned, question| turned.with_answer_of(new, question));
        assert_eq!(turned.answers, new.answers);
    }
}
