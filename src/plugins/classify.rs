//! The class of a shared object, determined without opening it: loading a truncated file kills a
//! process, a foreign one says nothing useful, and a Go plugin loads and then lacks every symbol.
//!
//! *Cost*: O(headers and symbols); the file is not read as a whole.

use object::read::elf::{ElfFile64, FileHeader};
use object::read::pe::PeFile64;
use object::{
    Architecture, FileKind, Object, ObjectKind, ObjectSection, ObjectSegment, ObjectSymbol, ReadCache, ReadRef,
};
use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

pub use rustomize_plugin_abi::ABI_SYMBOL;

/// The symbol that a Go plugin of kustomize exports.
const KUSTOMIZE_SYMBOL: &str = ".KustomizePlugin";

/// The class of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharedObject {
    /// A plugin with the functions of the plugin ABI.
    Plugin,
    /// A plugin of `go build -buildmode=plugin`: only Go can load it.
    GoPlugin(GoBuild),
    /// A shared object without our functions.
    Foreign,
}

/// The build information that Go writes into a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoBuild {
    /// As in `go1.26.8`.
    pub version: String,
    /// The modules that are in it, beside its own.
    pub modules: Vec<GoModule>,
    /// Flags and variables of the build, as in `-trimpath` and `true`.
    pub settings: Vec<(String, String)>,
}

/// A module that was built into something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoModule {
    pub path: String,
    pub version: String,
    /// `h1:...`, or nothing for a directory.
    pub sum: String,
    /// The value in its place.
    pub replaced_by: Option<Box<GoModule>>,
}

impl GoBuild {
    /// The version of sigs.k8s.io/kustomize/api, if the file has it.
    pub fn api(&self) -> Option<&str> {
        self.modules.iter().find(|m| m.path == "sigs.k8s.io/kustomize/api").map(|m| m.version.as_str())
    }

    /// The value of a flag or variable of the build.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns whether it was built with `-trimpath`.
    pub fn trims_paths(&self) -> bool {
        self.setting("-trimpath") == Some("true")
    }

    /// Reads the lines in which Go keeps modules and settings; lines that are not known do not
    /// count.
    fn parse(version: String, text: &str) -> GoBuild {
        let mut build = GoBuild { version, ..GoBuild::default() };
        for line in text.lines() {
            let mut words = line.split('\t');
            let kind = words.next().unwrap_or_default();
            let mut word = || words.next().unwrap_or_default().to_owned();
            match kind {
                "dep" => build.modules.push(GoModule { path: word(), version: word(), sum: word(), replaced_by: None }),
                "=>" => {
                    let by = GoModule { path: word(), version: word(), sum: word(), replaced_by: None };
                    if let Some(module) = build.modules.last_mut() {
                        module.replaced_by = Some(Box::new(by));
                    }
                }
                "build" => {
                    let setting = word();
                    let (name, value) = setting.split_once('=').unwrap_or((&setting, ""));
                    build.settings.push((name.to_owned(), value.trim_matches('"').to_owned()));
                }
                _ => {}
            }
        }
        build
    }
}

/// The reason why a file is not a shared object for this machine.
#[derive(Debug)]
pub enum Unusable {
    /// This is neither Linux nor Windows.
    System,
    Io(io::Error),
    Empty,
    Text,
    /// A format of another system.
    Format(&'static str),
    Architecture(String),
    Truncated,
    /// An executable or object file.
    NotShared(&'static str),
    Unknown,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unusable::System => f.write_str("is a shared object, and only Linux and Windows run these"),
            Unusable::Io(e) => write!(f, "cannot be read: {e}"),
            Unusable::Empty => f.write_str("is empty"),
            Unusable::Text => f.write_str("is a text file, not a shared object"),
            Unusable::Format(format) => write!(f, "is a {format} file, which this system cannot load"),
            Unusable::Architecture(found) => {
                write!(f, "is for {found}; this machine is {}", std::env::consts::ARCH)
            }
            Unusable::Truncated => f.write_str("is truncated: a part that its headers name is not there"),
            Unusable::NotShared(kind) => write!(f, "is {kind}, not a shared object"),
            Unusable::Unknown => f.write_str("is no shared object"),
        }
    }
}

impl Unusable {
    /// The hint of the error.
    pub fn hint(&self) -> &'static str {
        match self {
            Unusable::Text | Unusable::NotShared("an executable") if cfg!(windows) => {
                "a program is a plugin too: its name ends in .exe"
            }
            Unusable::System => "an executable is a plugin too: put one in its place",
            Unusable::Text => "a script is a plugin too: take the .so off its name and make it executable",
            Unusable::NotShared("an executable") => "an executable is a plugin too: take the .so off its name",
            Unusable::Empty | Unusable::Truncated => "it was not copied or built to its end",
            _ => "build it on this machine, or for it",
        }
    }
}

/// Finds the class of a file.
///
/// # Errors
/// This machine cannot load the file.
pub fn classify(path: &Path) -> Result<SharedObject, Unusable> {
    if !cfg!(any(target_os = "linux", windows)) {
        return Err(Unusable::System);
    }
    let file = File::open(path).map_err(Unusable::Io)?;
    let cache = ReadCache::new(file);
    let size = cache.len().map_err(|()| Unusable::Io(io::ErrorKind::InvalidInput.into()))?;
    if size == 0 {
        return Err(Unusable::Empty);
    }
    match FileKind::parse(&cache) {
        Ok(FileKind::Pe64) if cfg!(windows) => return classify_library(&cache, size),
        Ok(FileKind::Elf32 | FileKind::Elf64) if cfg!(windows) => return Err(Unusable::Format("ELF (Linux)")),
        Ok(FileKind::Elf64) => {}
        Ok(FileKind::Elf32) => return Err(Unusable::Architecture("a 32-bit processor".to_owned())),
        Ok(FileKind::MachO32 | FileKind::MachO64 | FileKind::MachOFat32 | FileKind::MachOFat64) => {
            return Err(Unusable::Format("Mach-O (macOS)"));
        }
        Ok(FileKind::Pe32 | FileKind::Pe64) => return Err(Unusable::Format("PE (Windows)")),
        Ok(_) => return Err(Unusable::Unknown),
        Err(_) => return Err(if is_text(&cache, size) { Unusable::Text } else { Unusable::Unknown }),
    }
    let elf: ElfFile64<'_, _, _> =
        ElfFile64::<object::Endianness, _>::parse(&cache).map_err(|_| Unusable::Truncated)?;
    check_architecture(elf.architecture())?;
    if elf.segments().any(|s| s.file_range().0.saturating_add(s.file_range().1) > size) {
        return Err(Unusable::Truncated);
    }
    match elf.kind() {
        ObjectKind::Dynamic if !is_executable(&elf) => {}
        ObjectKind::Relocatable => return Err(Unusable::NotShared("an object file")),
        ObjectKind::Core => return Err(Unusable::NotShared("a memory dump")),
        _ => return Err(Unusable::NotShared("an executable")),
    }
    let mut exports = elf.dynamic_symbols().filter(|s| s.is_definition()).filter_map(|s| s.name().ok());
    let (mut is_ours, mut is_go) = (false, false);
    exports.by_ref().for_each(|name| {
        is_ours |= name == ABI_SYMBOL;
        is_go |= name.ends_with(KUSTOMIZE_SYMBOL);
    });
    if is_ours {
        return Ok(SharedObject::Plugin);
    }
    Ok(if is_go { SharedObject::GoPlugin(go_build(&elf)) } else { SharedObject::Foreign })
}

/// Finds the class of a file of Windows with `size` bytes.
fn classify_library<'d>(data: impl ReadRef<'d>, size: u64) -> Result<SharedObject, Unusable> {
    let library = PeFile64::parse(data).map_err(|_| Unusable::Truncated)?;
    check_architecture(library.architecture())?;
    if library.sections().filter_map(|s| s.file_range()).any(|(start, len)| start.saturating_add(len) > size) {
        return Err(Unusable::Truncated);
    }
    let flags = library.nt_headers().file_header.characteristics.get(object::LittleEndian);
    if !flags.contains(object::pe::IMAGE_FILE_DLL) {
        return Err(Unusable::NotShared("an executable"));
    }
    let exports = library.export_table().map_err(|_| Unusable::Truncated)?;
    let is_ours = exports.is_some_and(|exports| {
        let mut names = exports.name_iter().filter_map(|(name, _)| exports.name_from_pointer(name).ok());
        names.any(|name| name == ABI_SYMBOL.as_bytes())
    });
    Ok(if is_ours { SharedObject::Plugin } else { SharedObject::Foreign })
}

/// Returns whether all of the beginning is text.
fn is_text<'d>(data: impl ReadRef<'d>, size: u64) -> bool {
    data.read_bytes_at(0, size.min(256)).is_ok_and(|bytes| {
        let end = bytes.iter().rposition(|b| b.is_ascii()).map_or(0, |i| i + 1);
        std::str::from_utf8(&bytes[..end]).is_ok() && !bytes.contains(&0)
    })
}

fn check_architecture(found: Architecture) -> Result<(), Unusable> {
    let ours = match std::env::consts::ARCH {
        "x86_64" => Architecture::X86_64,
        "aarch64" => Architecture::Aarch64,
        "riscv64" => Architecture::Riscv64,
        "powerpc64" => Architecture::PowerPc64,
        "s390x" => Architecture::S390x,
        // The loader judges all other files.
        _ => return Ok(()),
    };
    if found == ours { Ok(()) } else { Err(Unusable::Architecture(format!("{found:?}").to_lowercase())) }
}

/// Returns whether a position-independent file is a program: those name an interpreter.
fn is_executable<'d, R: ReadRef<'d>>(elf: &ElfFile64<'d, object::Endianness, R>) -> bool {
    use object::read::elf::ProgramHeader;
    let endian = elf.endian();
    elf.elf_program_headers().iter().any(|header| header.p_type(endian) == object::elf::PT_INTERP)
        && elf.elf_header().e_entry(endian) != 0
}

/// Reads the build information of Go 1.18 and later; what cannot be read is left empty.
fn go_build<'d, R: ReadRef<'d>>(elf: &ElfFile64<'d, object::Endianness, R>) -> GoBuild {
    let section = elf.section_by_name(".go.buildinfo").and_then(|section| section.data().ok().map(<[u8]>::to_vec));
    let Some(data) = section.filter(|data| data.starts_with(b"\xff Go buildinf:")) else { return GoBuild::default() };
    let mut rest = data.get(32..).unwrap_or_default();
    let mut bytes = || {
        let (len, used) = varint(rest)?;
        let (bytes, after) = rest.get(used..)?.split_at_checked(usize::try_from(len).ok()?)?;
        rest = after;
        Some(bytes)
    };
    let version = bytes().unwrap_or_default();
    // The lines are between two marks of 16 bytes, which are not text.
    let modules = bytes().unwrap_or_default();
    let modules = modules.get(16..modules.len().saturating_sub(16)).unwrap_or_default();
    GoBuild::parse(String::from_utf8_lossy(version).into_owned(), &String::from_utf8_lossy(modules))
}

/// A length as Go writes it: seven bits a byte, lowest first.
fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u64;
    for (i, byte) in bytes.iter().take(9).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return Some((value, i + 1));
        }
    }
    None
}
