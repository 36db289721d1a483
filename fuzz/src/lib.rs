//! The targets of the fuzzer. Each is a function that takes any bytes, returns whatever they are,
//! and panics where a promise is broken. `seeds` writes what each begins with; `fuzz/run` runs
//! them.

pub mod txtar;

use rustomize::load::{Memory, RemoteOptions, RepoSpec};
use rustomize::tree::{Heap, documents};
use rustomize::{Options, Workspace, build};
use rustomize_engine::merge;
use rustomize_engine::schema::Schemas;
use rustomize_engine::stage::{Build, Context, wire};
use rustomize_go_regexp::GoRegex;
use rustomize_manager::author::conform::conform;
use rustomize_manager::author::describe::Description;
use rustomize_manager::author::manifest::Manifest;
use rustomize_manager::author::schema::Schema;
use rustomize_manager::fetch::archive::unpack;
use rustomize_manager::fetch::origin::Origin;
use rustomize_manager::id::location::Location;
use rustomize_manager::id::name::{FileName, Platform};
use rustomize_manager::id::pattern::SourcePattern;
use rustomize_manager::id::source::Source;
use rustomize_manager::id::statement::Statement;
use rustomize_manager::id::version::{Constraint, Version};
use rustomize_manager::install::pinned;
use rustomize_manager::policy::amend::Amendment;
use rustomize_manager::policy::image::Image;
use rustomize_manager::policy::lock::Lock;
use rustomize_manager::policy::requirements::{self, Requirements};
use rustomize_manager::policy::trust::Trust;
use rustomize_manager::share::mounts::MountedFile;
use rustomize_manager::share::placement::lay;
use rustomize_manager::store::record::Record;
use rustomize_plugin_abi::frame::Frame;
use rustomize_plugins::permissions::Permissions;
use rustomize_sources::git_command::GitCommand;
use rustomize_sources::lock::RemoteLock;
use rustomize_yaml::emit;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, mpsc};
use tempfile::TempDir;

/// Parts of an input that has several, such as a resource and a patch.
pub const BETWEEN: &str = "\n=====\n";

fn text(input: &[u8]) -> Option<&str> {
    std::str::from_utf8(input).ok()
}

/// Documents: what is printed reads and prints the same again.
pub fn reader(input: &[u8]) {
    let Some(text) = text(input) else { return };
    let heap = Heap::new();
    let arena = heap.arena();
    let source = arena.add_source("input", text.to_owned());
    let Ok(nodes) = documents(arena, source) else { return };
    for node in nodes {
        let mut once = String::new();
        let most = emit::most_bytes(&node);
        if emit::document(&mut once, &node).is_err() {
            assert_eq!(most, None);
            continue;
        }
        assert!(most.is_none_or(|most| once.len() <= most));
        let printed = arena.add_source("printed", once.clone());
        let again = documents(arena, printed).expect("what was printed reads");
        let mut twice = String::new();
        for node in &again {
            emit::document(&mut twice, node).expect("what was read prints");
        }
        assert_eq!(once, twice);
    }
}

/// Resources and patches: a strategic merge returns.
pub fn patch(input: &[u8]) {
    let Some((base, patch)) = text(input).and_then(|text| text.split_once(BETWEEN)) else { return };
    let (heap, schemas) = (Heap::new(), Schemas::default());
    let arena = heap.arena();
    let base = arena.add_source("base", base.to_owned());
    let patch = arena.add_source("patch", patch.to_owned());
    if let (Ok(base), Ok(patch)) = (documents(arena, base), documents(arena, patch)) {
        for mut base in base {
            // A build ends with the first patch that fails.
            let _ = patch.iter().try_for_each(|patch| merge::apply(&mut base, patch.clone(), &schemas, None).map(drop));
        }
    }
}

/// The files of a root, as txtar: a build returns, and so does one of its output. Nothing runs and
/// nothing is fetched.
pub fn tree(input: &[u8]) {
    let Some(text) = text(input) else { return };
    if let Some(printed) = built(&Memory::from_iter(txtar::files(text))) {
        let again = [("kustomization.yaml", "resources: [printed.yaml]\n"), ("printed.yaml", &*printed)];
        let _ = built(&Memory::from_iter(again));
    }
}

fn built(files: &Memory) -> Option<String> {
    let mut options = Options::default();
    options.remote = Arc::new(RemoteOptions { offline: true, ..RemoteOptions::default() });
    let workspace = Workspace::new();
    let output = build(&workspace, files, "/", &options).value.ok()?;
    output.print().ok()
}

/// A pattern and a text to match, in two lines: matching returns.
pub fn pattern(input: &[u8]) {
    let Some((pattern, subject)) = text(input).and_then(|text| text.split_once('\n')) else { return };
    if let Ok(pattern) = GoRegex::new(pattern) {
        pattern.is_match(subject);
    }
}

/// A name of something elsewhere: a text is canonical or refused, none becomes an option of git,
/// and no place leaves its directory.
pub fn reference(input: &[u8]) {
    let Some(text) = text(input) else { return };
    if let Some(spec) = RepoSpec::parse(text) {
        assert!(Path::new(&spec.path).components().all(|c| matches!(c, Component::Normal(_))), "{spec:?}");
        let words = [spec.url.as_str(), spec.reference.as_str()];
        if let Ok(arguments) = GitCommand::new("fetch", &[]).with_words(&words).arguments() {
            for argument in arguments {
                let argument = argument.to_str().expect("made of texts");
                assert!(!argument.starts_with('-') && !argument.contains(char::is_control), "{argument:?}");
            }
        }
    }
    if let Ok(source) = text.parse::<Source>() {
        assert_eq!(source.to_string(), text);
        assert!(source.directory().components().all(|c| matches!(c, Component::Normal(_))), "{source}");
        assert!(SourcePattern::parse(text).is_ok_and(|pattern| pattern.is_for(text)), "{source}");
    }
    let _ = SourcePattern::parse(text).map(|pattern| pattern.is_above("github.com/acme/app/releases"));
    let _ = Location::parse(text);
    if let (Ok(constraint), Ok(version)) = (text.parse::<Constraint>(), "1.2.3".parse::<Version>()) {
        let _ = constraint.allows(&version);
        if let Some(exact) = constraint.exact() {
            assert!(constraint.allows(&exact), "{text}");
        }
    }
    let host = Platform { os: "linux".to_owned(), arch: "amd64".to_owned() };
    if let Ok(name) = FileName::parse(text, "app", &host) {
        assert!(!name.to_string().contains('/'), "{text}");
    }
}

/// A file of the plugin manager, or of a plugin that it installs; its first byte names its format. A
/// parsed file that is written parses to the same value, and an added line is found again.
pub fn record(input: &[u8]) {
    let Some((form, rest)) = input.split_first() else { return };
    let of_text = || text(rest).map(str::to_owned);
    match form {
        b'c' => drop(text(rest).and_then(|text| text.split_once(BETWEEN)).map(|(a, b)| check_configuration(a, b))),
        b'd' => drop(Description::parse(rest)),
        b'f' => {
            for file in MountedFile::listed(rest, "https://example.com").unwrap_or_default() {
                let mut parts = Path::new(&file.path).components();
                assert!(parts.all(|part| matches!(part, Component::Normal(_))), "{file:?}");
                assert!(!file.path.contains(char::is_control) && file.mode <= 0o777, "{file:?}");
            }
        }
        b'g' => {
            let Some(lock) = text(rest).and_then(|text| RemoteLock::parse(text).ok()) else { return };
            let written = lock.print().expect("a lock prints");
            assert_eq!(RemoteLock::parse(&written).ok(), Some(lock));
        }
        b'i' => check_record(of_text().unwrap_or_default()),
        b'l' => {
            if let Ok(lock) = Lock::parse("plugins.lock", rest) {
                assert_eq!(Lock::parse("plugins.lock", lock.text().as_bytes()).ok(), Some(lock));
            }
        }
        b'm' | b'p' => {
            drop(of_text().map(|text| Manifest::parse("plugin.yaml", *form == b'p', text, Path::new("/dev/null"))))
        }
        b'n' => check_pinned(rest),
        b'o' => {
            if let Some(image) = text(rest).and_then(|name| Image::parse(name).ok()) {
                assert!(!image.repository().contains(|c: char| c.is_control() || c == '@' || c == '?'), "{image:?}");
            }
        }
        b's' => {
            if let Some((text, statement)) = text(rest).and_then(|text| Some((text, Statement::parse(text)?))) {
                assert_eq!(statement.to_string(), text);
            }
        }
        b'r' => {
            let Some(text) = of_text() else { return };
            let before = Requirements::parse("plugins.yaml", text.clone());
            if let (Ok(before), Ok(after)) = (before, requirements::with(&text, "added", "example.com/a/added@1.0.0")) {
                let after = Requirements::parse("plugins.yaml", after).expect("what was written reads");
                assert_eq!(after.plugins.len(), before.plugins.len() + 1);
            }
        }
        b't' => {
            let (Some(text), path) = (of_text(), Path::new("trust.yaml")) else { return };
            let amendment = Amendment {
                pattern: SourcePattern::parse("example.com/added/*").expect("a pattern"),
                from: None,
                is_denied: false,
                keys: Vec::new(),
                min_age: None,
                granted: Permissions::default(),
            };
            if let (Ok(before), Ok(after)) = (Trust::parse(path, text.clone()), amendment.amend(path, &text)) {
                let after = Trust::parse(path, after.text).expect("what was written reads");
                // Without a rule, everything is allowed.
                if !text.trim().is_empty() {
                    let source: Source = "example.com/acme/app".parse().expect("a source");
                    let none = Permissions::default();
                    let asked = Permissions { network: true, ..Permissions::default() };
                    let ungranted = |trust: &Trust| trust.ungranted(&source, &Origin::Own, &asked, &none, None).ok();
                    assert_eq!(ungranted(&before), ungranted(&after), "another source's grants changed");
                }
            }
        }
        _ => {}
    }
}

/// A record of one plugin is not taken for that of another, and reads as it was written.
fn check_record(text: String) {
    let source: Source = "example.com/acme/app".parse().expect("a source");
    let version: Version = "1.0.0".parse().expect("a version");
    let Ok(record) = Record::parse(&text, &source, &version, "00") else { return };
    let written = record.text(&source, &version, "00");
    assert_eq!(Record::parse(&written, &source, &version, "00").as_ref(), Ok(&record));
    let other: Source = "example.com/acme/other".parse().expect("a source");
    assert!(Record::parse(&text, &other, &version, "00").is_err());
}

/// The schema of a plugin, and configurations: each conforms or does not.
fn check_configuration(schema: &str, configurations: &str) {
    let Some(schema) = serde_json::from_str(schema).ok().and_then(|schema| Schema::compile(schema).ok()) else {
        return;
    };
    let (heap, memory) = (Heap::new(), Memory::new());
    let arena = heap.arena();
    let mut build = Build::new(&Context::new(&heap, &memory, Options::default()));
    let bytes = configurations.as_bytes().to_vec();
    for configuration in wire::parse(&mut build, "config.yaml".to_owned(), bytes).unwrap_or_default() {
        let _ = conform(arena, &configuration, &schema, "app");
    }
}

/// The files in which a plugin pins its packages: what the installers get names no other place.
fn check_pinned(content: &[u8]) {
    let directory = TempDir::new().expect("a temporary directory");
    let path = directory.path().join("pinned");
    fs::write(&path, content).expect("a file");
    for line in pinned::requirements(&path).unwrap_or_default() {
        let option = line.split_whitespace().find(|word| word.starts_with('-') && !word.starts_with("--hash=sha"));
        assert!(!line.contains("://") && option.is_none(), "{line:?}");
    }
    let _ = pinned::package_lock(&path);
    let _ = pinned::package_json(&path);
    let _ = pinned::deno_lock(&path);
}

/// A list of exported plugins that somebody has written, and the files beside it, as txtar: an
/// export without plugins removes launchers of the list alone, and nothing outside of the directory.
/// `SUM-N` is the sum of the file number N.
pub fn exported(input: &[u8]) {
    let Some((list, tree)) = text(input).and_then(|text| text.split_once(BETWEEN)) else { return };
    let directory = TempDir::new().expect("a temporary directory");
    let (into, outside) = (directory.path().join("into"), directory.path().join("outside"));
    let mut list = list.to_owned();
    fs::create_dir(&into).expect("a directory");
    fs::create_dir_all(outside.join("v1/app")).expect("a directory");
    std::os::unix::fs::symlink(&outside, into.join("link")).expect("a link");
    for (number, (name, content)) in txtar::files(tree).into_iter().take(10).enumerate() {
        list = list.replace(&format!("SUM-{number}"), &hex(&Sha256::digest(content)));
        let is_below = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        let path = into.join(name);
        if is_below && path.parent().is_some_and(|folder| fs::create_dir_all(folder).is_ok()) {
            let _ = fs::write(path, content);
        }
        let _ = fs::write(outside.join("v1/app/App"), content);
    }
    if fs::write(into.join(".rustomize-placed.json"), &list).is_err() {
        return;
    }
    let sums = serde_json::from_str::<serde_json::Value>(&list).unwrap_or_default();
    let is_listed = |sum: &str| sums["files"].as_object().into_iter().flatten().any(|(_, listed)| listed == sum);
    let before = contents(directory.path());
    let changes = lay(&into, &[], false);
    let after = contents(directory.path());
    for (path, content) in &before {
        let is_list = path.file_name().is_some_and(|name| name == ".rustomize-placed.json");
        if is_list || after.get(path) == Some(content) {
            continue;
        }
        assert!(path.starts_with(&into) && !after.contains_key(path), "{path:?} has changed");
        assert!(changes.as_ref().is_ok_and(|changes| changes.removed.contains(path)), "{path:?} is not said");
        let text = String::from_utf8_lossy(content);
        let is_launcher = text.starts_with("#!/bin/sh\n") && text.contains("written by 'rustomize plugin export'.");
        assert!(is_launcher && is_listed(&hex(&Sha256::digest(content))), "{path:?} is not a launcher of the list");
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The files below a directory, with what they hold. Links are not followed.
fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let plain = |path: &PathBuf| path.symlink_metadata().is_ok_and(|of| of.is_file());
    let paths = listed(directory).into_keys().filter(plain);
    paths.map(|path| (path.clone(), fs::read(path).expect("a file"))).collect()
}

/// The answers of a plugin: a frame that was read is written with the same bytes, a malformed frame
/// ends the stream, and printed text becomes resources or an error.
pub fn frame(input: &[u8]) {
    let (mut rest, mut frame, mut written) = (input, Frame::default(), Vec::new());
    while let Ok(true) = frame.read(&mut rest) {
        let _ = frame.asked();
        match text(&frame.content) {
            Some(content) => Frame::write(frame.kind, content, &mut written).expect("memory takes it"),
            None => break,
        }
        let read = input.len() - rest.len();
        assert_eq!(input[..read], written);
        let heap = Heap::new();
        let memory = Memory::new();
        let mut build = Build::new(&Context::new(&heap, &memory, Options::default()));
        for mut resource in wire::parse(&mut build, "printed".to_owned(), frame.content.clone()).unwrap_or_default() {
            let _ = wire::take_generator_options(&mut resource);
        }
    }
}

/// The largest memory that the steps of a build may make here.
const BUILD_LIMIT: u64 = 64 << 20;

/// The flags of `build`, one a line, and the files of a tree, as txtar: a build on the disk returns,
/// and changes nothing there. Nothing runs and nothing is fetched.
pub fn command(input: &[u8]) {
    let Some((flags, tree)) = text(input).and_then(|text| text.split_once(BETWEEN)) else { return };
    let directory = TempDir::new().expect("a temporary directory");
    for (name, content) in txtar::files(tree).into_iter().take(100) {
        let is_below = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        let path = directory.path().join(name);
        if is_below && path.parent().is_some_and(|folder| fs::create_dir_all(folder).is_ok()) {
            // A name may be too long, or that of a directory.
            let _ = fs::write(path, content);
        }
    }
    let before = listed(directory.path());
    let flags: Vec<String> = flags.lines().map(str::to_owned).collect();
    let _ = rustomize_cli::tried::build(&flags, directory.path().to_str().expect("UTF-8"), BUILD_LIMIT);
    assert_eq!(listed(directory.path()), before, "the build has changed the tree");
}

/// The paths and sizes below a directory.
fn listed(directory: &Path) -> BTreeMap<PathBuf, u64> {
    let (mut found, mut queue) = (BTreeMap::new(), vec![directory.to_owned()]);
    while let Some(directory) = queue.pop() {
        for entry in fs::read_dir(directory).expect("a directory") {
            let entry = entry.expect("an entry");
            let of = entry.metadata().expect("its facts");
            if of.is_dir() {
                queue.push(entry.path());
            }
            found.insert(entry.path(), if of.is_dir() { 0 } else { of.len() });
        }
    }
    found
}

/// The output of a server, which says when nobody can write to it any more.
struct Sink {
    _sender: mpsc::Sender<()>,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A conversation with the language server, after its first request: messages without their heads,
/// or one stream of bytes. The server returns, and so does the thread that builds.
pub fn editor(input: &[u8]) {
    let framed = |text: &[u8]| [format!("Content-Length: {}\r\n\r\n", text.len()).as_bytes(), text].concat();
    let begin = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{}}}"#;
    let mut stream = framed(begin);
    match input.strip_prefix(b"=") {
        Some(raw) => stream.extend_from_slice(raw),
        None => text(input)
            .into_iter()
            .flat_map(|text| text.split(BETWEEN))
            .for_each(|message| stream.extend(framed(message.as_bytes()))),
    }
    let (sent, ended) = mpsc::channel();
    let _ = rustomize_lsp::serve(&*stream, Sink { _sender: sent }, None, |_| {
        let mut options = Options { build_limit: Some(BUILD_LIMIT), lint: true, ..Options::default() };
        options.remote = Arc::new(RemoteOptions { offline: true, ..RemoteOptions::default() });
        Ok(options)
    });
    // The sender is dropped with the last writer.
    let _ = ended.recv();
}

/// An archive: its files are written inside the directory only, and no entry becomes a link.
pub fn archive(input: &[u8]) {
    let directory = TempDir::new().expect("a temporary directory");
    let into = directory.path().join("into");
    fs::create_dir(&into).expect("a directory");
    let _ = unpack("archive", input, "plugin", &into);
    assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 1, "something lies outside");
    check_plain(&into);
}

fn check_plain(directory: &Path) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let entry = entry.expect("an entry");
        let kind = entry.file_type().expect("a kind");
        assert!(kind.is_dir() || kind.is_file(), "{entry:?}");
        if kind.is_dir() {
            check_plain(&entry.path());
        }
    }
}
