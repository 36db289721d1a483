//! [`Repository`]: a repository of an OCI registry, by the part of the distribution API that a pull
//! needs.

use super::challenge::{Challenge, TokenServer};
use super::client::{Client, basic, fault, success, token_variable};
use super::host::{self, scheme};
use super::http::{Answer, refused};
use super::sum::{is_sha256, sha256};
use crate::diag::{Error, Result};
use serde::Deserialize;
use std::cell::RefCell;

/// The media types of manifests.
const MANIFESTS: &str = "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, \
                         application/vnd.docker.distribution.manifest.list.v2+json, application/vnd.docker.distribution.manifest.v2+json";

/// The largest number of pages of a list of tags: a registry may make pages as small as it likes.
const MOST_PAGES: usize = 1_000;

/// The largest manifest or answer with a token, in bytes. Registries accept manifests of this size.
const MOST_MANIFEST: usize = 4 << 20;

/// The largest page of a list of tags, in bytes: a registry may make one page of all tags.
const MOST_PAGE: usize = 32 << 20;

/// The largest number of entries of an index, each of which is asked for.
const MOST_ENTRIES: usize = 100;

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

/// The answer of a server of tokens, which has the token under one of two names, or under both.
#[derive(Deserialize)]
struct TokenAnswer {
    token: Option<String>,
    access_token: Option<String>,
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
            let page: Tags = parse(&url, &answer.body, MOST_PAGE)?;
            all.extend(page.tags.unwrap_or_default());
            check_tags(&self.shown(), all.len())?;
            let link = answer.headers.get("link").and_then(|link| link.to_str().ok());
            next = link.map(|link| self.next_page(link)).transpose()?;
        }
        Err(fault(format!("'oci://{}/{}' lists its tags in more than {MOST_PAGES} pages", self.host, self.path)))
    }

    /// The address in `</v2/path/tags/list?last=x>; rel="next"`: a page of the same registry.
    ///
    /// # Errors
    /// The page is of another server. Without it, newer versions could be missing.
    fn next_page(&self, link: &str) -> Result<String> {
        let target = link.split_once('<').and_then(|(_, rest)| rest.split_once('>')).map_or(link, |(target, _)| target);
        let written = host::of_url(target);
        let path = match target.split_once("://") {
            Some((_, rest)) if host::canonical(written).as_deref() == Some(self.host) && !written.contains('@') => {
                &rest[written.len()..]
            }
            _ => target,
        };
        if path.starts_with('/') && !path.starts_with("//") {
            return Ok(format!("{}://{}{path}", scheme(self.host), self.host));
        }
        Err(fault(format!("'{}' lists its other tags at '{target}', which is another server", self.shown())))
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
        let (url, body) = self.manifest_text(reference)?;
        if reference.starts_with("sha256:") {
            check_digest(&url, &body, reference)?;
        }
        Manifest::parse(&url, &body)
    }

    /// The digest that a tag stands for now: the digest of the index, if there is an index.
    ///
    /// # Errors
    /// The registry cannot be asked, or lacks the tag.
    pub fn digest(&self, tag: &str) -> Result<String> {
        let (url, body) = self.manifest_text(tag)?;
        Manifest::parse(&url, &body)?;
        Ok(format!("sha256:{}", sha256(&body)))
    }

    /// The address of a manifest, and its bytes.
    fn manifest_text(&self, reference: &str) -> Result<(String, Vec<u8>)> {
        let url = self.url(&format!("manifests/{reference}"));
        let body = self.ask(&url, MANIFESTS)?.body;
        Ok((url, body))
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
    fn ask(&self, url: &str, accept: &str) -> Result<Answer> {
        let known = self.token.borrow().clone();
        let mut headers = vec![("Accept", accept)];
        if let Some(token) = &known {
            headers.push(("Authorization", token));
        }
        let answer = self.client.ask(url, &headers)?;
        if answer.status.as_u16() != 401 || known.is_some() {
            return success(url, answer);
        }
        let token = match Challenge::of(&answer.headers) {
            Some(Challenge::Basic) => self.secret(self.host),
            // A token for data that comes encrypted does so, too.
            Some(Challenge::Token(server)) if server.url.starts_with("https://") || scheme(self.host) == "http" => {
                Some(self.token_of(&server)?)
            }
            _ => None,
        };
        let Some(token) = token else { return success(url, answer) };
        *self.token.borrow_mut() = Some(token.clone());
        success(url, self.client.ask(url, &[("Accept", accept), ("Authorization", &token)])?)
    }

    /// The header with a token of a server, which is asked as the user of the registry.
    fn token_of(&self, server: &TokenServer) -> Result<String> {
        let url = &server.url;
        let secret = if server.host == self.host { self.secret(self.host) } else { self.secret_elsewhere(server)? };
        let headers: Vec<(&str, &str)> = secret.iter().map(|s| ("Authorization", s.as_str())).collect();
        let answer = self.client.ask(url, &headers)?;
        if server.host != self.host && matches!(answer.status.as_u16(), 401 | 403) {
            return Err(self.with_both_variables(refused(url, answer.status).error, server));
        }
        let answer: TokenAnswer = parse(url, &success(url, answer)?.body, MOST_MANIFEST)?;
        let token = answer.token.or(answer.access_token).filter(|token| is_token(token));
        let token = token.ok_or_else(|| fault(format!("the answer of '{url}' does not hold a token")))?;
        Ok(format!("Bearer {token}"))
    }
}

/// Returns true if a text can be sent as a token.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic())
}

impl Repository<'_> {
    /// The header with the secret of the user for a host.
    fn secret(&self, host: &str) -> Option<String> {
        let secret = self.client.secret(host)?;
        Some(basic(&if secret.contains(':') { secret } else { format!("token:{secret}") }))
    }

    /// The user's secret for another host, on which the registry hands out tokens. The registry
    /// gets the token, for whatever it has asked: so the secret is sent only if the registry has
    /// the same one, and learns nothing that it could not do with that. Without a secret for the
    /// registry the user is anonymous.
    ///
    /// # Errors
    /// The user has a secret for the registry, but not the same one for the other host.
    fn secret_elsewhere(&self, server: &TokenServer) -> Result<Option<String>> {
        let Some(own) = self.secret(self.host) else { return Ok(None) };
        if self.secret(&server.host).as_ref() == Some(&own) {
            return Ok(Some(own));
        }
        let message = format!(
            "'{}' gives out tokens on another host, '{}', and the token that is set for that host is not the same",
            self.host, server.host
        );
        Err(self.with_both_variables(fault(message), server))
    }

    /// An error with the advice how to be known to the registry and to its server of tokens.
    fn with_both_variables(&self, error: Error, server: &TokenServer) -> Error {
        match (token_variable(self.host), token_variable(&server.host)) {
            (Some(own), Some(other)) => error.hint(format!(
                "if '{}' belongs to the registry, set {own} and {other} to the same value, USER:PASSWORD",
                server.host
            )),
            _ => error,
        }
    }
}

impl Manifest {
    /// Reads a manifest or an index. `url` names it in errors.
    ///
    /// # Errors
    /// The text is neither of them or both of them, or too large, or has too many entries.
    fn parse(url: &str, body: &[u8]) -> Result<Manifest> {
        let manifest: Manifest = parse(url, body, MOST_MANIFEST)?;
        let entries = manifest.manifests.len();
        if entries > 0 && !manifest.layers.is_empty() {
            let error = fault(format!("'{url}' is both an index and a manifest"));
            return Err(error.hint("other programs may read it in the other way; nothing of it is used"));
        }
        if entries > MOST_ENTRIES {
            return Err(fault(format!("the index '{url}' has {entries} entries, and at most {MOST_ENTRIES} are read")));
        }
        Ok(manifest)
    }
}

impl Descriptor {
    /// The digest, if it is one with SHA-256.
    ///
    /// # Errors
    /// The digest has another form.
    pub fn sha256(&self) -> Result<&str> {
        let sum = self.digest.strip_prefix("sha256:").filter(|sum| is_sha256(sum));
        sum.ok_or_else(|| fault(format!("'{}' is not a SHA-256 digest", self.digest)))
    }
}

/// The largest number of tags of a repository.
const MOST_TAGS: usize = 100_000;

/// Refuses more tags of a repository than the limit allows.
///
/// # Errors
/// The count exceeds the limit.
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

fn parse<T: for<'d> Deserialize<'d>>(url: &str, body: &[u8], most: usize) -> Result<T> {
    if body.len() > most {
        return Err(fault(format!("the answer of '{url}' is larger than {most} bytes")));
    }
    serde_json::from_slice(body).map_err(|e| fault(format!("unexpected answer of '{url}': {e}")))
}
