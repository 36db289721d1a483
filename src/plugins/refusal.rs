//! What a sandbox has refused a plugin that failed, as far as the plugin's messages tell: the
//! kernel answers a refused call with an error, and reports it to nobody else.

use super::isolation::{Isolation, Level};
use rustomize_base::host::Host;
use rustomize_base::shell::quoted;
use std::path::Path;

/// Parts of messages that programs print where they have no network, in lower case.
const NETWORK: [&str; 13] = [
    "resolve host",
    "name resolution",
    "name or service not known",
    "getaddrinfo",
    "eai_again",
    "enotfound",
    "network is unreachable",
    "no such host",
    "dial tcp",
    "failed to connect",
    "could not connect",
    "urlopen error",
    "newconnectionerror",
];

/// The exit statuses of curl for a host that it cannot resolve or reach.
const STATUSES_OF_CURL: [&str; 2] = ["exit status: 6", "exit status: 7"];

/// Parts of messages about a file that may not be opened, in lower case.
const FILES: [&str; 4] = ["permission denied", "operation not permitted", "eacces", "eperm"];

/// Parts of messages about a file that may not be written, in lower case.
const WRITES: [&str; 6] = ["read-only file system", "erofs", "cannot create", "cannot touch", "cannot remove", "mkdir"];

/// At most this many paths are listed.
const LISTED: usize = 3;

/// The longest path that is looked at, in bytes.
const LONGEST: usize = 256;

/// The name of the directory that a sandbox has as its home, without the random end.
const OWN_HOME: &str = "/rustomize-plugin-";

/// The reason in words why a plugin may have failed, and the advice about it.
pub(super) struct Refusal {
    /// The rights that the sandbox leaves out.
    pub sandbox: String,
    /// The advice; `None` if the messages are about something else.
    pub hint: Option<String>,
}

/// The refusal that `said`, the messages of a plugin, and its exit status tell; `None` for a plugin
/// without a sandbox. Paths and variables count if the user has them. O(length of the messages).
pub(super) fn of(isolation: &Isolation, host: &dyn Host, status: &str, said: &str) -> Option<Refusal> {
    if isolation.level == Level::Off {
        return None;
    }
    let is_apart = isolation.is_apart || isolation.level == Level::Strict;
    let lacks = [(!isolation.network, "the network"), (true, "your other files"), (is_apart, "your variables")];
    let lacks: Vec<&str> = lacks.iter().filter(|(is_missing, _)| *is_missing).map(|(_, name)| *name).collect();
    let list = match lacks.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    };
    let lower = said.to_lowercase();
    let is_of_network = NETWORK.iter().any(|part| lower.contains(part))
        || (said.trim().is_empty() && STATUSES_OF_CURL.contains(&status));
    let (paths, written) = paths(said, host);
    let variable = variable(said, |name| is_apart && host.variable(name).is_some() && !is_granted(isolation, name));
    let hint = if is_of_network && !isolation.network {
        Some(advice(isolation, "it has no network", "--plugin-allow-net", "network: true"))
    } else if let Some(first) = paths.first() {
        let (flag, key, verb) = match written {
            true => ("--plugin-allow-write", "write", "write"),
            false => ("--plugin-allow-read", "read", "read"),
        };
        let shown: Vec<&str> = paths.iter().take(LISTED).map(String::as_str).collect();
        let more = if paths.len() > LISTED { format!(" and {} more", paths.len() - LISTED) } else { String::new() };
        let lack = format!("it may not {verb} {}{more}", shown.join(", "));
        match first.starts_with("~/") {
            // The plugin finds its home by the variable.
            true => {
                let lack = format!("its home is a directory of its own, without {}{more}", shown.join(", "));
                let permission = format!("env: [HOME], {key}: [{first}]");
                Some(advice(isolation, &lack, &format!("--plugin-allow-env HOME {flag} {first}"), &permission))
            }
            false => Some(advice(isolation, &lack, &format!("{flag} {}", quoted(first)), &format!("{key}: [{first}]"))),
        }
    } else if let Some(name) = variable {
        let lack = format!("it does not have your variable {name}");
        Some(advice(isolation, &lack, &format!("--plugin-allow-env {name}"), &format!("env: [{name}]")))
    } else if said.trim().is_empty() {
        let general = "if it needs them, let it have them with --plugin-allow-net, --plugin-allow-read PATH or \
                       --plugin-allow-env NAME; to compare, pass --plugin-isolation off";
        Some(general.to_owned())
    } else {
        None
    };
    Some(Refusal { sandbox: format!("it ran in a sandbox, without {list}"), hint })
}

/// The advice about a right that is missing: the flag of a build, and the permission that an
/// installed plugin asks for.
fn advice(isolation: &Isolation, lack: &str, flag: &str, permission: &str) -> String {
    match isolation.is_apart {
        true => format!("{lack}: pass {flag}, or let its plugin.yaml ask for it: permissions: {{{permission}}}"),
        false => format!("{lack}: pass {flag}"),
    }
}

fn is_granted(isolation: &Isolation, name: &str) -> bool {
    isolation.variables.iter().any(|(granted, _)| granted == name)
}

/// The paths that messages say may not be opened, each once, and whether one of them was to be
/// written. A path in the home of the sandbox is shown as that in the user's home, if it exists
/// there.
fn paths(said: &str, host: &dyn Host) -> (Vec<String>, bool) {
    let (mut found, mut is_written): (Vec<String>, bool) = (Vec::new(), false);
    for line in said.lines() {
        let lower = line.to_lowercase();
        let writes = WRITES.iter().any(|part| lower.contains(part));
        let is_refused = writes || FILES.iter().any(|part| lower.contains(part));
        let of_home = line.contains(OWN_HOME) && lower.contains("no such file");
        if !is_refused && !of_home {
            continue;
        }
        let is_edge = |c: char| c.is_whitespace() || "'\"`‘’“”:,;()[]".contains(c);
        for word in line.split(is_edge).filter(|word| word.starts_with('/') && word.len() <= LONGEST) {
            let path = match below_own_home(word) {
                Some(below) => {
                    let is_there = host.home().is_some_and(|home| home.join(below).exists());
                    is_there.then(|| format!("~/{below}"))
                }
                None => is_refused.then(|| word.to_owned()).filter(|path| is_place(Path::new(path), writes)),
            };
            if let Some(path) = path.filter(|path| !found.contains(path)) {
                is_written |= writes;
                found.push(path);
            }
        }
    }
    (found, is_written)
}

/// True for a path that the user has: one that exists, or, to be written, one whose directory does.
fn is_place(path: &Path, is_written: bool) -> bool {
    let above = path.parent().filter(|above| is_written && above.parent().is_some());
    path.exists() || above.is_some_and(Path::exists)
}

/// The part of a path below the home of a sandbox.
fn below_own_home(path: &str) -> Option<&str> {
    let (_, rest) = path.split_once(OWN_HOME)?;
    rest.split_once('/').map(|(_, below)| below).filter(|below| !below.is_empty())
}

/// The first variable that messages say is not set, of those that `is_hidden` says the sandbox
/// leaves out.
fn variable(said: &str, is_hidden: impl Fn(&str) -> bool) -> Option<&str> {
    let is_name = |word: &&str| {
        let mut bytes = word.bytes();
        let starts = bytes.next().is_some_and(|byte| byte.is_ascii_uppercase() || byte == b'_');
        starts && word.len() > 1 && bytes.all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
    };
    let words = said.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(is_name).find(|name| is_hidden(name))
}

#[cfg(test)]
mod tests {
    use super::{Isolation, Level, of};
    use rustomize_base::host::NoHost;

    fn hint(level: Level, network: bool, status: &str, said: &str) -> Option<String> {
        let isolation = Isolation { level, network, is_apart: true, ..Isolation::default() };
        of(&isolation, &NoHost, status, said)?.hint
    }

    #[test]
    fn the_messages_of_a_plugin_tell_which_right_it_lacks() {
        let auto = |status, said| hint(Level::Auto, false, status, said).unwrap_or_default();
        assert!(auto("exit status: 1", "curl: (6) Could not resolve host: a.example").contains("--plugin-allow-net"));
        assert!(auto("exit status: 7", "").contains("network: true"));
        assert!(auto("exit status: 1", "cat: /etc/hostname: Permission denied").contains("read: [/etc/hostname]"));
        assert!(auto("exit status: 1", "").contains("--plugin-isolation off"));
        assert_eq!(auto("exit status: 1", "the field 'count' is missing"), "");
        assert_eq!(auto("exit status: 1", "cat: /no/such/file: Permission denied"), "");
    }

    #[test]
    fn rights_that_a_plugin_has_are_not_advised() {
        assert_eq!(hint(Level::Auto, true, "exit status: 1", "curl: (6) Could not resolve host: a.example"), None);
        assert_eq!(hint(Level::Off, false, "exit status: 7", ""), None);
    }
}
