//! Archives that were fetched, unpacked without trust: no entry is written outside of the
//! directory, and each entry is a file or a directory.
//!
//! Any other entry is an error and is not skipped: such an archive was not made for this purpose.

use crate::diag::{Code, Error, Result};
use flate2::read::MultiGzDecoder;
use hashbrown::HashSet;
use rustomize_files::{Directory, name_fault, shown};
use std::cell::Cell;
use std::io::{self, Cursor, Read};
use std::path::{Component, Path, PathBuf};

/// The largest number of entries of an archive.
const MOST_ENTRIES: usize = 100_000;

/// The largest size of an unpacked archive, in bytes.
const MOST_BYTES: u64 = 4 << 30;

/// The largest number of unpacked bytes for each packed byte, beyond [`FREE_BYTES`]. Compiled
/// programs and written texts stay far below.
const MOST_RATIO: u64 = 200;

/// The largest number of bytes that describe one entry: its header, its long name, its records.
const MOST_BYTES_OF_HEAD: u64 = 1 << 20;

/// The number of unpacked bytes that an archive may have whatever its packed size.
const FREE_BYTES: u64 = 64 << 20;

/// The form of a file, as its first bytes show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArchiveForm {
    Tar,
    TarGz,
    Zip,
    /// Not an archive.
    File,
}

fn form(bytes: &[u8]) -> ArchiveForm {
    match bytes {
        [0x1f, 0x8b, ..] => ArchiveForm::TarGz,
        [b'P', b'K', 3, 4, ..] => ArchiveForm::Zip,
        _ if bytes.get(257..262) == Some(b"ustar") => ArchiveForm::Tar,
        _ => ArchiveForm::File,
    }
}

fn fault(message: String) -> Error {
    Error::new(Code::Refused, message)
}

/// Returns true if bytes are an archive.
pub fn is_archive(bytes: &[u8]) -> bool {
    form(bytes) != ArchiveForm::File
}

/// Writes the content of an archive into an empty directory; bytes that are not an archive become
/// the file `name` there. Errors call the archive `shown`. Names for which `is_own` is true belong
/// to the machine that made the archive, and are refused.
///
/// # Errors
/// The archive is damaged, too large, has an entry that is neither a file nor a directory, or would
/// write elsewhere.
pub fn unpack(shown: &str, bytes: &[u8], name: &str, into: &Path, is_own: fn(&str) -> bool) -> Result<()> {
    let limit = (bytes.len() as u64).saturating_mul(MOST_RATIO).saturating_add(FREE_BYTES).min(MOST_BYTES);
    let into = Directory::open(into).map_err(|e| fault(format!("cannot write to '{}': {e}", into.display())))?;
    let mut target = Target { shown, into, is_own, known: HashSet::new(), entries: 0, left: limit };
    let meter = Meter { total: Cell::new(limit), head: Cell::new(u64::MAX) };
    match form(bytes) {
        ArchiveForm::Tar => target.tar(Metered { from: bytes, meter: &meter }),
        ArchiveForm::TarGz => target.tar(Metered { from: MultiGzDecoder::new(bytes), meter: &meter }),
        ArchiveForm::Zip => target.zip(bytes),
        ArchiveForm::File => target.file(Path::new(name), Mode::EXECUTABLE, bytes),
    }
}

/// The permissions of an unpacked file.
#[derive(Clone, Copy)]
struct Mode(u32);

impl Mode {
    const EXECUTABLE: Mode = Mode(0o755);
    const PLAIN: Mode = Mode(0o644);

    /// The permissions for an entry of an archive: only the right to execute counts.
    fn of(archived: u32) -> Mode {
        if archived & 0o111 != 0 { Mode::EXECUTABLE } else { Mode::PLAIN }
    }
}

/// The numbers of bytes that may still be read from an archive, for any purpose.
struct Meter {
    total: Cell<u64>,
    /// The number of bytes until the name of the next entry is read.
    head: Cell<u64>,
}

/// A stream that ends in an error when its meter is used up.
struct Metered<'m, R> {
    from: R,
    meter: &'m Meter,
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(buffer)?;
        for left in [&self.meter.total, &self.meter.head] {
            left.set(left.get().checked_sub(n as u64).ok_or(io::ErrorKind::FileTooLarge)?);
        }
        Ok(n)
    }
}

struct Target<'a> {
    shown: &'a str,
    into: Directory,
    is_own: fn(&str) -> bool,
    /// The written names, in lower case, because some file systems do not tell such names apart.
    known: HashSet<String>,
    entries: usize,
    /// The number of bytes that may still be written.
    left: u64,
}

impl Target<'_> {
    fn wrong(&self, what: impl std::fmt::Display) -> Error {
        fault(format!("the archive '{}' is refused: {what}", self.shown))
    }

    fn tar(&mut self, from: Metered<'_, impl Read>) -> Result<()> {
        let meter = from.meter;
        let mut archive = tar::Archive::new(from);
        let damaged = |target: &Target<'_>, e: io::Error| match e.kind() {
            io::ErrorKind::FileTooLarge if meter.total.get() > MOST_BYTES_OF_HEAD => {
                target.wrong(format!("the head of an entry has more than {MOST_BYTES_OF_HEAD} bytes"))
            }
            io::ErrorKind::FileTooLarge => target.grows(),
            _ => target.wrong(format!("it is damaged: {e}")),
        };
        let mut entries = archive.entries().map_err(|e| damaged(self, e))?;
        loop {
            meter.head.set(MOST_BYTES_OF_HEAD);
            let Some(entry) = entries.next() else { break };
            let mut entry = entry.map_err(|e| damaged(self, e))?;
            meter.head.set(u64::MAX);
            self.count(1)?;
            let path = entry.path().map_err(|e| damaged(self, e))?.into_owned();
            let mode = entry.header().mode().map_err(|e| damaged(self, e))?;
            match entry.header().entry_type() {
                tar::EntryType::Directory => self.directory(&path)?,
                tar::EntryType::Regular | tar::EntryType::Continuous => {
                    // Other programs read a file of another name and size from such an entry.
                    if has_sparse_record(&mut entry).map_err(|e| damaged(self, e))? {
                        return Err(self.wrong(format!("'{}' is a sparse file", path.display())));
                    }
                    self.file(&path, Mode::of(mode), &mut entry)?;
                }
                // Some tools describe the archive as a whole.
                tar::EntryType::XGlobalHeader => {}
                other => return Err(self.wrong(format!("'{}' is {}", path.display(), named(other)))),
            }
        }
        meter.head.set(u64::MAX);
        // Reading to the end also checks the sum of a compressed stream.
        let mut rest = archive.into_inner();
        let mut buffer = vec![0; 1 << 16];
        loop {
            match rest.read(&mut buffer).map_err(|e| damaged(self, e))? {
                0 => return Ok(()),
                n => self.nothing_more(&buffer[..n])?,
            }
        }
    }

    /// Refuses bytes behind the end of an archive, in which other programs may find other entries.
    /// Zeros fill the last block of an archive.
    fn nothing_more(&self, bytes: &[u8]) -> Result<()> {
        match bytes.iter().all(|byte| *byte == 0) {
            true => Ok(()),
            false => Err(self.wrong("more bytes follow its end")),
        }
    }

    fn zip(&mut self, bytes: &[u8]) -> Result<()> {
        let damaged = |target: &Target<'_>, e: zip::result::ZipError| target.wrong(format!("it is damaged: {e}"));
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|e| damaged(self, e))?;
        let listed = entries_of_zip(bytes, archive.central_directory_start());
        self.count(listed)?;
        // The library keeps the last one of entries with one name.
        if listed != archive.len() {
            return Err(self.wrong("an entry occurs twice"));
        }
        for i in 0..archive.len() {
            let mut entry = archive.by_index(i).map_err(|e| damaged(self, e))?;
            if name_before_content(bytes, entry.header_start()) != Some(entry.name_raw()) {
                return Err(self.wrong("an entry has two names"));
            }
            // The name as it is written: the library would change a path that leads out.
            let name = entry.name().map_err(|e| damaged(self, e))?.into_owned();
            let mode = entry.unix_mode().unwrap_or(0o644);
            match (mode & 0o170_000, name.ends_with('/')) {
                (0 | 0o040_000, true) => self.directory(Path::new(&name))?,
                (0 | 0o100_000, false) => self.file(Path::new(&name), Mode::of(mode), &mut entry)?,
                (0o120_000, _) => return Err(self.wrong(format!("'{name}' is a link"))),
                _ => return Err(self.wrong(format!("'{name}' is neither a file nor a directory"))),
            }
        }
        Ok(())
    }

    /// Counts `entries` more entries.
    fn count(&mut self, entries: usize) -> Result<()> {
        self.entries += entries;
        match self.entries > MOST_ENTRIES {
            true => Err(self.wrong(format!("it has more than {MOST_ENTRIES} entries"))),
            false => Ok(()),
        }
    }

    fn grows(&self) -> Error {
        self.wrong("it is too large when it is unpacked")
    }

    /// The place of an entry, which is in the directory and new.
    fn place(&mut self, path: &Path) -> Result<Option<PathBuf>> {
        let Some(text) = path.to_str() else {
            return Err(self.wrong(format!("the name '{}' is not valid UTF-8", path.display())));
        };
        // On some systems `\` separates names, and `:` ends the name of a drive.
        if text.contains(['\\', ':', '\0']) {
            return Err(self.wrong(format!("'{text}' has a character that not every system allows in names")));
        }
        if let Some(fault) = name_fault(path.as_os_str()) {
            return Err(self.wrong(format!("'{}' {fault}", shown(path.as_os_str()))));
        }
        let mut place = PathBuf::new();
        for component in path.components() {
            match component {
                Component::Normal(part) => {
                    if let Some(own) = part.to_str().filter(|part| (self.is_own)(part)) {
                        let why = format!("'{text}': '{own}' is a name of files that belong to one machine");
                        return Err(self.wrong(why));
                    }
                    place.push(part);
                }
                Component::CurDir => {}
                _ => return Err(self.wrong(format!("'{text}' leads out of the archive"))),
            }
        }
        Ok((!place.as_os_str().is_empty()).then_some(place))
    }

    fn directory(&mut self, path: &Path) -> Result<()> {
        let Some(place) = self.place(path)? else { return Ok(()) };
        self.enter(&place)?;
        self.into.make(&place, 0o755).map(drop).map_err(|e| self.cannot(path, &e))
    }

    /// Notes the names of a directory and of the directories above it. They may occur again, but
    /// only in the same spelling.
    fn enter(&mut self, place: &Path) -> Result<()> {
        for ancestor in place.ancestors().filter(|a| !a.as_os_str().is_empty()) {
            let spelled = format!("{}/", ancestor.display());
            let lower = spelled.to_lowercase();
            if self.known.contains(&lower) && !self.known.contains(&format!("={spelled}")) {
                return Err(self.wrong(format!("'{}' occurs twice, with different letter case", ancestor.display())));
            }
            self.known.insert(lower);
            self.known.insert(format!("={spelled}"));
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, mode: Mode, from: impl Read) -> Result<()> {
        let Some(place) = self.place(path)? else {
            return Err(self.wrong("a file has no name"));
        };
        let parent = place.parent().unwrap_or(Path::new(""));
        self.enter(parent)?;
        let lower = place.to_string_lossy().to_lowercase();
        if !self.known.insert(lower.clone()) || self.known.contains(&format!("{lower}/")) {
            return Err(self.wrong(format!("'{}' occurs twice", place.display())));
        }
        let cannot = |target: &Self, e: io::Error| target.cannot(path, &e);
        let name = Path::new(place.file_name().unwrap_or_default());
        let made = self.into.make(parent, 0o755).and_then(|folder| folder.create(name, mode.0));
        let mut file = made.map_err(|e| cannot(self, e))?;
        let written = io::copy(&mut from.take(self.left + 1), &mut file).map_err(|e| match e.kind() {
            io::ErrorKind::FileTooLarge => self.grows(),
            _ => cannot(self, e),
        })?;
        if written > self.left {
            return Err(self.grows());
        }
        self.left -= written;
        Ok(())
    }

    fn cannot(&self, path: &Path, e: &io::Error) -> Error {
        fault(format!("cannot unpack '{}' of '{}': {e}", path.display(), self.shown))
    }
}

/// Returns true if an entry of a tar archive has a record of GNU tar for sparse files.
fn has_sparse_record(entry: &mut tar::Entry<'_, impl Read>) -> io::Result<bool> {
    let Some(records) = entry.pax_extensions()? else { return Ok(false) };
    for record in records {
        if record?.key_bytes().starts_with(b"GNU.sparse.") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The number of records in the directory of a zip archive, which begins at an offset.
fn entries_of_zip(bytes: &[u8], directory: u64) -> usize {
    let mut rest = usize::try_from(directory).ok().and_then(|start| bytes.get(start..)).unwrap_or_default();
    let mut number = 0;
    while rest.starts_with(b"PK\x01\x02") {
        number += 1;
        let length = |at: usize| rest.get(at..at + 2).map_or(0, |two| usize::from(two[0]) | usize::from(two[1]) << 8);
        let record = 46 + length(28) + length(30) + length(32);
        rest = rest.get(record..).unwrap_or_default();
    }
    number
}

/// The name that a zip archive has in front of the content of an entry: programs that read the
/// archive as a stream take this one, and not the name in the directory.
fn name_before_content(bytes: &[u8], header: u64) -> Option<&[u8]> {
    let header = bytes.get(usize::try_from(header).ok()?..)?;
    let length = usize::from(*header.get(26)?) | usize::from(*header.get(27)?) << 8;
    header.get(30..30 + length)
}

fn named(kind: tar::EntryType) -> &'static str {
    match kind {
        tar::EntryType::Symlink | tar::EntryType::Link => "a link",
        tar::EntryType::Char | tar::EntryType::Block => "a device",
        tar::EntryType::Fifo => "a pipe",
        _ => "neither a file nor a directory",
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use tar::{Builder, EntryType, Header};

    fn unpack(shown: &str, bytes: &[u8], name: &str, into: &Path) -> crate::diag::Result<()> {
        super::unpack(shown, bytes, name, into, |_| false)
    }

    /// An archive, with names as they are given: the library's own would refuse some.
    fn tar(entries: &[(&str, EntryType, u32, &str)]) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        for (name, kind, mode, content) in entries {
            let mut header = Header::new_ustar();
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(*kind);
            header.set_mode(*mode);
            let is_link = matches!(kind, EntryType::Symlink | EntryType::Link);
            if is_link {
                header.set_link_name(content).unwrap();
            }
            let content = if is_link { "" } else { content };
            header.set_size(content.len() as u64);
            header.set_cksum();
            builder.append(&header, content.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn refused(bytes: &[u8], words: &str) {
        let outer = tempfile::tempdir().unwrap();
        let into = outer.path().join("into");
        fs::create_dir(&into).unwrap();
        let error = unpack("a.tar", bytes, "a", &into).unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
        assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 1, "{words}: something lies outside");
    }

    const FILE: EntryType = EntryType::Regular;

    #[test]
    fn files_and_directories_are_unpacked_and_nothing_but_the_executable_bit_stays() {
        let bytes = tar(&[
            ("./", EntryType::Directory, 0o755, ""),
            ("app/", EntryType::Directory, 0o755, ""),
            ("app/run", FILE, 0o6755, "x"),
            ("app/data", FILE, 0o666, "y"),
            ("other/deep/z", FILE, 0o600, "z"),
        ]);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&bytes).unwrap();
        for bytes in [bytes, gzip.finish().unwrap()] {
            let into = tempfile::tempdir().unwrap();
            unpack("a", &bytes, "a", into.path()).unwrap();
            let mode = |path: &str| fs::metadata(into.path().join(path)).unwrap().permissions().mode() & 0o7777;
            assert_eq!(mode("app/run") & 0o6100, 0o100);
            assert_eq!(mode("app/data") & 0o111, 0);
            assert_eq!(fs::read(into.path().join("other/deep/z")).unwrap(), b"z");
        }
        let into = tempfile::tempdir().unwrap();
        unpack("a", b"#!/bin/sh\n", "app", into.path()).unwrap();
        assert_eq!(fs::read(into.path().join("app")).unwrap(), b"#!/bin/sh\n");
    }

    #[test]
    fn what_leads_out_of_an_archive_is_refused() {
        refused(&tar(&[("../x", FILE, 0o644, "x")]), "leads out");
        refused(&tar(&[("a/../../x", FILE, 0o644, "x")]), "leads out");
        refused(&tar(&[("/tmp/x", FILE, 0o644, "x")]), "leads out");
        refused(&tar(&[("c:\\x", FILE, 0o644, "x")]), "not every system allows");
        refused(&tar(&[("a\nb", FILE, 0o644, "x")]), "'a\\nb' has a character in its name that cannot be seen");
        refused(&tar(&[("a/\u{1b}[2J/", EntryType::Directory, 0o755, "")]), "cannot be seen");
        refused(&tar(&[("l", EntryType::Symlink, 0o777, "/etc")]), "'l' is a link");
        refused(&tar(&[("l", EntryType::Link, 0o777, "../x")]), "'l' is a link");
    }

    #[test]
    fn devices_pipes_and_names_that_collide_are_refused() {
        refused(&tar(&[("d", EntryType::Char, 0o644, "")]), "a device");
        refused(&tar(&[("d", EntryType::Block, 0o644, "")]), "a device");
        refused(&tar(&[("p", EntryType::Fifo, 0o644, "")]), "a pipe");
        refused(&tar(&[("a", FILE, 0o644, ""), ("A", FILE, 0o644, "")]), "twice");
        refused(&tar(&[("a", FILE, 0o644, ""), ("a", FILE, 0o644, "")]), "twice");
        refused(&tar(&[("a/x", FILE, 0o644, ""), ("A/y", FILE, 0o644, "")]), "twice");
        refused(&tar(&[("a/x", FILE, 0o644, ""), ("A", FILE, 0o644, "")]), "twice");
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    }

    #[test]
    fn what_other_programs_would_read_in_another_way_is_refused() {
        let (one, two) = (tar(&[("a", FILE, 0o644, "1")]), tar(&[("b", FILE, 0o644, "2")]));
        refused(&[&one[..], &two].concat(), "more bytes follow its end");
        refused(&gzip(&[&one[..], &two].concat()), "more bytes follow its end");
        refused(&[gzip(&one), gzip(&two)].concat(), "more bytes follow its end");
        refused(&[gzip(&one), b"more".to_vec()].concat(), "damaged");
        let packed = gzip(&one);
        refused(&packed[..packed.len() - 1], "damaged");
        let mut other_sum = packed.clone();
        other_sum[packed.len() - 8] ^= 1;
        refused(&other_sum, "damaged");
        let into = tempfile::tempdir().unwrap();
        let padded = [&one[..], &[0; 10_240]].concat();
        let members = [gzip(&padded[..700]), gzip(&padded[700..])].concat();
        unpack("a.tar.gz", &members, "a", into.path()).unwrap();
        assert_eq!(fs::read_to_string(into.path().join("a")).unwrap(), "1");

        let mut sparse = Builder::new(Vec::new());
        sparse.append_pax_extensions([("GNU.sparse.realsize", &b"9999999999"[..])]).unwrap();
        let rest = tar(&[("s", FILE, 0o644, "1")]);
        let sparse = [sparse.get_ref(), &rest[..]].concat();
        refused(&sparse, "'s' is a sparse file");
    }

    #[test]
    fn bombs_and_damaged_archives_are_refused() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        let mut header = Header::new_ustar();
        let size = 128 << 20;
        header.set_path("zeros").unwrap();
        header.set_size(size);
        header.set_mode(0o644);
        header.set_cksum();
        gzip.write_all(header.as_bytes()).unwrap();
        std::io::copy(&mut std::io::Read::take(std::io::repeat(0), size), &mut gzip).unwrap();
        refused(&gzip.finish().unwrap(), "is too large when");
        let whole = tar(&[("a", FILE, 0o644, &"x".repeat(2000))]);
        refused(&whole[..1000], "a.tar");
        refused(&[0x1f, 0x8b, 8, 0, 0], "damaged");
        refused(b"PK\x03\x04 and nothing more", "damaged");
    }

    #[test]
    fn zip_archives_are_held_to_the_same() {
        let zip = |name: &str, mode: u32| {
            let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
            let options = zip::write::SimpleFileOptions::default().unix_permissions(mode);
            writer.start_file(name, options).unwrap();
            writer.write_all(b"content").unwrap();
            writer.finish().unwrap().into_inner()
        };
        refused(&zip("../x", 0o644), "leads out");
        refused(&zip("/x", 0o644), "leads out");
        let mut link = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        link.add_symlink("l", "/etc", zip::write::SimpleFileOptions::default()).unwrap();
        refused(&link.finish().unwrap().into_inner(), "'l' is a link");
        let replaced = |old: &[u8], new: &[u8], most: usize| {
            let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
            let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
            for name in ["main-1", "main-2"] {
                writer.start_file(name, options).unwrap();
                writer.write_all(b"content").unwrap();
            }
            let mut bytes = writer.finish().unwrap().into_inner();
            let places: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(old)).take(most).collect();
            assert!(!places.is_empty());
            places.into_iter().for_each(|at| bytes[at..at + new.len()].copy_from_slice(new));
            bytes
        };
        refused(&replaced(b"main-2", b"main-1", 2), "an entry occurs twice");
        refused(&replaced(b"main-2", b"evil-2", 1), "an entry has two names");
        let into = tempfile::tempdir().unwrap();
        unpack("a.zip", &zip("a/run", 0o755), "a", into.path()).unwrap();
        let mode = fs::metadata(into.path().join("a/run")).unwrap().permissions().mode();
        assert_eq!(mode & 0o111, 0o111 & mode);
        assert!(mode & 0o100 != 0 && Path::new(&into.path().join("a/run")).is_file());
    }
}
