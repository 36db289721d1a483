//! [`Permissions`]: the rights of a plugin besides reading its own files, those of the system and
//! the kustomization's root.
//!
//! A plugin asks for permissions in `plugin.yaml` or in its description; the lock file keeps them;
//! `trust.yaml` grants them. A plugin that asks for more than its rule allows is refused: a
//! repository may request, never grant.

use crate::config::{Decode, Decoder};
use crate::diag::Result;
use rustomize_base::shell::quoted;
use rustomize_base::shown::is_unseen;
use rustomize_yaml::Node;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// Permissions that are asked for, or granted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Permissions {
    /// True if it is the network.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// Files and directories to read: absolute, or in the user's home as `~/...`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// Files and directories to read and write.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<String>,
    /// UNIX sockets to connect to. A grant of one opens every one that the user may connect to:
    /// nothing in the system tells them apart for a process.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sockets: Vec<String>,
    /// Variables of the environment; as a grant, `*` stands for any text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
}

#[derive(Default, Decode)]
struct Raw<'a> {
    network: bool,
    read: Vec<&'a str>,
    write: Vec<&'a str>,
    sockets: Vec<&'a str>,
    env: Vec<&'a str>,
}

// By hand: the lists outlive the text, and their paths are checked in place.
impl<'a> Decode<'a> for Permissions {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        let mut raw = Raw::default();
        raw.decode(node, cx)?;
        let texts = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect();
        *self = Permissions {
            network: raw.network,
            read: texts(raw.read),
            write: texts(raw.write),
            sockets: texts(raw.sockets),
            env: texts(raw.env),
        };
        match self.fault() {
            Some(fault) => Err(cx.error(node.pos(), fault)),
            None => Ok(()),
        }
    }
}

impl Permissions {
    /// Returns whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Permissions::default()
    }

    /// The fault of an invalid permission, in words.
    pub fn fault(&self) -> Option<String> {
        let is_place = |path: &&String| !(path.starts_with('/') || path.starts_with("~/")) || leaves(path);
        let mut paths = self.read.iter().chain(&self.write).chain(&self.sockets);
        let mut all = paths.clone().chain(&self.env);
        if let Some((text, c)) = all.find_map(|text| Some((text, text.chars().find(|c| is_unseen(*c))?))) {
            return Some(format!("the permission for '{text}' has the character {c:?}, which cannot be seen"));
        }
        if let Some(path) = paths.find(is_place) {
            return Some(format!("the permission for '{path}' is for no path: write it as /etc/app or ~/.app"));
        }
        self.below_write(None)
    }

    /// The fault of a permission for a path below another one that may be written, in words:
    /// whoever may write a directory decides where a path below it leads.
    pub fn below_write(&self, home: Option<&Path>) -> Option<String> {
        let all = || self.read.iter().chain(&self.write).chain(&self.sockets);
        self.write.iter().find_map(|above| {
            let place = place(above, home);
            let is_below = |path: &&String| {
                let path = self::place(path, home);
                path != place && path.starts_with(&place)
            };
            let below = all().find(is_below)?;
            Some(format!(
                "the permission for '{below}' is below '{above}', which may be written: leave one of them out"
            ))
        })
    }

    /// The permissions that are not in `granted`, whose paths have no links. `home` is the
    /// directory behind `~`: a shell may have replaced `~` in one of the two. A path that leads
    /// through a link counts, and is given, as the path that it leads to now. It costs calls of the
    /// system for each path.
    #[must_use]
    pub fn beyond(&self, granted: &Permissions, home: Option<&Path>) -> Permissions {
        let home = home.map(real);
        let home = home.as_deref();
        self.without_links(home).beyond_places(granted, home)
    }

    /// The permissions that are not in `granted`, if both are compared as texts: a lock is for
    /// machines with other files.
    #[must_use]
    pub fn beyond_words(&self, granted: &Permissions) -> Permissions {
        self.beyond_places(granted, None)
    }

    fn beyond_places(&self, granted: &Permissions, home: Option<&Path>) -> Permissions {
        let is_below = |path: &String, places: &[String]| {
            let path = place(path, home);
            places.iter().any(|granted| path.starts_with(place(granted, home)))
        };
        let is_read = |path: &&String| !is_below(path, &granted.read) && !is_below(path, &granted.write);
        Permissions {
            network: self.network && !granted.network,
            read: self.read.iter().filter(is_read).cloned().collect(),
            write: self.write.iter().filter(|path| !is_below(path, &granted.write)).cloned().collect(),
            sockets: self.sockets.iter().filter(|path| !is_below(path, &granted.sockets)).cloned().collect(),
            env: self.env.iter().filter(|name| !granted.env.iter().any(|g| is_like(g, name))).cloned().collect(),
        }
    }

    /// The same, with the paths that its paths lead to now. A path that has no link stays as it is
    /// written.
    #[must_use]
    pub fn without_links(&self, home: Option<&Path>) -> Permissions {
        let home = home.map(real);
        let without = |path: &String| {
            let named = place(path, home.as_deref());
            let real = real(&named);
            if real == named { path.clone() } else { real.to_string_lossy().into_owned() }
        };
        let all = |paths: &[String]| paths.iter().map(without).collect();
        Permissions {
            read: all(&self.read),
            write: all(&self.write),
            sockets: all(&self.sockets),
            env: self.env.clone(),
            network: self.network,
        }
    }

    /// This and what else is granted, each once.
    #[must_use]
    pub fn and(mut self, more: &Permissions) -> Permissions {
        self.network |= more.network;
        let lists = [
            (&mut self.read, &more.read),
            (&mut self.write, &more.write),
            (&mut self.sockets, &more.sockets),
            (&mut self.env, &more.env),
        ];
        for (all, more) in lists {
            let new: Vec<String> = more.iter().filter(|value| !all.contains(value)).cloned().collect();
            all.extend(new);
        }
        self
    }

    /// The paths to read, and those to write, in the home of a user.
    pub fn paths(&self, home: Option<&Path>) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let home = home.map(real);
        let all = |paths: &[String]| {
            paths.iter().map(|path| place(path, home.as_deref())).filter(|path| path.is_absolute()).collect()
        };
        (all(&self.read), all(&self.write))
    }

    /// The arguments of `plugin trust` that grant this.
    pub fn flags(&self) -> String {
        let mut flags = Vec::new();
        if self.network {
            flags.push("--allow-net".to_owned());
        }
        let lists = [
            ("--allow-read", &self.read),
            ("--allow-write", &self.write),
            ("--allow-socket", &self.sockets),
            ("--allow-env", &self.env),
        ];
        for (flag, values) in lists {
            flags.extend(values.iter().map(|value| format!("{flag} {}", quoted(value))));
        }
        flags.join(" ")
    }
}

/// The path that a path leads to: that of the longest part which exists, and the rest of it.
pub fn real(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (dunce::canonicalize(above), path.strip_prefix(above)) {
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path.to_owned()
}

/// A path with the home in the place of `~`, where there is one.
fn place(path: &str, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// Returns whether a path has the part `..`.
fn leaves(path: &str) -> bool {
    Path::new(path).components().any(|part| part == Component::ParentDir)
}

/// Returns true if a name matches a pattern, in which `*` is any text. O(length of the name x of
/// the pattern).
pub fn is_like(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let start = pieces.next().unwrap_or_default();
    let Some(end) = pieces.next_back() else { return pattern == name };
    let Some(mut rest) = name.strip_prefix(start).and_then(|rest| rest.strip_suffix(end)) else { return false };
    // The first match of a piece leaves the longest rest for the pieces after it.
    pieces.all(|piece| match rest.find(piece) {
        Some(at) => {
            rest = &rest[at + piece.len()..];
            true
        }
        None => false,
    })
}

impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        if self.network {
            words.push("the network".to_owned());
        }
        let sockets = "every UNIX socket that you may connect to, for";
        let lists =
            [("reading", &self.read), ("writing", &self.write), (sockets, &self.sockets), ("the variable", &self.env)];
        for (what, values) in lists {
            words.extend(values.iter().map(|value| format!("{what} {value}")));
        }
        f.write_str(&words.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::{Permissions, is_like};
    use std::path::Path;

    fn of(network: bool, read: &[&str], write: &[&str], env: &[&str]) -> Permissions {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        Permissions { network, read: texts(read), write: texts(write), env: texts(env), ..Permissions::default() }
    }

    #[test]
    fn what_is_beyond_a_grant() {
        let asked = of(true, &["/etc/app/x", "~/.kube/config", "/w/in"], &["/w/out"], &["AWS_PROFILE", "HOME"]);
        assert_eq!(asked.beyond(&Permissions::default(), None), asked);
        assert!(asked.beyond(&asked, None).is_empty());
        let granted = of(true, &["/etc/app", "~/.kube"], &["/w"], &["AWS_*"]);
        assert_eq!(asked.beyond(&granted, None), of(false, &[], &[], &["HOME"]));
        // A part of a name is not a directory, and a path for reading must not be written.
        assert_eq!(
            of(false, &["/etc/apple"], &["/etc/app"], &[]).beyond(&granted, None),
            of(false, &["/etc/apple"], &["/etc/app"], &[])
        );
        // A shell may have replaced `~` in a grant or in a request.
        let (short, long) = (of(false, &["~/.kube"], &[], &[]), of(false, &["/home/u/.kube"], &[], &[]));
        let home = Some(Path::new("/home/u"));
        assert!(short.beyond(&long, home).is_empty() && long.beyond(&short, home).is_empty());
        assert_eq!(short.beyond(&long, Some(Path::new("/root"))), short);
        assert!(is_like("A*C*", "ABCD") && !is_like("A*C", "ABCD") && is_like("*", ""));
        assert!(is_like("A*B*C", "ABBC") && !is_like("A*A", "A") && !is_like("*BA*AB", "ABAB"));
        // With a try for each place of each star this would not end.
        assert!(!is_like(&"*a".repeat(40), &"a".repeat(39)) && !is_like(&format!("{}b", "*".repeat(60)), "github.com"));
    }

    #[test]
    fn sockets_are_granted_by_path_and_shown_as_what_they_open() {
        let sockets = |paths: &[&str]| Permissions {
            sockets: paths.iter().map(|path| (*path).to_owned()).collect(),
            ..Permissions::default()
        };
        let asked = sockets(&["/run/docker.sock"]);
        assert!(asked.beyond(&sockets(&["/run"]), None).is_empty());
        assert_eq!(asked.beyond(&sockets(&["/run/other.sock"]), None), asked);
        assert_eq!(asked.to_string(), "every UNIX socket that you may connect to, for /run/docker.sock");
        assert_eq!(asked.flags(), "--allow-socket /run/docker.sock");
        assert_eq!(Permissions::default().and(&asked), asked);
        assert!(sockets(&["run/x"]).fault().is_some());
    }

    #[test]
    fn it_is_shown_as_what_grants_it() {
        let asked = of(true, &["/a"], &["~/b"], &["X"]);
        assert_eq!(asked.to_string(), "the network, reading /a, writing ~/b, the variable X");
        assert_eq!(asked.flags(), "--allow-net --allow-read /a --allow-write '~/b' --allow-env X");
        let (read, write) = asked.paths(Some(Path::new("/home/u")));
        assert_eq!((read[0].to_str(), write[0].to_str()), (Some("/a"), Some("/home/u/b")));
        assert!(asked.fault().is_none() && of(false, &["x"], &[], &[]).fault().is_some());
        assert!(of(false, &[], &["/a/../b"], &[]).fault().is_some());
        assert!(
            of(false, &["/a\u{1b}"], &[], &[]).fault().is_some() && of(false, &[], &[], &["A\r"]).fault().is_some()
        );
        assert!(of(false, &["/a/b"], &["/a"], &[]).fault().is_some_and(|fault| fault.contains("'/a/b' is below '/a'")));
        assert!(of(false, &["/a"], &["/a", "/ab"], &[]).fault().is_none());
    }

    #[test]
    fn a_link_counts_as_what_it_leads_to() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        std::fs::create_dir(home.join("out")).unwrap();
        std::os::unix::fs::symlink(&home, home.join("out/l")).unwrap();
        let granted = of(false, &[], &["~/out"], &[]);
        assert!(of(false, &["~/out/new"], &[], &[]).beyond(&granted, Some(&home)).is_empty());
        let beyond = of(false, &["~/out/l/key"], &[], &[]).beyond(&granted, Some(&home));
        assert_eq!(beyond.read, [home.join("key").to_string_lossy()]);
        // A grant stays what it was, whatever its path leads to later.
        let granted = of(false, &["~/out/l"], &[], &[]);
        assert!(!granted.beyond(&granted, Some(&home)).is_empty());
        assert!(granted.beyond(&granted.without_links(Some(&home)), Some(&home)).is_empty());
    }
}
