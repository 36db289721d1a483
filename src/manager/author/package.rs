//! [`package`]: the files of a release of a plugin, in the form that installing from a release
//! reads: an archive for each platform, the sums of all archives, and a signature of each file if
//! there is a key.
//!
//! A package is held to the same rules as an installation: each archive is unpacked by the code
//! that installs it, before anything is written. Archives have sorted entries and no times, owners
//! or other permissions than whether a file runs, so the same input gives the same bytes.

use super::describe::Description;
use super::manifest::{Manifest, Runtime};
use super::sign::SigningKey;
use super::source::{Found, find, missing};
use crate::diag::{Code, Error, Result};
use crate::fetch::FetchLimits;
use crate::fetch::archive::unpack;
use crate::id::content;
use crate::id::location::Location;
use crate::id::name::{FileName, PREFIX, Platform};
use crate::id::source::{Source, SourceError};
use crate::id::statement::Statement;
use crate::id::version::{ApiVersion, HOST_API, Version};
use crate::load::FileLimit;
use flate2::{Compression, GzBuilder};
use rustomize_files::Place;
use rustomize_files::atomic;
use rustomize_plugins::PluginOptions;
use rustomize_plugins::failure::bad_plugin;
use rustomize_process::Launch;
use rustomize_sources::ReadFile;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The end of the name of the file with the sums of all archives.
const SUMS: &str = "_SHA256SUMS";

/// The code of an unknown operating system in gzip.
const ANY_SYSTEM: u8 = 255;

/// Options of a package.
pub struct PackageOptions<'w> {
    /// The place of the plugin, as [`find`] takes it.
    pub what: &'w Path,
    /// Asks the plugin in a directory for its description.
    pub describe: &'w dyn Fn(&Manifest, &Path) -> Result<Description>,
    /// The plugin's name, where its manifest does not say it.
    pub name: Option<&'w str>,
    /// Executables, shared objects or directories of a bundle, for certain platforms.
    pub files: &'w [(Platform, PathBuf)],
    /// The directory for the files; it is created if it is missing.
    pub out: &'w Path,
    /// The key that signs the files.
    pub key: Option<&'w SigningKey>,
    /// The source that the signatures name.
    pub source: Option<&'w Source>,
}

/// A plugin that is ready to be packaged.
struct Subject {
    name: String,
    version: Version,
    api: ApiVersion,
    /// The files of an archive, by its platform: names, and paths on the disk.
    contents: Vec<(Platform, BTreeMap<String, PathBuf>)>,
}

fn cannot(action: &str, path: &Path) -> impl Fn(io::Error) -> Error {
    let what = format!("cannot {action} '{}'", path.display());
    move |e| Error::io(&e, format!("{what}: {e}"))
}

/// Writes the files of a release, and gives their paths. Until all is ready nothing is written, and
/// the sums are written last.
///
/// # Errors
/// The plugin could not be installed, or the files cannot be written.
pub fn package(wanted: &PackageOptions<'_>, options: &PluginOptions) -> Result<Vec<PathBuf>> {
    let subject = match find(wanted.what) {
        Some(Found::Directory(directory)) => {
            check_outside(&directory, wanted)?;
            of_directory(&directory, wanted)?
        }
        Some(Found::Executable(file)) => of_executables(Some(&file), wanted, options)?,
        None => of_executables(None, wanted, options)?,
    };
    if !subject.version.is_final() {
        let message = format!("v{} is not a release: nobody would install it from there", subject.version);
        return Err(bad_plugin(message).hint("give it a version as in 1.2.3"));
    }
    if wanted.key.is_some() && wanted.source.is_none() {
        let message = "a signature names the source under which the plugin is installed";
        return Err(Error::new(Code::Usage, message).hint(format!("say it: --source github.com/acme/{}", subject.name)));
    }
    if let Some(source) = wanted.source.filter(|source| source.name() != subject.name) {
        let message = format!("the source '{source}' is not one of the plugin '{}'", subject.name);
        return Err(Error::new(Code::Usage, message).hint("the last part of a source is the plugin's name"));
    }
    let mut files: Vec<ReleaseFile> = Vec::new();
    for (platform, content) in &subject.contents {
        let Subject { name, version, api, .. } = &subject;
        let file = FileName { name: name.clone(), version: version.clone(), api: *api, platform: platform.clone() };
        let archive = format!("{}.tar.gz", file.to_string().trim_end_matches(".exe"));
        let bytes = tar_gz(content)?;
        check_installs(&archive, &bytes, content)?;
        let sum = content::sha256(&bytes[..]).map_err(|e| bad_plugin(e.to_string()))?;
        let statement = |source: &Source| {
            let (source, version) = (source.clone(), version.clone());
            Statement { source, version, platform: platform.to_string(), sum: sum.clone() }.to_string()
        };
        let comment = wanted.source.map_or_else(String::new, statement);
        files.push(ReleaseFile { name: archive, bytes, sum, comment });
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    let sums: String = files.iter().map(|file| format!("{}  {}\n", file.sum, file.name)).collect();
    let name = format!("{PREFIX}{}_v{}{SUMS}", subject.name, subject.version);
    let comment = format!("file:{name}");
    files.push(ReleaseFile { name, bytes: sums.into_bytes(), sum: String::new(), comment });
    write(wanted, files)
}

/// A file of a release.
struct ReleaseFile {
    name: String,
    bytes: Vec<u8>,
    /// The SHA-256 of an archive.
    sum: String,
    /// The trusted comment of its signature: for an archive the statement which plugin it is.
    comment: String,
}

/// Refuses to package the files that packaging writes, and the key.
fn check_outside(directory: &Path, wanted: &PackageOptions<'_>) -> Result<()> {
    let real = |path: &Path| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let known = path.ancestors().find_map(|above| Some((above, dunce::canonicalize(above).ok()?)));
        known.and_then(|(above, real)| Some(real.join(path.strip_prefix(above).ok()?))).unwrap_or(path)
    };
    let directory = real(directory);
    if real(wanted.out).starts_with(&directory) {
        let message = format!("'{}' is in the directory that is packaged", wanted.out.display());
        return Err(Error::new(Code::Usage, message).hint("write the files elsewhere: -o ../dist"));
    }
    match wanted.key.filter(|key| real(&key.path).starts_with(&directory)) {
        Some(key) => {
            let message = format!("the key '{}' is in the directory that is packaged", key.path.display());
            Err(Error::new(Code::Usage, message).hint("keep it elsewhere: everybody would get it"))
        }
        None => Ok(()),
    }
}

/// The name of a plugin, held to what a source may end in.
fn checked_name(name: &str) -> Result<String> {
    let source = format!("example.com/team/{name}").parse::<Source>();
    let hint = match source {
        Ok(source) if source.name() == name => return Ok(name.to_owned()),
        Err(SourceError::Prefixed(raw)) => format!("the prefix goes without saying: --name {raw}"),
        _ => "say it: --name team-label".to_owned(),
    };
    Err(Error::new(Code::Usage, format!("'{name}' is not a name for a plugin")).hint(hint))
}

fn of_directory(directory: &Path, wanted: &PackageOptions<'_>) -> Result<Subject> {
    let shown = directory.display();
    let manifest = Manifest::read(directory)?;
    let own = dunce::canonicalize(directory).map_err(cannot("read", directory))?;
    let folder = || own.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = match (manifest.name.as_str(), wanted.name) {
        ("", None) => folder(),
        ("", Some(name)) => name.to_owned(),
        (known, Some(name)) if name != known => {
            return Err(Error::new(Code::Usage, format!("plugin.yaml says that it is '{known}', not '{name}'")));
        }
        (known, _) => known.to_owned(),
    };
    // A dependency of an archive cannot be at a path of this machine.
    let is_here = |location: &Location| match location {
        Location::Local(_) => true,
        Location::Git(spec) => spec.is_of_this_machine(),
        _ => false,
    };
    if let Some(need) = manifest.dependencies.iter().find(|need| need.location().is_ok_and(|at| is_here(&at))) {
        let message = format!("it needs '{}' from '{}', a place of this machine", need.name, need.from);
        return Err(bad_plugin(message).at(need.place.clone()).hint("say where that is released"));
    }
    let version = match (&manifest.version, manifest.says_what()) {
        (Some(version), true) => version.clone(),
        (version, says_what) => {
            let said = || (wanted.describe)(&manifest, &own).map_err(|e| e.context(format!("packaging '{shown}'")));
            match version {
                Some(version) => {
                    said()?.check(version, manifest.api).map_err(|e| bad_plugin(format!("'{shown}': {e}")))?;
                    version.clone()
                }
                None if says_what => {
                    return Err(bad_plugin(format!("'{shown}' says no version"))
                        .hint("put 'version: 1.2.3' into its plugin.yaml"));
                }
                None => version_of(&shown.to_string(), &said()?)?,
            }
        }
    };
    let files: BTreeMap<String, PathBuf> =
        content::files(&own).map_err(cannot("read", directory))?.into_iter().collect();
    let mut contents = vec![(manifest.platform.clone(), files.clone())];
    let entry = manifest.entry.trim_start_matches("./").to_owned();
    for (platform, file) in wanted.files {
        if manifest.is_bundle() {
            contents.retain(|(known, _)| known != platform);
            contents.push((platform.clone(), of_platform(file, &manifest)?));
            continue;
        }
        if manifest.runtime != Runtime::SharedObject {
            let message = format!("'{shown}' is for every platform: '{}' runs it", manifest.runtime.name());
            return Err(Error::new(Code::Usage, message).hint("leave --platform away"));
        }
        let mut own = files.clone();
        own.insert(entry.clone(), file.clone());
        contents.retain(|(known, _)| known != platform);
        contents.push((platform.clone(), own));
    }
    manifest.check_entry(&own).map_err(|e| e.context(format!("packaging '{shown}'")))?;
    Ok(Subject { name: checked_name(&name)?, version, api: manifest.api, contents })
}

/// The files of a bundle's directory for another platform.
fn of_platform(directory: &Path, own: &Manifest) -> Result<BTreeMap<String, PathBuf>> {
    let other = Manifest::read(directory)?;
    if (&other.name, &other.version, other.is_bundle()) != (&own.name, &own.version, true) {
        let message = format!("'{}' is not the same version of the same bundle", directory.display());
        let hint = "its plugin.yaml has the same name and version: --platform linux_arm64=DIR";
        return Err(Error::new(Code::Usage, message).hint(hint));
    }
    Ok(content::files(directory).map_err(cannot("read", directory))?.into_iter().collect())
}

fn version_of(shown: &str, said: &Description) -> Result<Version> {
    if said.version.is_empty() {
        return Err(
            bad_plugin(format!("'{shown}' says no version")).hint("'describe' prints it as in \"version\": \"1.2.3\"")
        );
    }
    said.version
        .parse()
        .map_err(|e: crate::id::version::VersionError| bad_plugin(format!("'{shown}' says of its version: {e}")))
}

/// A compiled plugin: the executable for this machine, unless `wanted` names it, and those for
/// other platforms.
fn of_executables(file: Option<&Path>, wanted: &PackageOptions<'_>, options: &PluginOptions) -> Result<Subject> {
    let host = Platform::host();
    let mut files: BTreeMap<Platform, PathBuf> = wanted.files.iter().cloned().collect();
    if let Some(file) = file {
        files.insert(host.clone(), file.to_owned());
    } else if files.is_empty() {
        return Err(missing(wanted.what, ", or --platform OS_ARCH=FILE"));
    }
    // Only the one for this machine can say what all of them are.
    let Some(own) = files.get(&host) else {
        let message = format!("there is no executable for this machine ({host}), which says which version it is");
        return Err(Error::new(Code::Usage, message).hint(format!("name it too: --platform {host}=FILE")));
    };
    let real = dunce::canonicalize(own).map_err(cannot("read", own))?;
    let said = Description::ask(Launch::new(&real), options).map_err(|e| {
        bad_plugin(format!("'{}' does not say what it is: {e}", own.display()))
            .hint("run with the argument 'describe' it prints one JSON object")
    })?;
    let version = version_of(&own.display().to_string(), &said)?;
    let api: ApiVersion =
        if said.api_version.is_empty() { HOST_API } else { said.api_version.parse().unwrap_or(HOST_API) };
    said.check(&version, api).map_err(|e| bad_plugin(format!("'{}': {e}", own.display())))?;
    if said.components().next().is_none() {
        return Err(bad_plugin(format!("'{}' says nothing of what it does", own.display())).hint(
            "'describe' prints it as in \"generators\": [{\"apiVersion\": \"example.com/v1\", \"kind\": \"Made\"}]",
        ));
    }
    let stem = file.and_then(Path::file_stem).map(Path::new);
    let folder = || Some(dunce::canonicalize(wanted.what).ok()?.file_name()?.to_string_lossy().into_owned());
    let name = match (wanted.name, stem) {
        (Some(name), _) => name.to_owned(),
        (None, Some(stem)) => stem.display().to_string(),
        (None, None) => folder().unwrap_or_default(),
    };
    let name = checked_name(&name)?;
    let contents = files.into_iter().map(|(platform, file)| {
        let name = FileName { name: name.clone(), version: version.clone(), api, platform: platform.clone() };
        (platform, BTreeMap::from([(name.to_string(), file)]))
    });
    Ok(Subject { contents: contents.collect(), name, version, api })
}

/// An archive of files: sorted, without times and owners.
fn tar_gz(files: &BTreeMap<String, PathBuf>) -> Result<Vec<u8>> {
    let gzip = GzBuilder::new().mtime(0).operating_system(ANY_SYSTEM).write(Vec::new(), Compression::best());
    let mut archive = tar::Builder::new(gzip);
    let limit = FileLimit(FetchLimits::default().size);
    for (name, path) in files {
        if !path.is_file() {
            return Err(Error::new(Code::MissingFile, format!("'{}' is not a file", path.display())));
        }
        let bytes = limit.read(path).map_err(cannot("read", path))?;
        // A single file is the program itself, whatever its permissions here.
        let runs = files.len() == 1
            || File::open(path).and_then(|file| content::counts_as_executable(&file)).map_err(cannot("read", path))?;
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(if runs { 0o755 } else { 0o644 });
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        archive.append_data(&mut header, name, &bytes[..]).map_err(cannot("package", path))?;
    }
    let finish = || archive.into_inner()?.finish();
    finish().map_err(|e| bad_plugin(format!("cannot make the archive: {e}")))
}

/// Unpacks an archive as installing does, and compares the result with the original files.
fn check_installs(name: &str, bytes: &[u8], files: &BTreeMap<String, PathBuf>) -> Result<()> {
    let made = tempfile::Builder::new().prefix(atomic::PREFIX).tempdir();
    let into = made.map_err(|e| bad_plugin(format!("cannot make a temporary directory: {e}")))?;
    unpack(name, bytes, name, into.path()).map_err(|e| e.context("checking that the package can be installed"))?;
    for (name, path) in files {
        let sum = |path: &Path| content::sha256(File::open(path)?);
        let same = || Ok::<bool, io::Error>(sum(&into.path().join(name))? == sum(path)?);
        if !same().map_err(cannot("read", path))? {
            return Err(bad_plugin(format!("'{}' changed while it was packaged", path.display())));
        }
    }
    match Manifest::is_in(into.path()) {
        true => Manifest::read(into.path()).map(drop),
        false => Ok(()),
    }
}

/// Writes the files of a package, the sums last.
fn write(wanted: &PackageOptions<'_>, release: Vec<ReleaseFile>) -> Result<Vec<PathBuf>> {
    let out = wanted.out;
    let mut signatures = Vec::new();
    if let Some(key) = wanted.key {
        for ReleaseFile { name, bytes, comment, .. } in &release {
            let signature = format!("{name}.minisig");
            let existing = fs::read_to_string(out.join(&signature)).ok();
            signatures.push((signature, key.sign(name, bytes, comment, existing.as_deref())?.into_bytes()));
        }
    }
    let mut files: Vec<(String, Vec<u8>)> = release.into_iter().map(|file| (file.name, file.bytes)).collect();
    if !signatures.is_empty() {
        // Before the sums, which say that all is complete.
        let sums = files.pop();
        files.extend(signatures);
        files.extend(sums);
    }
    // Beside their place first, so that a disk that is full leaves nothing.
    let mut staged = Vec::new();
    for (name, bytes) in &files {
        let path = out.join(name);
        let stage = || {
            let place = Place::made(&path)?;
            place.facts()?;
            let mut staged = place.stage()?;
            staged.write_all(bytes)?;
            staged.sync_all()?;
            Ok((staged, place))
        };
        staged.push((stage().map_err(cannot("write", &path))?, path));
    }
    // Old sums would be those of other files.
    if let Some((_, sums)) = staged.last() {
        match fs::remove_file(sums) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(cannot("write", sums)(e)),
            _ => {}
        }
    }
    let mut written = Vec::new();
    for ((staged, place), path) in staged {
        place.put(staged, 0o644).map_err(cannot("write", &path))?;
        written.push(path);
    }
    written.sort();
    Ok(written)
}
