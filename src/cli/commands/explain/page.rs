//! `-o html`: one page with all of a traced build, for browsers. The page loads nothing: it
//! contains its styles, its script and its data, and the policy in its head forbids all fetches.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustomize_results::explain::page_data::data;
use rustomize_results::explain::view::View;
use sha2::{Digest, Sha256};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page of a build.
pub(super) fn page(view: &View<'_, '_>) -> String {
    let data = data(view);
    let sum = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let policy = format!("default-src 'none'; style-src {}; script-src {}", sum(STYLE), sum(SCRIPT));
    // The data come last, so placeholders in the data are not replaced.
    let parts = [("{policy}", policy.as_str()), ("{style}", STYLE), ("{script}", SCRIPT), ("{data}", &data)];
    let (mut out, mut rest) = (String::with_capacity(data.len() + 64 * 1024), PAGE);
    for (mark, text) in parts {
        let (before, after) = rest.split_once(mark).unwrap_or((rest, ""));
        out.extend([before, text]);
        rest = after;
    }
    out.push_str(rest);
    out
}
