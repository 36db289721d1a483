//! [`Record`]: the identity of an installed plugin, in a file beside it.

use super::sibling_files::sum_name;
use crate::fetch::origin::Origin;
use crate::id::name::{IDENTITY_SUFFIX, ORIGIN_SUFFIX, SIGNED_SUFFIX};
use crate::id::source::Source;
use crate::id::version::Version;
use rustomize_files::{self as files, RECORD};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// Who asked for an installed plugin. An object for which no file requires a plugin finds only the
/// plugins that the user asked for by name: those of another project or plugin are theirs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AskedBy {
    /// The user, with `plugin install SOURCE`.
    #[default]
    User,
    /// A `plugins.yaml`.
    Project,
    /// Another plugin, which depends on it.
    Plugin,
}

/// What is known of an installed plugin beside its name and its sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub origin: Origin,
    /// The part of its place that trust rules do not see, as in
    /// [`PluginId`](crate::fetch::identity::PluginId).
    pub within: String,
    /// The key that signed it, where a signature was required.
    pub signer: Option<String>,
    pub asked_by: AskedBy,
    /// `None` for a plugin that another program, or an older version of this one, put there.
    pub download: Option<RecordedDownload>,
}

/// The download that an installed plugin was unpacked from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordedDownload {
    /// `<os>_<arch>`, or `any_any`.
    pub platform: String,
    pub url: String,
    pub size: u64,
    /// The SHA-256 of the bytes behind the URL; none of a directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<String>,
}

/// The text of the file: the record, and the values of the file's name and sum again, so that the
/// record of another plugin is not taken for this one's.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RawRecord {
    source: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    origin: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    within: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signer: Option<String>,
    version: String,
    sum: String,
    asked_by: AskedBy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    download: Option<RecordedDownload>,
}

impl Record {
    /// The text of the file for the content `sum` of a version of a source.
    pub fn text(&self, source: &Source, version: &Version, sum: &str) -> String {
        let origin = match &self.origin {
            Origin::Own => String::new(),
            Origin::Elsewhere(place) => place.clone(),
        };
        let raw = RawRecord {
            source: source.to_string(),
            origin,
            within: self.within.clone(),
            signer: self.signer.clone(),
            version: version.to_string(),
            sum: sum.to_owned(),
            asked_by: self.asked_by,
            download: self.download.clone(),
        };
        serde_json::to_string_pretty(&raw).unwrap_or_default() + "\n"
    }

    /// Reads the record beside a plugin. Without one, the files of an older version of this program
    /// say the origin and the signer; without those too, the plugin is from the place that its
    /// source names.
    ///
    /// # Errors
    /// The file cannot be read, or is the record of another plugin: why.
    pub fn read(plugin: &Path, source: &Source, version: &Version, sum: &str) -> Result<Record, String> {
        let path = sum_name(plugin, IDENTITY_SUFFIX);
        let text = match files::read_text(&path, RECORD) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Record::before(plugin)),
            Err(e) => return Err(format!("'{}' cannot be read: {e}", path.display())),
        };
        Record::parse(&text, source, version, sum).map_err(|why| format!("'{}' is {why}", path.display()))
    }

    /// Reads the text of a record of the content `sum` of a version of a source.
    ///
    /// # Errors
    /// The record is malformed, or that of another plugin: the error is its fault in words.
    pub fn parse(text: &str, source: &Source, version: &Version, sum: &str) -> Result<Record, String> {
        let raw: RawRecord = serde_json::from_str(text).map_err(|e| format!("malformed: {e}"))?;
        if (&raw.source, &raw.version) != (&source.to_string(), &version.to_string()) {
            return Err(format!("the record of {} v{}", raw.source, raw.version));
        }
        let origin = if raw.origin.is_empty() { Origin::Own } else { Origin::Elsewhere(raw.origin) };
        // Other content than was recorded was neither signed nor downloaded.
        let is_same = raw.sum == sum;
        let (signer, download) = (raw.signer.filter(|_| is_same), raw.download.filter(|_| is_same));
        Ok(Record { origin, within: raw.within, signer, asked_by: raw.asked_by, download })
    }

    /// The place that the files beside a plugin say, as [`Record::origin`] and [`Record::within`],
    /// whatever its content; `None` if none of them says one.
    pub fn place_beside(plugin: &Path) -> Option<(Origin, String)> {
        let place = |text: String| if text.is_empty() { Origin::Own } else { Origin::Elsewhere(text) };
        match files::read_text(&sum_name(plugin, IDENTITY_SUFFIX), RECORD) {
            Ok(text) => {
                // A malformed record is one of no known place.
                let raw: Option<RawRecord> = serde_json::from_str(&text).ok();
                let unknown = || (Origin::Elsewhere(String::new()), String::new());
                Some(raw.map_or_else(unknown, |raw| (place(raw.origin), raw.within)))
            }
            Err(_) => match Record::before(plugin).origin {
                Origin::Own => None,
                elsewhere => Some((elsewhere, String::new())),
            },
        }
    }

    /// The record of a plugin that an older version of this program installed.
    fn before(plugin: &Path) -> Record {
        let origin = match files::read_text(&sum_name(plugin, ORIGIN_SUFFIX), RECORD) {
            Ok(text) => Origin::Elsewhere(text.trim_end().to_owned()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Origin::Own,
            // A file that cannot be read says no known place.
            Err(_) => Origin::Elsewhere(String::new()),
        };
        let signer = files::read_text(&sum_name(plugin, SIGNED_SUFFIX), RECORD).ok();
        let signer = signer.map(|key| key.trim_end().to_owned());
        Record { origin, within: String::new(), signer, asked_by: AskedBy::User, download: None }
    }
}
