//! [`Code`]: the kind of an error or a warning, as a word, each with a page that explains it.

use super::nearest;
use std::io;

/// The kind of a diagnostic, for programs and for `rustomize explain`. The command exits with 1 for
/// every error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The command line asks for something that does not exist or does not fit together.
    Usage,
    /// A file cannot be used as it is, and no other code says why.
    Input,
    /// The tool itself has a fault.
    Internal,
    /// A file or directory does not exist.
    MissingFile,
    /// A directory lacks a kustomization file, or has several.
    NoKustomization,
    /// The system does not allow to read or write a file.
    Permission,
    /// The system cannot read or write a file.
    Io,
    /// The thing to be added exists already.
    Exists,
    /// A text is not valid UTF-8.
    Encoding,
    /// A file, an output or a tree is larger than its limit.
    TooLarge,
    /// A path leads out of the directory that it must stay in.
    OutsideRoot,
    /// Kustomizations contain each other in a circle.
    Cycle,
    /// A file or object has another kind than its place asks for.
    WrongKind,
    /// A text is not valid YAML or JSON, or a tree cannot be written as such.
    NotYaml,
    /// A field does not exist.
    UnknownField,
    /// A field that is needed is missing or empty.
    MissingField,
    /// Two fields are given that exclude each other.
    ConflictingFields,
    /// A value has another type than its place asks for.
    WrongType,
    /// A value has the right type and is not one of the valid values.
    BadValue,
    /// A regular expression or a label selector is not valid.
    BadPattern,
    /// The path of a field is not valid.
    BadPath,
    /// A source of a generator is not valid.
    BadSource,
    /// A key is given twice.
    DuplicateKey,
    /// An object is not a Kubernetes resource: its kind or name is missing.
    NotAResource,
    /// Two resources, or two variables, have one id.
    DuplicateId,
    /// An entry is for resources that do not exist.
    NoMatch,
    /// An entry is for one resource, and several match.
    AmbiguousMatch,
    /// A resource does not have the field that an entry names.
    MissingPath,
    /// A patch is not valid.
    BadPatch,
    /// A `test` operation of a JSON patch found another value.
    TestFailed,
    /// An OpenAPI schema or a CustomResourceDefinition is not valid.
    BadSchema,
    /// The address of a remote part is not valid.
    BadReference,
    /// A remote part is not in the lock or the cache, and fetching it is not allowed.
    NotFetched,
    /// A remote part cannot be fetched.
    FetchFailed,
    /// A server does not have the file or version.
    Absent,
    /// Content differs from what was locked.
    Checksum,
    /// Content is refused because using it would be dangerous.
    Refused,
    /// A program or a server took longer than its limit.
    Timeout,
    /// A feature that runs programs is off unless a flag allows it.
    NotEnabled,
    /// A plugin, or a program that it needs, is not installed.
    PluginMissing,
    /// A plugin is refused.
    PluginRefused,
    /// The files of a plugin, or what they say, are not valid.
    BadPlugin,
    /// A plugin failed.
    PluginFailed,
    /// A plugin printed or changed something that it must not.
    BadOutput,
    /// Helm failed.
    HelmFailed,
    /// A plugin, or the choice of one, has something to say.
    PluginMessage,
    /// A field or flag still works and should be replaced by another one.
    Deprecated,
    /// An entry of a kustomization has changed nothing.
    NoEffect,
    /// A kind is a kind of Kubernetes in other upper and lower case letters.
    KindCase,
    /// A kustomization file has documents that kustomize does not read.
    ExtraDocument,
    /// A value in the `data` of a Secret is not base64.
    BadBase64,
    /// Kubernetes refuses the name or the namespace of a resource.
    BadName,
    /// The selector of a workload does not match the labels of its own pods.
    SelectorMismatch,
    /// A patch adds a field that the kind of its resource does not have.
    UnknownFieldInPatch,
    /// An operation of a JSON patch replaces or copies a field that is not there.
    NothingToReplace,
    /// A patch replaces a list although it seems to change some of its items.
    ListReplaced,
    /// A later stage of the same kustomization replaces the value that a patch sets.
    Overridden,
    /// A comment that allows a finding gives no reason, or names no known code.
    BadAllow,
    /// Kubernetes refuses the key or the value of a label, or the key of an annotation.
    BadLabel,
    /// A line of an env file is not `key=value` as kustomize reads it.
    EnvSyntax,
    /// A resource refers to an object or a key that does not exist.
    DanglingReference,
    /// The selector of a Service misses the pods that it is meant for.
    ServiceWithoutPods,
    /// A function is among the resources, where kustomize does not run it.
    FunctionSkipped,
    /// The output refers to a resource by a name that the resource no longer has.
    OldName,
    /// A reference to a variable stays in the output.
    VariableLeft,
    /// `namespace` gives a Namespace another name.
    NamespaceRenamed,
    /// A resource of a chart has no namespace, although its kustomization names one.
    ChartWithoutNamespace,
    /// A file has a secret in clear text.
    ClearTextSecret,
    /// The newest version of kustomize prints something else.
    Version,
    /// A resource has a field that its kind does not have.
    UnknownFieldOfKind,
    /// A field of a resource has a value of another type than its kind says.
    WrongTypeOfKind,
    /// A resource lacks a field that its kind requires.
    MissingFieldOfKind,
    /// A group of Kubernetes' own does not have the kind of a resource.
    UnknownKind,
    /// The API version of a resource is deprecated.
    DeprecatedApi,
    /// The API version of a resource was removed.
    RemovedApi,
    /// A field or flag does nothing.
    Unused,
    /// The merge of a patch loses a value of the patch, or an item that the patch does not name.
    LostInMerge,
    /// The `add` of a JSON patch replaces a list or mapping, and the output lacks parts of it.
    AddReplaces,
    /// An operation of a JSON patch lacks its value, or adds the key `-` to a mapping.
    BadOperation,
    /// A replacement whose source is a mapping or a list empties a text.
    EmptiedText,
    /// A patch deletes more resources than the one that it names.
    DeletesMore,
    /// A text in quotes that another tool replaces is printed without quotes.
    LostQuotes,
    /// An entry of `images` gives containers with different tags the same tag.
    DifferentTags,
    /// Nothing in the output refers to a generated ConfigMap or Secret.
    UnusedObject,
    /// A file has conflict markers of git.
    ConflictMarker,
    /// A field of a kustomization has a word that kustomize does not know.
    UnknownWord,
    /// A resource has no apiVersion.
    NoApiVersion,
    /// A resource has two fields of which its kind takes one.
    ConflictingFieldsOfKind,
    /// A cluster-scoped resource has a namespace.
    NeedlessNamespace,
    /// A value has quotes or spaces that look like those of YAML, and are none.
    LookAlike,
    /// A container has no image, or the name of its image is not valid.
    BadImage,
    /// Two containers or volumes of a pod have one name.
    DuplicateName,
    /// A Secret lacks a key that its type asks for.
    MissingKey,
    /// A value is a number, a boolean, a list or a mapping where Kubernetes takes a text alone.
    NotText,
    /// `namespace` moves a subject of a role binding out of another namespace.
    SubjectMoved,
    /// The chart in the chart home has another version than the entry names.
    ChartVersion,
    /// Labels of a kustomization change a selector that is for other pods.
    ForeignSelector,
    /// A variable of a container ends with a line break.
    LineBreak,
    /// Kubernetes refuses a key in the data of a ConfigMap or Secret.
    BadDataKey,
}

/// A code, its word, and its page: what it means, why, an example and the mend.
struct Row {
    code: Code,
    word: &'static str,
    page: &'static str,
}

/// The row of a code, whose word is the title of its page.
const fn row(code: Code, page: &'static str) -> Row {
    let (_, text) = page.split_at(TITLE.len());
    let mut end = 0;
    while text.as_bytes()[end] != b'\n' {
        end += 1;
    }
    Row { code, word: text.split_at(end).0, page }
}

/// The mark in front of the title of a page.
const TITLE: &str = "# ";

/// A row for each code, in the order of the enum.
const TABLE: &[Row] = &[
    row(Code::Usage, include_str!("codes/usage.md")),
    row(Code::Input, include_str!("codes/input.md")),
    row(Code::Internal, include_str!("codes/internal.md")),
    row(Code::MissingFile, include_str!("codes/missing-file.md")),
    row(Code::NoKustomization, include_str!("codes/no-kustomization.md")),
    row(Code::Permission, include_str!("codes/permission.md")),
    row(Code::Io, include_str!("codes/io.md")),
    row(Code::Exists, include_str!("codes/exists.md")),
    row(Code::Encoding, include_str!("codes/encoding.md")),
    row(Code::TooLarge, include_str!("codes/too-large.md")),
    row(Code::OutsideRoot, include_str!("codes/outside-root.md")),
    row(Code::Cycle, include_str!("codes/cycle.md")),
    row(Code::WrongKind, include_str!("codes/wrong-kind.md")),
    row(Code::NotYaml, include_str!("codes/not-yaml.md")),
    row(Code::UnknownField, include_str!("codes/unknown-field.md")),
    row(Code::MissingField, include_str!("codes/missing-field.md")),
    row(Code::ConflictingFields, include_str!("codes/conflicting-fields.md")),
    row(Code::WrongType, include_str!("codes/wrong-type.md")),
    row(Code::BadValue, include_str!("codes/bad-value.md")),
    row(Code::BadPattern, include_str!("codes/bad-pattern.md")),
    row(Code::BadPath, include_str!("codes/bad-path.md")),
    row(Code::BadSource, include_str!("codes/bad-source.md")),
    row(Code::DuplicateKey, include_str!("codes/duplicate-key.md")),
    row(Code::NotAResource, include_str!("codes/not-a-resource.md")),
    row(Code::DuplicateId, include_str!("codes/duplicate-id.md")),
    row(Code::NoMatch, include_str!("codes/no-match.md")),
    row(Code::AmbiguousMatch, include_str!("codes/ambiguous-match.md")),
    row(Code::MissingPath, include_str!("codes/missing-path.md")),
    row(Code::BadPatch, include_str!("codes/bad-patch.md")),
    row(Code::TestFailed, include_str!("codes/test-failed.md")),
    row(Code::BadSchema, include_str!("codes/bad-schema.md")),
    row(Code::BadReference, include_str!("codes/bad-reference.md")),
    row(Code::NotFetched, include_str!("codes/not-fetched.md")),
    row(Code::FetchFailed, include_str!("codes/fetch-failed.md")),
    row(Code::Absent, include_str!("codes/absent.md")),
    row(Code::Checksum, include_str!("codes/checksum.md")),
    row(Code::Refused, include_str!("codes/refused.md")),
    row(Code::Timeout, include_str!("codes/timeout.md")),
    row(Code::NotEnabled, include_str!("codes/not-enabled.md")),
    row(Code::PluginMissing, include_str!("codes/plugin-missing.md")),
    row(Code::PluginRefused, include_str!("codes/plugin-refused.md")),
    row(Code::BadPlugin, include_str!("codes/bad-plugin.md")),
    row(Code::PluginFailed, include_str!("codes/plugin-failed.md")),
    row(Code::BadOutput, include_str!("codes/bad-output.md")),
    row(Code::HelmFailed, include_str!("codes/helm-failed.md")),
    row(Code::PluginMessage, include_str!("codes/plugin-message.md")),
    row(Code::Deprecated, include_str!("codes/deprecated.md")),
    row(Code::NoEffect, include_str!("codes/no-effect.md")),
    row(Code::KindCase, include_str!("codes/kind-case.md")),
    row(Code::ExtraDocument, include_str!("codes/extra-document.md")),
    row(Code::BadBase64, include_str!("codes/bad-base64.md")),
    row(Code::BadName, include_str!("codes/bad-name.md")),
    row(Code::SelectorMismatch, include_str!("codes/selector-mismatch.md")),
    row(Code::UnknownFieldInPatch, include_str!("codes/unknown-field-in-patch.md")),
    row(Code::NothingToReplace, include_str!("codes/nothing-to-replace.md")),
    row(Code::ListReplaced, include_str!("codes/list-replaced.md")),
    row(Code::Overridden, include_str!("codes/overridden.md")),
    row(Code::BadAllow, include_str!("codes/bad-allow.md")),
    row(Code::BadLabel, include_str!("codes/bad-label.md")),
    row(Code::EnvSyntax, include_str!("codes/env-syntax.md")),
    row(Code::DanglingReference, include_str!("codes/dangling-reference.md")),
    row(Code::ServiceWithoutPods, include_str!("codes/service-without-pods.md")),
    row(Code::FunctionSkipped, include_str!("codes/function-skipped.md")),
    row(Code::OldName, include_str!("codes/old-name.md")),
    row(Code::VariableLeft, include_str!("codes/variable-left.md")),
    row(Code::NamespaceRenamed, include_str!("codes/namespace-renamed.md")),
    row(Code::ChartWithoutNamespace, include_str!("codes/chart-without-namespace.md")),
    row(Code::ClearTextSecret, include_str!("codes/clear-text-secret.md")),
    row(Code::Version, include_str!("codes/version.md")),
    row(Code::UnknownFieldOfKind, include_str!("codes/unknown-field-of-kind.md")),
    row(Code::WrongTypeOfKind, include_str!("codes/wrong-type-of-kind.md")),
    row(Code::MissingFieldOfKind, include_str!("codes/missing-field-of-kind.md")),
    row(Code::UnknownKind, include_str!("codes/unknown-kind.md")),
    row(Code::DeprecatedApi, include_str!("codes/deprecated-api.md")),
    row(Code::RemovedApi, include_str!("codes/removed-api.md")),
    row(Code::Unused, include_str!("codes/unused.md")),
    row(Code::LostInMerge, include_str!("codes/lost-in-merge.md")),
    row(Code::AddReplaces, include_str!("codes/add-replaces.md")),
    row(Code::BadOperation, include_str!("codes/bad-operation.md")),
    row(Code::EmptiedText, include_str!("codes/emptied-text.md")),
    row(Code::DeletesMore, include_str!("codes/deletes-more.md")),
    row(Code::LostQuotes, include_str!("codes/lost-quotes.md")),
    row(Code::DifferentTags, include_str!("codes/different-tags.md")),
    row(Code::UnusedObject, include_str!("codes/unused-object.md")),
    row(Code::ConflictMarker, include_str!("codes/conflict-marker.md")),
    row(Code::UnknownWord, include_str!("codes/unknown-word.md")),
    row(Code::NoApiVersion, include_str!("codes/no-api-version.md")),
    row(Code::ConflictingFieldsOfKind, include_str!("codes/conflicting-fields-of-kind.md")),
    row(Code::NeedlessNamespace, include_str!("codes/needless-namespace.md")),
    row(Code::LookAlike, include_str!("codes/look-alike.md")),
    row(Code::BadImage, include_str!("codes/bad-image.md")),
    row(Code::DuplicateName, include_str!("codes/duplicate-name.md")),
    row(Code::MissingKey, include_str!("codes/missing-key.md")),
    row(Code::NotText, include_str!("codes/not-text.md")),
    row(Code::SubjectMoved, include_str!("codes/subject-moved.md")),
    row(Code::ChartVersion, include_str!("codes/chart-version.md")),
    row(Code::ForeignSelector, include_str!("codes/foreign-selector.md")),
    row(Code::LineBreak, include_str!("codes/line-break.md")),
    row(Code::BadDataKey, include_str!("codes/bad-data-key.md")),
];

impl Code {
    /// The codes of findings, which [`crate::Options::lint`] asks for.
    pub const FINDINGS: &'static [Code] = &[
        Code::AddReplaces,
        Code::BadAllow,
        Code::BadBase64,
        Code::BadDataKey,
        Code::BadImage,
        Code::BadLabel,
        Code::BadName,
        Code::BadOperation,
        Code::BadSchema,
        Code::ChartVersion,
        Code::ChartWithoutNamespace,
        Code::ClearTextSecret,
        Code::ConflictMarker,
        Code::DanglingReference,
        Code::DeletesMore,
        Code::Deprecated,
        Code::DifferentTags,
        Code::DuplicateKey,
        Code::DuplicateName,
        Code::EmptiedText,
        Code::EnvSyntax,
        Code::ExtraDocument,
        Code::ForeignSelector,
        Code::FunctionSkipped,
        Code::KindCase,
        Code::LineBreak,
        Code::ListReplaced,
        Code::LookAlike,
        Code::LostInMerge,
        Code::LostQuotes,
        Code::MissingKey,
        Code::NamespaceRenamed,
        Code::NoApiVersion,
        Code::NoEffect,
        Code::NotText,
        Code::NothingToReplace,
        Code::OldName,
        Code::Overridden,
        Code::SelectorMismatch,
        Code::ServiceWithoutPods,
        Code::SubjectMoved,
        Code::UnknownField,
        Code::UnknownFieldInPatch,
        Code::UnknownKind,
        Code::UnknownWord,
        Code::Unused,
        Code::UnusedObject,
        Code::VariableLeft,
        Code::Version,
    ];

    /// The codes of findings that only a check against schemas has.
    pub const OF_SCHEMAS: &'static [Code] = &[
        Code::ConflictingFieldsOfKind,
        Code::DeprecatedApi,
        Code::MissingFieldOfKind,
        Code::NeedlessNamespace,
        Code::RemovedApi,
        Code::UnknownFieldOfKind,
        Code::WrongTypeOfKind,
    ];

    /// The codes of findings that only [`crate::Options::lint_also`] asks for.
    pub const OFF_BY_DEFAULT: &'static [Code] = &[Code::ClearTextSecret, Code::Version];

    /// All codes, in the order in which lists show them.
    pub fn all() -> impl Iterator<Item = Code> {
        TABLE.iter().map(|row| row.code)
    }

    /// The word for the code, which stays the same from version to version.
    pub fn as_str(self) -> &'static str {
        self.row().word
    }

    /// The page that explains the code, as Markdown.
    pub fn page(self) -> &'static str {
        self.row().page
    }

    /// The meaning of the code, in one sentence: the first paragraph of its page.
    pub fn meaning(self) -> &'static str {
        self.page().split("\n\n").nth(1).unwrap_or_default()
    }

    /// The code that has a word.
    pub fn from_word(word: &str) -> Option<Code> {
        TABLE.iter().find(|row| row.word == word).map(|row| row.code)
    }

    /// The code of a finding, with or without schemas, that has a word.
    ///
    /// # Errors
    /// No such code has it: a hint.
    pub fn finding(word: &str) -> Result<Code, String> {
        let codes = || Code::FINDINGS.iter().chain(Code::OF_SCHEMAS);
        codes().copied().find(|code| code.as_str() == word).ok_or_else(|| {
            match nearest(word, codes().map(|code| code.as_str())) {
                Some(near) => format!("did you mean '{near}'?"),
                None => "see all codes with: rustomize explain --list".to_owned(),
            }
        })
    }

    /// The code whose word a mistyped one most likely stands for.
    pub fn nearest(typed: &str) -> Option<Code> {
        nearest(typed, TABLE.iter().map(|row| row.word)).and_then(Code::from_word)
    }

    /// The code for a fault that the system has reported.
    pub fn of(fault: &io::Error) -> Code {
        match fault.kind() {
            io::ErrorKind::NotFound => Code::MissingFile,
            io::ErrorKind::PermissionDenied => Code::Permission,
            io::ErrorKind::AlreadyExists => Code::Exists,
            io::ErrorKind::InvalidData => Code::Encoding,
            io::ErrorKind::FileTooLarge | io::ErrorKind::OutOfMemory => Code::TooLarge,
            io::ErrorKind::TimedOut => Code::Timeout,
            _ => Code::Io,
        }
    }

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_each_code_at_its_place() {
        for (i, row) in TABLE.iter().enumerate() {
            assert_eq!(row.code as usize, i, "{}", row.word);
            assert!(row.page.starts_with(TITLE), "the page of {}", row.word);
            let is_of_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(!row.word.is_empty() && row.word.chars().all(is_of_word), "the title {}", row.word);
            assert_eq!(Code::from_word(row.word), Some(row.code));
        }
        assert_eq!(Code::BadDataKey as usize + 1, TABLE.len(), "the last code");
    }
}
