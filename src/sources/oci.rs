//! [`Repository`]: a repository of an OCI registry, by the part of the distribution API that a pull
//! needs.

use super::client::{Client, basic, fault, success, token_variable};
use super::host::{self, is_protected, scheme};
use super::is_url;
use super::sum::sha256;
use crate::diag::{Error, Result};
use serde::Deserialize;
use std::cell::RefCell;

/// The media types of manifests.
const MANIFESTS: &str = "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, \
                         application/vnd.docker.distribution.manifest.list.v2+json, application/vnd.docker.distribution.manifest.v2+json";

/// The largest number of pages of a list of tags: a registry may make pages as small as it likes.
const MOST_PAGES: usize = 1_000;

/// A repository in a registry.
pub struct Repository<'t> {
    client: &'t Client,
    host: &'t str,
    path: &'t str,
    /// The token that the registry has given.
    token: RefCell<Option<String>>,
}

#[derive(Deserialize)]
struct Tags {
    #[serde(default)]
    tags: Option<Vec<String>>,
}

/// A manifest, which has layers, or an index, which has manifests.
#[derive(Debug, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Manifest {
    pub manifests: Vec<Descriptor>,
    pub layers: Vec<Descriptor>,
}

/// The description of a layer in a manifest, or of a manifest in an index.
#[derive(Debug, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Descriptor {
    pub media_type: String,
    pub digest: String,
    pub size: u64,
    pub platform: Option<OciPlatform>,
}

/// The machine that a manifest is for.
#[derive(Debug, Deserialize)]
pub struct OciPlatform {
    pub os: String,
    pub architecture: String,
}

#[derive(Deserialize)]
struct Token {
    #[serde(alias = "access_token")]
    token: String,
}

impl<'t> Repository<'t> {
    /// `name` is `host/path`.
    pub fn new(client: &'t Client, name: &'t str) -> Self {
        let (host, path) = name.split_once('/').unwrap_or((name, ""));
        Repository { client, host, path, token: RefCell::default() }
    }

    /// All tags.
    ///
    /// # Errors
    /// The registry cannot be asked, or answers with something else.
    pub fn tags(&self) -> Result<Vec<String>> {
        let mut all = Vec::new();
        let mut next = Some(self.url("tags/list?n=1000"));
        for _ in 0..MOST_PAGES {
            let Some(url) = next.take() else { return Ok(all) };
            let answer = self.ask(&url, "application/json")?;
            let page: Tags = parse(&url, &answer.body)?;
            all.extend(page.tags.unwrap_or_default());
            check_tags(&self.shown(), all.len())?;
            let link = answer.headers.get("link").and_then(|link| link.to_str().ok());
            next = link.and_then(|link| self.next_page(link));
        }
        Err(fault(format!("'oci://{}/{}' lists its tags in more than {MOST_PAGES} pages", self.host, self.path)))
    }

    /// `</v2/path/tags/list?last=x>; rel="next"`: a page of the same registry.
    fn next_page(&self, link: &str) -> Option<String> {
        let target = link.split_once('<')?.1.split_once('>')?.0;
        target.starts_with('/').then(|| format!("{}://{}{target}", scheme(self.host), self.host))
    }

    /// The address of the repository, as messages show it.
    pub fn shown(&self) -> String {
        format!("oci://{}/{}", self.host, self.path)
    }

    /// The manifest or index of a tag or a digest.
    ///
    /// # Errors
    /// The registry cannot be asked, or answers with something else.
    pub fn manifest(&self, reference: &str) -> Result<Manifest> {
        let url = self.url(&format!("manifests/{reference}"));
        let body = self.ask(&url, MANIFESTS)?.body;
        if reference.starts_with("sha256:") {
            check_digest(&url, &body, reference)?;
        }
        parse(&url, &body)
    }

    /// The digest that a tag stands for now: the digest of the index, if there is an index.
    ///
    /// # Errors
    /// The registry cannot be asked, or lacks the tag.
    pub fn digest(&self, tag: &str) -> Result<String> {
        let url = self.url(&format!("manifests/{tag}"));
        let body = self.ask(&url, MANIFESTS)?.body;
        let _: Manifest = parse(&url, &body)?;
        Ok(format!("sha256:{}", sha256(&body)))
    }

    /// The content of a layer.
    ///
    /// # Errors
    /// The registry cannot be asked. The caller checks the digest of the content.
    pub fn blob(&self, digest: &str) -> Result<Vec<u8>> {
        Ok(self.ask(&self.url(&format!("blobs/{digest}")), "*/*")?.body)
    }

    fn url(&self, rest: &str) -> String {
        format!("{}://{}/v2/{}/{rest}", scheme(self.host), self.host, self.path)
    }

    /// Asks, and asks again with a token where the registry wants one.
    fn ask(&self, url: &str, accept: &str) -> Result<super::http::Answer> {
        let known = self.token.borrow().clone();
        let mut headers = vec![("Accept", accept)];
        if let Some(token) = &known {
            headers.push(("Authorization", token));
        }
        let answer = self.client.ask(url, &headers)?;
        if answer.status.as_u16() != 401 || known.is_some() {
            return success(url, answer);
        }
        let wants = answer.headers.get("www-authenticate").and_then(|wants| wants.to_str().ok()).unwrap_or_default();
        let place = token_url(wants).filter(|place| place.starts_with("https://") || scheme(self.host) == "http");
        let token = match (place, self.secret(self.host)) {
            (None, Some(secret)) if wants.starts_with("Basic ") => secret,
            (None, _) => return success(url, answer),
            (Some(place), secret) => {
                let secret = if host::of_url(&place) == self.host { secret } else { self.secret_elsewhere(&place)? };
                let headers: Vec<(&str, &str)> = secret.iter().map(|s| ("Authorization", s.as_str())).collect();
                let given = success(&place, self.client.ask(&place, &headers)?)?;
                let token: Token = parse(&place, &given.body)?;
                format!("Bearer {}", token.token)
            }
        };
        *self.token.borrow_mut() = Some(token.clone());
        success(url, self.client.ask(url, &[("Accept", accept), ("Authorization", &token)])?)
    }
}

impl Repository<'_> {
    /// The header with the secret of the user for a host.
    fn secret(&self, host: &str) -> Option<String> {
        let secret = self.client.secret(host)?;
        Some(basic(&if secret.contains(':') { secret } else { format!("token:{secret}") }))
    }

    /// The user's secret for another host, on which the registry hands out tokens. The secret for
    /// the registry is never sent there. Without a secret for either host the user is anonymous.
    ///
    /// # Errors
    /// The user has a secret for the registry, but not for the other host.
    fn secret_elsewhere(&self, place: &str) -> Result<Option<String>> {
        let host = host::of_url(place);
        let secret = self.secret(host);
        if secret.is_some() || self.secret(self.host).is_none() {
            return Ok(secret);
        }
        let message =
            format!("'{}' gives out tokens on another host, '{host}', and no token for that host is set", self.host);
        let hint = |name| format!("if that host belongs to the registry, set {name} to USER:PASSWORD");
        Err(token_variable(host).map(hint).into_iter().fold(fault(message), Error::hint))
    }
}

/// The URL of the token server in a `WWW-Authenticate` header such as
/// `Bearer realm="https://h.io/token",service="h.io",scope="repository:a:pull"`.
fn token_url(wants: &str) -> Option<String> {
    let parameters = wants.strip_prefix("Bearer ")?;
    let value = |name: &str| {
        let start = parameters.find(&format!("{name}=\""))? + name.len() + 2;
        Some(&parameters[start..start + parameters[start..].find('"')?])
    };
    let realm = value("realm")?;
    // A token is as sensitive as the data that it opens.
    if !is_protected(realm) || !is_url(realm) {
        return None;
    }
    let query = ["service", "scope"].into_iter().filter_map(|name| Some(format!("{name}={}", value(name)?)));
    Some(format!("{realm}?{}", query.collect::<Vec<_>>().join("&")))
}

/// The largest number of tags of a repository.
const MOST_TAGS: usize = 100_000;

/// Refuses more tags of a repository than the limit allows.
///
/// # Errors
/// There are more tags.
pub fn check_tags(url: &str, count: usize) -> Result<()> {
    if count <= MOST_TAGS {
        return Ok(());
    }
    Err(fault(format!("'{url}' has more than {MOST_TAGS} tags"))
        .hint("name the commit or the digest of the version in 'from', or a file over https"))
}

/// Checks that bytes have a digest that was known before.
///
/// # Errors
/// The digests differ.
pub fn check_digest(url: &str, bytes: &[u8], want: &str) -> Result<()> {
    let found = format!("sha256:{}", sha256(bytes));
    if found == want {
        return Ok(());
    }
    Err(fault(format!("'{url}' is not what was announced: {found}, expected {want}"))
        .hint("it was changed, or the download was cut off; nothing of it is used"))
}

fn parse<T: for<'d> Deserialize<'d>>(url: &str, body: &[u8]) -> Result<T> {
    serde_json::from_slice(body).map_err(|e| fault(format!("unexpected answer of '{url}': {e}")))
}

#[cfg(test)]
mod tests {
    use super::token_url;

    #[test]
    fn a_registry_says_where_tokens_are() {
        let wants = r#"Bearer realm="https://h.io/token",service="registry.h.io",scope="repository:a/b:pull""#;
        let want = "https://h.io/token?service=registry.h.io&scope=repository:a/b:pull";
        assert_eq!(token_url(wants).as_deref(), Some(want));
        assert_eq!(token_url("Basic realm=\"x\""), None);
        assert_eq!(token_url("Bearer realm=\"http://h.io/token\""), None);
    }
}
