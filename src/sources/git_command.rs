//! [`GitCommand`]: the arguments of git. All arguments are made here.
//!
//! Options are constants of this program. Texts that a file or a server has written are passed as
//! words, and a word that looks like an option is refused. The arguments are those of kustomize,
//! which wrappers of git know.

use crate::diag::{Code, Error, Result};
use std::ffi::OsString;

/// Settings of every command. They override the settings of the user and of a repository, so that
/// nothing in a tree runs. The user's own protocols and credential helpers remain in effect.
const SETTINGS: [&str; 4] = [
    // A relative path in the user's settings would lead into the tree.
    NO_HOOKS,
    "core.fsmonitor=false",
    // These two protocols run the command in the address, which a submodule may choose.
    "protocol.ext.allow=never",
    "protocol.fd.allow=never",
];

/// The setting that names no directory of hooks. On Windows `/dev/null` would be a directory that
/// every user can make, and no name has these brackets.
const NO_HOOKS: &str = if cfg!(windows) { "core.hooksPath=C:/<none>" } else { "core.hooksPath=/dev/null" };

/// The settings of a clone on Windows, where git changes the ends of lines: files have the same
/// bytes on all systems.
const LINE_ENDS: &[&str] = if cfg!(windows) { &["core.autocrlf=false", "core.eol=lf"] } else { &[] };

/// The variable by which git passes on `-c`. So the first argument remains the name of the command,
/// which a wrapper of git may look at.
pub const VARIABLE: &str = "GIT_CONFIG_PARAMETERS";

/// The commands of git-lfs, as `git lfs install` writes them.
const LFS: [&str; 6] = [
    "git-lfs clean -- %f",
    "git-lfs smudge -- %f",
    "git-lfs smudge --skip -- %f",
    "git-lfs filter-process",
    "git-lfs filter-process --skip",
    "true",
];

/// The filters in git's settings: programs that change files as git reads and writes them. The
/// attributes of a tree, which strangers write, choose among them.
#[derive(Clone, Debug, Default)]
pub struct Filters(Vec<Vec<u8>>);

/// A filter in git's settings.
struct ListedFilter {
    name: Vec<u8>,
    /// True if all its settings are those of git-lfs itself.
    is_lfs: bool,
}

impl Filters {
    /// The command that prints the filters.
    pub const LIST: GitCommand<'static> = GitCommand {
        name: "config",
        options: &["--null", "--get-regexp", r"^filter\."],
        words: &[],
        is_without_files: false,
    };

    /// All filters in the output of [`Filters::LIST`].
    pub fn all(printed: &[u8]) -> Filters {
        Filters(Filters::parse(printed).into_iter().map(|filter| filter.name).collect())
    }

    /// All filters in the output of [`Filters::LIST`], except that of git-lfs if it has exactly the
    /// settings of git-lfs itself. For clones of our own: a repository with settings of strangers
    /// may make git-lfs run programs.
    pub fn all_except_lfs(printed: &[u8]) -> Filters {
        let filters = Filters::parse(printed).into_iter().filter(|filter| !filter.is_lfs);
        Filters(filters.map(|filter| filter.name).collect())
    }

    fn parse(printed: &[u8]) -> Vec<ListedFilter> {
        let mut filters: Vec<ListedFilter> = Vec::new();
        for setting in printed.split(|&byte| byte == 0) {
            let end = setting.iter().position(|&byte| byte == b'\n').unwrap_or(setting.len());
            let (key, value) = (&setting[..end], setting.get(end + 1..).unwrap_or_default());
            let name = key.strip_prefix(b"filter.".as_slice());
            let dot = |name: &&[u8]| name.iter().rposition(|&byte| byte == b'.');
            let Some((name, dot)) = name.and_then(|name| Some((name, dot(&name)?))) else { continue };
            let name = &name[..dot];
            let is_lfs = name == b"lfs" && LFS.iter().any(|command| command.as_bytes() == value);
            match filters.iter_mut().find(|known| known.name == name) {
                Some(known) => known.is_lfs &= is_lfs,
                None => filters.push(ListedFilter { name: name.to_owned(), is_lfs }),
            }
        }
        filters
    }

    /// The settings that turn the filters off.
    fn settings(&self) -> impl Iterator<Item = Vec<u8>> {
        let parts = [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];
        self.0.iter().flat_map(move |name| {
            parts.map(|(part, value)| {
                let key = [b"filter.", &name[..], b".", part.as_bytes()].concat();
                // Key and value are quoted apart: the key may have an equals sign.
                [quoted_always(&key), vec![b'='], quoted_always(value.as_bytes())].concat()
            })
        })
    }
}

/// A text in quotes, as git reads them in its variable.
fn quoted_always(text: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for &byte in text {
        match byte {
            b'\'' | b'!' => quoted.extend([b'\'', b'\\', byte, b'\'']),
            byte => quoted.push(byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

/// The value of [`VARIABLE`]: its present value `known`, then the settings of every command without
/// `left_out`, and those that turn filters off.
pub fn settings(known: Option<OsString>, more: &[&str], left_out: &str, filters: &Filters) -> Vec<u8> {
    let ours = SETTINGS.iter().chain(more).filter(|setting| left_out.is_empty() || !setting.starts_with(left_out));
    let ours = ours.map(|setting| quoted_always(setting.as_bytes())).chain(filters.settings());
    let known = known.map(OsString::into_encoded_bytes).filter(|known| !known.is_empty());
    let all: Vec<Vec<u8>> = known.into_iter().chain(ours).collect();
    all.join(&b' ')
}

/// The setting that keeps git away from repositories of this machine.
const NO_FILES: &str = "protocol.file.allow=never";

/// A git command.
#[derive(Clone, Copy, Debug)]
pub struct GitCommand<'w> {
    name: &'static str,
    options: &'static [&'static str],
    words: &'w [&'w str],
    /// True if git must not read repositories of this machine.
    is_without_files: bool,
}

impl<'w> GitCommand<'w> {
    /// A command with its options, which are never texts of a file.
    pub fn new(name: &'static str, options: &'static [&'static str]) -> Self {
        GitCommand { name, options, words: &[], is_without_files: false }
    }

    /// The command with the texts that it works on.
    pub fn with_words(self, words: &'w [&'w str]) -> Self {
        GitCommand { words, ..self }
    }

    /// The command, without access to repositories of this machine.
    pub fn without_files(self) -> Self {
        GitCommand { is_without_files: true, ..self }
    }

    /// The name of the command in errors.
    pub fn shown(&self) -> String {
        let parts = [self.name].into_iter().chain(self.options.iter().copied()).chain(self.words.iter().copied());
        format!("git {}", parts.collect::<Vec<_>>().join(" "))
    }

    /// The value of [`VARIABLE`] for the command, which works on a clone.
    pub fn settings(&self, filters: &Filters) -> Vec<u8> {
        let no_files: &[&str] = if self.is_without_files { &[NO_FILES] } else { &[] };
        settings(None, &[LINE_ENDS, no_files].concat(), "", filters)
    }

    /// The arguments of git.
    ///
    /// # Errors
    /// A word looks like an option, or has a control character.
    pub fn arguments(&self) -> Result<Vec<OsString>> {
        self.words.iter().try_for_each(|word| check(word))?;
        let command = [self.name].into_iter().chain(self.options.iter().copied());
        Ok(command.chain(self.words.iter().copied()).map(OsString::from).collect())
    }
}

fn check(word: &str) -> Result<()> {
    let fault = |what: &str| {
        let error =
            Error::new(Code::Refused, format!("security; git is not called with '{}': it {what}", word.escape_debug()));
        error.hint("an address is 'https://host/repository//directory?ref=VERSION'")
    };
    match word {
        _ if word.starts_with('-') => Err(fault("begins with '-', as an option does")),
        _ if word.contains(char::is_control) => Err(fault("has a control character")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Filters, GitCommand};

    #[test]
    fn words_are_no_options() {
        let command = GitCommand::new("fetch", &["--depth=1"]).with_words(&["https://h/o/r", "main"]);
        let arguments = command.arguments().unwrap();
        assert_eq!(arguments, ["fetch", "--depth=1", "https://h/o/r", "main"]);
        assert_eq!(command.shown(), "git fetch --depth=1 https://h/o/r main");
        let bare = GitCommand::new("init", &[]).without_files();
        assert_eq!(bare.arguments().unwrap(), ["init"]);
        let settings = String::from_utf8(bare.settings(&Filters::default())).unwrap();
        assert!(settings.ends_with(" 'protocol.file.allow=never'"), "{settings}");
        for word in ["-x", "--upload-pack=x", "a\nb", "a\0b"] {
            assert!(command.with_words(&["https://h/o/r", word]).arguments().is_err(), "{word}");
        }
    }

    #[test]
    fn filters_do_not_run_but_the_one_of_git_lfs() {
        let printed = b"filter.lfs.clean\ngit-lfs clean -- %f\0filter.lfs.required\ntrue\0filter.a.b's=.smudge\nrm\0";
        let settings = |filters: Filters| {
            let all = String::from_utf8(GitCommand::new("checkout", &[]).settings(&filters)).unwrap();
            all.split_once("'protocol.fd.allow=never'").unwrap().1.trim().to_owned()
        };
        let own = r"'filter.a.b'\''s=.clean'='' 'filter.a.b'\''s=.smudge'='' 'filter.a.b'\''s=.process'='' 'filter.a.b'\''s=.required'='false'";
        assert_eq!(settings(Filters::all_except_lfs(printed)), own);
        let lfs = "'filter.lfs.clean'='' 'filter.lfs.smudge'='' 'filter.lfs.process'='' 'filter.lfs.required'='false'";
        assert_eq!(settings(Filters::all(printed)), format!("{lfs} {own}"));
        let other = [printed, &b"filter.lfs.smudge\nrm -rf .\0"[..]].concat();
        assert_eq!(settings(Filters::all_except_lfs(&other)), format!("{lfs} {own}"));
    }
}
