//! [`Client`]: access to servers that are asked several times, and that may ask for authentication.

use super::http::{Answer, Http, Watch, refused};
use super::{Secrets, host};
use crate::diag::{Code, Error, Result};
use base64::Engine;
use std::time::{Duration, Instant};

/// The most tries of one request that the network may have broken.
const TRIES: u32 = 5;

/// The pause before the second try; each further pause is twice as long.
const PAUSE: Duration = Duration::from_millis(80);

/// Access to servers.
pub struct Client {
    http: Http,
    secrets: Secrets,
}

/// The variable with the secret of a host: `RUSTOMIZE_TOKEN_<HOST>`, in upper case, with `__` for
/// `-` and `_` for other characters that are neither letters nor digits. Two hosts never have the
/// same variable: a label neither begins nor ends with `-`, and a name with `_` gets no variable.
/// `None` if the text is not the canonical spelling of such a host.
pub fn token_variable(host: &str) -> Option<String> {
    let plain = |c: char| match c {
        '-' => "__".to_owned(),
        c if c.is_ascii_alphanumeric() => c.to_ascii_uppercase().to_string(),
        _ => "_".to_owned(),
    };
    let is_told_apart = host::is_canonical(host) && !host.contains('_');
    is_told_apart.then(|| format!("RUSTOMIZE_TOKEN_{}", host.chars().map(plain).collect::<String>()))
}

/// Refuses a URL of another machine without encryption.
///
/// # Errors
/// The URL is unencrypted and of another machine.
pub fn check_protected(url: &str) -> Result<()> {
    if host::is_protected(url) { Ok(()) } else { Err(fault(host::plain(url))) }
}

/// `user:password` in the form of a header.
pub(super) fn basic(pair: &str) -> String {
    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair))
}

pub(super) fn fault(message: String) -> Error {
    Error::new(Code::FetchFailed, message)
}

/// Returns an answer that is a success.
///
/// # Errors
/// The status is not a success.
pub fn success(url: &str, answer: Answer) -> Result<Answer> {
    if answer.status.is_success() {
        return Ok(answer);
    }
    let error = refused(url, answer.status).error;
    Err(match answer.status.as_u16() {
        401 | 403 => match token_variable(host::of_url(url)) {
            Some(name) => error.hint(format!("if you may read it, set {name} to TOKEN or to USER:PASSWORD")),
            None => error,
        },
        _ => error,
    })
}

impl Client {
    /// A client without secrets.
    pub fn new(http: Http) -> Self {
        Client { http, secrets: Secrets::default() }
    }

    /// Uses secrets where servers ask for authentication: the secret of a host is sent to that host
    /// only, and encrypted.
    pub fn with_secrets(self, secrets: Secrets) -> Self {
        Client { secrets, ..self }
    }

    /// Calls `watch` with the progress of the files that are fetched from now on.
    pub fn watched(self, watch: Watch) -> Self {
        Client { http: self.http.watched(watch), ..self }
    }

    /// The token, or `user:password`, for a host.
    pub(super) fn secret(&self, host: &str) -> Option<String> {
        self.secrets.token(host).filter(|secret| !secret.is_empty())
    }

    /// Asks a server, with the user's secret for it if there is one.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn ask_as_user(&self, url: &str) -> Result<Answer> {
        let secret = self.secret(host::of_url(url));
        let header =
            secret.map(|secret| if secret.contains(':') { basic(&secret) } else { format!("Bearer {secret}") });
        let headers: Vec<(&str, &str)> = header.iter().map(|header| ("Authorization", header.as_str())).collect();
        self.ask(url, &headers)
    }

    /// Asks a server, several times if the network or the server fails.
    ///
    /// # Errors
    /// The server does not answer. The caller judges the answer.
    pub fn ask(&self, url: &str, headers: &[(&str, &str)]) -> Result<Answer> {
        check_protected(url)?;
        let mut pause = PAUSE;
        // All tries and redirects share the time that one file has.
        let deadline = self.http.deadline();
        for _ in 1..TRIES {
            let answer = self.http.ask_until(url, headers, deadline);
            let is_last = deadline <= Instant::now() + pause;
            match answer {
                Ok(answer) if is_last || !answer.status.is_server_error() => return Ok(answer),
                Err(fault) if is_last || fault.is_answer => return Err(fault.error),
                _ => {}
            }
            std::thread::sleep(pause);
            pause *= 2;
        }
        self.http.ask_until(url, headers, deadline).map_err(|fault| fault.error)
    }
}
