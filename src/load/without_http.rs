//! Files over HTTP, in a program that was built without the feature `http`: they are refused.

use crate::diag::{Code, Error};
use std::time::Duration;

/// Fetches nothing.
pub struct Http;

/// The reason why a file was not fetched.
#[derive(Debug)]
pub struct Fault {
    pub error: Error,
}

impl Http {
    /// As with the feature.
    pub fn new(_timeout: Duration, _limit: u64, _offline: bool) -> Self {
        Http
    }

    /// Refuses to fetch a file.
    pub fn get(&self, url: &str) -> Result<Vec<u8>, Fault> {
        let error = Error::new(Code::FetchFailed, format!("'{url}' would be fetched, and this program has no HTTP"));
        Err(Fault { error: error.hint("build it with the feature 'http'") })
    }
}
