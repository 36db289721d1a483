//! [`TokenServer`]: the server that a registry names in its answer to a client without a token.

use super::host::{self, is_protected};
use super::is_url;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ureq::http::HeaderMap;

/// Characters that stay as they are in the values of a query.
const QUERY: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/').remove(b':').remove(b',');

/// The way in which a registry wants to be asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// With the secret of the user.
    Basic,
    /// With a token of a server.
    Token(TokenServer),
}

/// A server that hands out tokens, and what it is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TokenServer {
    /// The canonical spelling of its host.
    pub(super) host: String,
    /// The address of a token.
    pub(super) url: String,
}

impl Challenge {
    /// The challenge in the headers `WWW-Authenticate` of an answer, each of which has one. A token
    /// is preferred. `None` if there is no challenge that this program can meet.
    pub(super) fn of(headers: &HeaderMap) -> Option<Challenge> {
        let all = headers.get_all("www-authenticate").iter().filter_map(|header| header.to_str().ok());
        let all: Vec<Challenge> = all.filter_map(Challenge::parse).collect();
        let is_token = |challenge: &Challenge| matches!(challenge, Challenge::Token(_));
        let at = all.iter().position(is_token).unwrap_or_default();
        all.into_iter().nth(at)
    }

    /// Reads a challenge such as
    /// `Bearer realm="https://h.io/token",service="h.io",scope="repository:a:pull"`.
    fn parse(header: &str) -> Option<Challenge> {
        let (scheme, parameters) = header.trim_start().split_once(' ')?;
        if scheme.eq_ignore_ascii_case("Basic") {
            return Some(Challenge::Basic);
        }
        let parameters = Some(parameters).filter(|_| scheme.eq_ignore_ascii_case("Bearer")).and_then(parameters_of)?;
        let value = |name: &str| parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let realm = value("realm")?.split('#').next().unwrap_or_default();
        let written = host::of_url(realm);
        // A token is as sensitive as the data that it opens.
        if !is_url(realm) || !is_protected(realm) || written.contains('@') {
            return None;
        }
        let query = ["service", "scope"].into_iter().filter_map(|name| Some((name, value(name)?)));
        let query: Vec<String> =
            query.map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, QUERY))).collect();
        let separator = if query.is_empty() {
            ""
        } else if realm.contains('?') {
            "&"
        } else {
            "?"
        };
        let url = format!("{realm}{separator}{}", query.join("&"));
        Some(Challenge::Token(TokenServer { host: host::canonical(written)?, url }))
    }
}

/// The parameters of a challenge, `name="value", name=value`, with names in lower case. `None` if
/// they have another form, or a name is given twice.
fn parameters_of(mut text: &str) -> Option<Vec<(String, String)>> {
    let mut found: Vec<(String, String)> = Vec::new();
    loop {
        text = text.trim_start_matches([' ', '\t', ',']);
        if text.is_empty() {
            return Some(found);
        }
        let (name, rest) = text.split_once('=')?;
        let name = name.trim().to_ascii_lowercase();
        let rest = rest.trim_start();
        let value;
        (value, text) = match rest.strip_prefix('"') {
            Some(quoted) => until_quote(quoted)?,
            None => {
                let end = rest.find([',', ' ', '\t']).unwrap_or(rest.len());
                (rest[..end].to_owned(), &rest[end..])
            }
        };
        let is_new = found.iter().all(|(known, _)| *known != name);
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        found.extend(Some((name, value)).filter(|_| is_new && is_name));
        if !(is_new && is_name) {
            return None;
        }
    }
}

/// The text up to a closing quote, without the backslashes of escapes, and the rest.
fn until_quote(text: &str) -> Option<(String, &str)> {
    let (mut value, mut chars) = (String::new(), text.char_indices());
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(chars.next()?.1),
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::Challenge;

    #[track_caller]
    fn check(header: &str, host: &str, url: &str) {
        match Challenge::parse(header) {
            Some(Challenge::Token(server)) => assert_eq!((&*server.host, &*server.url), (host, url)),
            other => assert_eq!((format!("{other:?}"), ""), (host.to_owned(), url)),
        }
    }

    #[test]
    fn a_registry_says_where_tokens_are() {
        check(
            r#"Bearer realm="https://h.io/token",service="registry.h.io",scope="repository:a/b:pull""#,
            "h.io",
            "https://h.io/token?service=registry.h.io&scope=repository:a/b:pull",
        );
        check(
            r#"bearer Realm="https://H.io:443/t?x=y" , service=s , scope="a:pull b:pull&x""#,
            "h.io",
            "https://H.io:443/t?x=y&service=s&scope=a:pull%20b:pull%26x",
        );
        check(r#"Bearer error="a, realm=\"https://x\"",realm="https://h.io""#, "h.io", "https://h.io");
        check(r#"Basic realm="x""#, "Some(Basic)", "");
        for refused in [
            r#"Bearer realm="http://h.io/token""#,
            r#"Bearer realm="https://h.io@x.io/token""#,
            r#"Bearer realm="https://h.io/a",realm="https://x.io/b""#,
            r#"Bearer xrealm="https://h.io/a""#,
            r#"Bearer realm="https://h.io/a"#,
            r#"Bearer realm="/token""#,
            "Bearer ",
            "Negotiate x",
        ] {
            check(refused, "None", "");
        }
    }
}
