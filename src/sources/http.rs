//! Files over HTTP: with a deadline, a limit on their size, and checks of redirects.

use crate::diag::{Code, Error};
use std::io::Read;
use std::time::{Duration, Instant};
use ureq::http::{HeaderMap, StatusCode, Uri};
use ureq::tls::{RootCerts, TlsConfig};

/// The largest number of redirects in a chain; browsers and curl allow at least as many.
const MAX_REDIRECTS: usize = 10;

/// The time limit in place of a longer one, which the clock could not represent.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Fetches files.
pub struct Http {
    agent: ureq::Agent,
    /// The time limit of one file, redirects included.
    timeout: Duration,
    limit: u64,
    offline: bool,
    watch: Option<Watch>,
}

/// Called with the progress of a file: its URL, the number of bytes so far, and its size, if that
/// is known.
pub type Watch = Box<dyn Fn(&str, u64, Option<u64>) + Send + Sync>;

/// The number of bytes that are read between two calls of a [`Watch`].
const CHUNK: u64 = 256 << 10;

/// The answer of a server.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// The reason why a file was not fetched.
#[derive(Debug)]
pub struct Fault {
    /// True if another try is useless: the server has answered, the run is offline, or the address
    /// is not a URL.
    pub is_answer: bool,
    pub error: Error,
}

impl Http {
    /// Makes a client. `timeout` is for one file, redirects included; `limit` is in bytes.
    pub fn new(timeout: Duration, limit: u64, offline: bool) -> Self {
        let config = ureq::Agent::config_builder()
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
            .user_agent(concat!("rustomize/", env!("CARGO_PKG_VERSION")))
            .build();
        Http { agent: config.into(), timeout, limit, offline, watch: None }
    }

    /// Calls `watch` with the progress of the files that are fetched from now on.
    pub fn watched(self, watch: Watch) -> Self {
        Http { watch: Some(watch), ..self }
    }

    /// Fetches a file. The fragment of the URL is not sent.
    ///
    /// # Errors
    /// The server cannot be reached, answers without success, takes too long, sends too much, or
    /// redirects to a place that is refused.
    pub fn get(&self, url: &str) -> Result<Vec<u8>, Fault> {
        let answer = self.ask(url, &[])?;
        if answer.status.is_success() { Ok(answer.body) } else { Err(refused(url, answer.status)) }
    }

    /// Asks a server and returns its answer, whatever the status. `headers` are sent to the host of
    /// the URL only.
    ///
    /// # Errors
    /// As [`Http::get`], except for an answer without success.
    pub fn ask(&self, url: &str, headers: &[(&str, &str)]) -> Result<Answer, Fault> {
        self.ask_until(url, headers, self.deadline())
    }

    /// The time by which a file that is asked for now must be here.
    pub fn deadline(&self) -> Instant {
        let now = Instant::now();
        now.checked_add(self.timeout).unwrap_or(now + LONGEST)
    }

    /// As [`Http::ask`], with a deadline that several tries may share.
    ///
    /// # Errors
    /// As [`Http::ask`].
    pub fn ask_until(&self, url: &str, headers: &[(&str, &str)], deadline: Instant) -> Result<Answer, Fault> {
        let fault = |message: String| Fault { is_answer: false, error: Error::new(Code::FetchFailed, message) };
        if self.offline {
            let error = Error::new(Code::NotFetched, format!("'{url}' would be fetched, and this run is offline"));
            return Err(Fault { is_answer: true, error });
        }
        let parse = |text: &str| text.split('#').next().unwrap_or_default().parse::<Uri>();
        let no_url = |e| Fault { is_answer: true, ..fault(format!("'{url}' is not a URL: {e}")) };
        let first = parse(url).map_err(no_url)?;
        let mut at = first.clone();
        for _ in 0..=MAX_REDIRECTS {
            let is_theirs = at.scheme() == first.scheme() && at.authority() == first.authority();
            let sent = headers.iter().filter(|_| is_theirs);
            let request = sent.fold(self.agent.get(at.clone()), |request, (name, value)| request.header(*name, *value));
            // A duration of zero would mean no limit.
            let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            let request = request.config().timeout_global(Some(left)).build();
            let mut response = request.call().map_err(|e| match e {
                ureq::Error::Timeout(_) => too_late(url),
                e => {
                    let mut fault = fault(format!("'{url}' cannot be fetched: {e}"));
                    fault.error = fault.error.hint("correct the address, or see whether its server can be reached");
                    fault
                }
            })?;
            let status = response.status();
            if status.is_redirection() {
                let location = response.headers().get("location").and_then(|l| l.to_str().ok());
                let location = location.ok_or_else(|| fault(format!("'{url}' redirects without an address")))?;
                let next = resolved(&at, location);
                let refuse = |why: &str| {
                    let error = Error::new(Code::Refused, format!("'{url}' redirects to '{next}': {why}"));
                    Fault { is_answer: true, error: error.hint("if the redirect is right, write the new address") }
                };
                let next = parse(&next).map_err(|e| refuse(&format!("the new address is not a URL: {e}")))?;
                check_redirect(&at, &next).map_err(refuse)?;
                at = next;
                continue;
            }
            let mut body = Vec::new();
            let size = response.body().content_length().filter(|_| status.is_success());
            let mut reader = response.body_mut().as_reader().take(self.limit.saturating_add(1));
            loop {
                let read = reader.by_ref().take(CHUNK).read_to_end(&mut body);
                let read = read.map_err(|e| match e.get_ref().and_then(|e| e.downcast_ref()) {
                    Some(ureq::Error::Timeout(_)) => too_late(url),
                    _ => fault(format!("'{url}' cannot be read: {e}")),
                })?;
                if let Some(watch) = self.watch.as_ref().filter(|_| status.is_success()) {
                    watch(url, body.len() as u64, size);
                }
                if read == 0 {
                    break;
                }
            }
            if body.len() as u64 > self.limit {
                let error = Error::new(Code::TooLarge, format!("'{url}' is larger than {} bytes", self.limit));
                return Err(Fault {
                    is_answer: true,
                    error: error.hint("--remote-size-limit sets the limit, for plugins --size-limit"),
                });
            }
            return Ok(Answer { status, headers: response.headers().clone(), body });
        }
        Err(fault(format!("'{url}' redirects more than {MAX_REDIRECTS} times")))
    }
}

/// The error for an answer that is not there, or not whole, at the deadline.
fn too_late(url: &str) -> Fault {
    let error = Error::new(Code::Timeout, format!("'{url}' did not answer in time"));
    Fault { is_answer: false, error: error.hint("--remote-timeout sets the limit") }
}

/// The error for an answer without success.
pub fn refused(url: &str, status: StatusCode) -> Fault {
    let reason = status.canonical_reason().unwrap_or("no reason given");
    let message = format!("HTTP Error: status code {} ({reason}) for '{url}'", status.as_u16());
    let code = if matches!(status.as_u16(), 404 | 410) { Code::Absent } else { Code::FetchFailed };
    let hint = match code {
        Code::Absent => "correct the address: the server has nothing there",
        _ => "see what the server expects: a login, or another address",
    };
    Fault { is_answer: true, error: Error::new(code, message).hint(hint) }
}

/// The URL that a `Location` header leads to.
fn resolved(from: &Uri, location: &str) -> String {
    let scheme = location.split_once("://").map_or("", |(scheme, _)| scheme);
    if !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return location.to_owned();
    }
    let start = format!("{}://{}", from.scheme_str().unwrap_or("https"), from.authority().map_or("", |a| a.as_str()));
    if location.starts_with("//") {
        return format!("{}:{location}", from.scheme_str().unwrap_or("https"));
    }
    match location.starts_with('/') {
        true => start + location,
        false => {
            let directory = from.path().rsplit_once('/').map_or("", |(directory, _)| directory);
            format!("{start}{directory}/{location}")
        }
    }
}

/// Refuses a redirect that drops encryption, and an unencrypted redirect to another host: anybody
/// on the way could have sent it.
fn check_redirect(from: &Uri, to: &Uri) -> Result<(), &'static str> {
    let is_secure = |uri: &Uri| uri.scheme_str() == Some("https");
    if !is_secure(to) && to.scheme_str() != Some("http") {
        return Err("the new address is not an HTTP URL");
    }
    if is_secure(from) && !is_secure(to) {
        return Err("the new address is not encrypted");
    }
    if !is_secure(to) && from.host() != to.host() {
        return Err("the new address is another host, without encryption");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects() {
        let check = |from: &str, location: &str| {
            let from: Uri = from.parse().unwrap();
            let to: Uri = resolved(&from, location).parse().unwrap();
            (to.to_string(), check_redirect(&from, &to).is_ok())
        };
        assert_eq!(check("https://h/a/b", "ftp://h/c"), ("ftp://h/c".into(), false));
        assert_eq!(check("https://h/a/b", "c"), ("https://h/a/c".into(), true));
        assert_eq!(check("https://h/a/b", "/c?x"), ("https://h/c?x".into(), true));
        assert_eq!(check("https://h/a", "https://other/a"), ("https://other/a".into(), true));
        assert_eq!(check("http://h/a", "https://other/a"), ("https://other/a".into(), true));
        assert_eq!(check("http://h/a", "http://h:8080/a"), ("http://h:8080/a".into(), true));
        assert!(!check("http://h/a", "http://other/a").1);
        assert!(!check("https://h/a", "http://h/a").1);
    }
}
