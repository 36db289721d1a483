//! [`FileName`]: the name of an installed binary: its plugin, version, interface and platform.

use super::version::{ApiVersion, Version};
use std::fmt;

/// The prefix of every binary's name.
pub const PREFIX: &str = "rustomize-plugin-";

/// The end of the name of the file with a binary's SHA-256.
pub const SUM_SUFFIX: &str = "_SHA256SUM";

/// The end of the name of the file with the sum of a directory's files.
pub const TREE_SUM_SUFFIX: &str = "_H1SUM";

/// The end of the name of the file with the identity of a plugin, after the plugin's own name.
pub const IDENTITY_SUFFIX: &str = "_IDENTITY";

/// The end of the name of the file with the key that has signed a plugin, as older versions of this
/// program wrote it.
pub const SIGNED_SUFFIX: &str = "_SIGNED";

/// The end of the name of the file with the place that a plugin came from, as older versions of
/// this program wrote it.
pub const ORIGIN_SUFFIX: &str = "_ORIGIN";

/// The end of the name of the file with the checksums of the files that an installation has made,
/// after the plugin's own name.
pub const MADE_SUFFIX: &str = "_MADE";

/// The suffixes of all files beside an installed plugin.
pub const BESIDE: [&str; 6] = [SUM_SUFFIX, TREE_SUM_SUFFIX, IDENTITY_SUFFIX, SIGNED_SUFFIX, ORIGIN_SUFFIX, MADE_SUFFIX];

/// A system and a processor in the words of release files: Go's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Platform {
    pub os: String,
    pub arch: String,
}

impl Platform {
    /// This machine's.
    pub fn host() -> Platform {
        let os = match std::env::consts::OS {
            "macos" => "darwin",
            other => other,
        };
        let arch = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            "x86" => "386",
            other => other,
        };
        Platform { os: os.to_owned(), arch: arch.to_owned() }
    }

    /// The platform of plugins that run everywhere: directories with scripts.
    pub fn any() -> Platform {
        Platform { os: "any".to_owned(), arch: "any".to_owned() }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.os, self.arch)
    }
}

/// `rustomize-plugin-<name>_v<version>_<api version>_<os>_<arch>`, with `.exe` on Windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName {
    pub name: String,
    pub version: Version,
    pub api: ApiVersion,
    pub platform: Platform,
}

/// The reason why a file is not a plugin for this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameError {
    /// It has another form.
    Form,
    /// It is named for another plugin than its directory.
    OtherName(String),
    Version(String),
    /// It is for another machine.
    Platform(Platform),
    /// It is for Windows, and does not end in `.exe`.
    NoExe,
    /// It ends in `.exe`, and is not for Windows.
    Exe,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameError::Form => {
                write!(f, "its name is not '{PREFIX}<name>_v<version>_<api version>_<os>_<arch>'")
            }
            NameError::OtherName(name) => write!(f, "its directory is that of the plugin '{name}'"),
            NameError::Version(why) => f.write_str(why),
            NameError::Platform(platform) => write!(f, "it is for {platform}"),
            NameError::NoExe => f.write_str("its name does not end in '.exe'"),
            NameError::Exe => f.write_str("its name ends in '.exe'"),
        }
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extension = if self.platform.os == "windows" { ".exe" } else { "" };
        write!(f, "{PREFIX}{}_v{}_{}_{}{extension}", self.name, self.version, self.api, self.platform)
    }
}

impl FileName {
    /// Reads the name of a file in the directory of the plugin `name`, on the machine
    /// `host`.
    ///
    /// # Errors
    /// The name is not that of a binary for the plugin and the machine.
    pub fn parse(file: &str, name: &str, host: &Platform) -> Result<FileName, NameError> {
        let rest = file.strip_prefix(PREFIX).ok_or(NameError::Form)?;
        let bare = rest.strip_suffix(".exe");
        let is_exe = bare.is_some();
        // From the end: a name may have underscores.
        let mut parts = bare.unwrap_or(rest).rsplitn(5, '_');
        let mut part = || parts.next().ok_or(NameError::Form);
        let (arch, os, api, version, found) = (part()?, part()?, part()?, part()?, part()?);
        if found != name {
            return Err(NameError::OtherName(name.to_owned()));
        }
        let version = match version.strip_prefix('v') {
            Some(bare) => bare.parse().map_err(|e: super::version::VersionError| NameError::Version(e.to_string()))?,
            None => return Err(NameError::Form),
        };
        let api = api.parse().map_err(|e: super::version::VersionError| NameError::Version(e.to_string()))?;
        let platform = Platform { os: os.to_owned(), arch: arch.to_owned() };
        if platform != *host && platform != Platform::any() {
            return Err(NameError::Platform(platform));
        }
        match (platform.os == "windows", is_exe) {
            (true, false) => return Err(NameError::NoExe),
            (false, true) => return Err(NameError::Exe),
            _ => {}
        }
        Ok(FileName { name: name.to_owned(), version, api, platform })
    }
}

#[cfg(test)]
mod tests {
    use super::{FileName, NameError, Platform};

    fn platform(os: &str, arch: &str) -> Platform {
        Platform { os: os.to_owned(), arch: arch.to_owned() }
    }

    fn parse(file: &str) -> Result<FileName, NameError> {
        FileName::parse(file, "app", &platform("linux", "amd64"))
    }

    #[test]
    fn a_name_says_what_a_binary_is() {
        let file = "rustomize-plugin-app_v1.2.3_x1.0_linux_amd64";
        let name = parse(file).unwrap();
        assert_eq!(name.to_string(), file);
        assert_eq!((name.version.to_string().as_str(), name.api.to_string().as_str()), ("1.2.3", "x1.0"));
        let windows = "rustomize-plugin-app_v1.2.3-dev_x1.0_windows_amd64.exe";
        let name = FileName::parse(windows, "app", &platform("windows", "amd64")).unwrap();
        assert_eq!(name.to_string(), windows);
        for other in [
            "app_v1.2.3_x1.0_linux_amd64",
            "rustomize-plugin-app_1.2.3_x1.0_linux_amd64",
            "rustomize-plugin-app",
            "README.md",
        ] {
            assert_eq!(parse(other), Err(NameError::Form), "{other}");
        }
    }

    #[test]
    fn the_name_is_that_of_the_directory() {
        assert_eq!(parse("rustomize-plugin-b_v1.2.3_x1.0_linux_amd64"), Err(NameError::OtherName("app".to_owned())));
        let odd = FileName::parse("rustomize-plugin-a_b_v1.2.3_x1.0_linux_amd64", "a_b", &platform("linux", "amd64"));
        assert_eq!(odd.unwrap().name, "a_b");
    }

    #[test]
    fn versions_are_checked() {
        for version in ["1.2", "1.2.3+m", "1.00.01", "1.2.3-rc1"] {
            let name = format!("rustomize-plugin-app_v{version}_x1.0_linux_amd64");
            assert!(matches!(parse(&name), Err(NameError::Version(_))), "{name}");
        }
        assert!(matches!(parse("rustomize-plugin-app_v1.2.3_1.0_linux_amd64"), Err(NameError::Version(_))));
    }

    #[test]
    fn other_machines_are_ignored() {
        for (os, arch) in [("darwin", "amd64"), ("linux", "arm64")] {
            let name = format!("rustomize-plugin-app_v1.2.3_x1.0_{os}_{arch}");
            assert_eq!(parse(&name), Err(NameError::Platform(platform(os, arch))));
        }
        assert!(parse("rustomize-plugin-app_v1.2.3_x1.0_any_any").is_ok());
    }

    #[test]
    fn exe_is_for_windows_alone() {
        assert_eq!(parse("rustomize-plugin-app_v1.2.3_x1.0_linux_amd64.exe"), Err(NameError::Exe));
        let windows = platform("windows", "amd64");
        let bare = FileName::parse("rustomize-plugin-app_v1.2.3_x1.0_windows_amd64", "app", &windows);
        assert_eq!(bare, Err(NameError::NoExe));
        // A plugin in Python or Node says 'any' in place of a platform, and lacks the end.
        let any = "rustomize-plugin-app_v1.2.3_x1.0_any_any";
        assert_eq!(FileName::parse(any, "app", &windows).unwrap().to_string(), any);
        let file = "rustomize-plugin-app_v1.2.3_x1.0_windows_amd64.exe";
        assert_eq!(FileName::parse(file, "app", &windows).unwrap().to_string(), file);
    }
}
