//! The canonical spelling of a host, which is compared with rules and by which secrets are kept.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The canonical spelling of a host with its port, as in a source or a URL: in lower case, without
/// a user, a dot at the end, or the default port. `None` if the text is not a host.
pub fn canonical(text: &str) -> Option<String> {
    let text = text.rsplit_once('@').map_or(text, |(_, host)| host).to_ascii_lowercase();
    let (name, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            (format!("[{}]", address.parse::<Ipv6Addr>().ok()?), port)
        }
        None => {
            let (name, port) = text.split_at(text.find(':').unwrap_or(text.len()));
            (domain(name)?, port)
        }
    };
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => None,
        None => return None,
        Some(digits) if digits.starts_with('+') => return None,
        Some(digits) => Some(digits.parse::<u16>().ok()?),
    };
    let implied = if is_this_machine(&name) { 80 } else { 443 };
    Some(match port.filter(|port| *port != implied) {
        None => name,
        Some(port) => format!("{name}:{port}"),
    })
}

/// A name in DNS, or an IPv4 address.
fn domain(text: &str) -> Option<String> {
    let name = text.strip_suffix('.').unwrap_or(text);
    let is_label = |label: &str| {
        let is_known = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        !label.is_empty() && label.bytes().all(is_known) && !label.starts_with('-') && !label.ends_with('-')
    };
    // As in browsers, a text that ends in a number is an address or invalid.
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|b| b.is_ascii_digit()) || last.starts_with("0x");
    let is_name = name.split('.').all(is_label);
    (is_name && (!is_number || name.parse::<Ipv4Addr>().is_ok())).then(|| name.to_owned())
}

/// Returns true if a host is written in its canonical spelling.
pub fn is_canonical(host: &str) -> bool {
    canonical(host).as_deref() == Some(host)
}

/// Returns true if a host in its canonical spelling is this machine.
pub fn is_this_machine(host: &str) -> bool {
    if let Some(rest) = host.strip_prefix('[') {
        let address = rest.split_once(']').and_then(|(address, _)| address.parse::<Ipv6Addr>().ok());
        return address.is_some_and(|address| address.is_loopback());
    }
    let name = host.split(':').next().unwrap_or_default();
    name == "localhost" || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

/// The host of a URL, with its port, as it is written.
pub fn of_url(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#', '\\']).next().unwrap_or_default()
}

/// A URL as a message shows it: without the user, because a password may be there.
pub fn without_user(url: &str) -> String {
    replace_user(url, "...@")
}

/// A text with one URL, with `by` in place of its user and the `@` behind the user.
pub fn replace_user(text: &str, by: &str) -> String {
    match of_url(text).rsplit_once('@').filter(|_| text.contains("://")) {
        Some((user, _)) => text.replacen(&format!("{user}@"), by, 1),
        None => text.to_owned(),
    }
}

/// The beginning of a URL for a host: with encryption, except on this machine itself, as other
/// clients of registries do.
pub fn scheme(host: &str) -> &'static str {
    if is_this_machine(host) { "http" } else { "https" }
}

/// The reason why a URL is not fetched: anybody on the way can change an unencrypted answer.
pub fn plain(url: &str) -> String {
    let url = without_user(url);
    let encrypted = url.replacen("http://", "https://", 1).replacen("git://", "https://", 1);
    format!(
        "'{url}' would be fetched without encryption, which only this machine's own addresses are: write '{encrypted}'"
    )
}

/// Returns true if the content of a URL is encrypted on its way, or does not leave this machine.
pub fn is_protected(url: &str) -> bool {
    let url = url.get(..5).filter(|start| start.eq_ignore_ascii_case("git::")).map_or(url, |start| &url[start.len()..]);
    let Some((scheme, _)) = url.split_once("://") else { return true };
    let is_own = canonical(of_url(url)).is_some_and(|host| is_this_machine(&host));
    is_own || !matches!(scheme.to_ascii_lowercase().as_str(), "http" | "git" | "ftp")
}

#[cfg(test)]
mod tests {
    use super::{canonical, is_this_machine, of_url, scheme};

    #[test]
    fn a_host_has_one_spelling() {
        for (text, want) in [
            ("GitHub.com", "github.com"),
            ("github.com.", "github.com"),
            ("u:p@github.com:443", "github.com"),
            ("github.com:0443", "github.com"),
            ("github.com:", ""),
            ("github.com:8443", "github.com:8443"),
            ("127.0.0.1:80", "127.0.0.1"),
            ("127.0.0.1:443", "127.0.0.1:443"),
            ("[0:0::1]:80", "[::1]"),
            ("a_b", "a_b"),
            ("", ""),
            ("a..b", ""),
            ("a.b..", ""),
            ("-a.b", ""),
            ("127.1", ""),
            ("0x7f000001", ""),
            ("2130706433", ""),
            ("[::1", ""),
            ("a b", ""),
            ("h:99999", ""),
            ("h:1:2", ""),
            ("b\u{fc}cher.de", ""),
        ] {
            assert_eq!(canonical(text).unwrap_or_default(), want, "{text}");
        }
    }

    #[test]
    fn this_machine_is_asked_without_encryption_and_no_other() {
        assert_eq!(["localhost", "localhost:5000", "[::1]:5000", "127.0.0.1"].map(scheme), ["http"; 4]);
        assert_eq!(["127.0.0.1.h.io", "localhost.h.io:80", "h.io", "10.0.0.1:80", "0.0.0.0"].map(scheme), ["https"; 5]);
        assert!(!is_this_machine("[::2]") && !is_this_machine(""));
        assert_eq!(of_url("https://h.io:1/a?b"), "h.io:1");
        assert_eq!(of_url("https://u@h.io\\a"), "u@h.io");
    }
}
