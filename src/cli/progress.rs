//! The progress of an installation: bars on a terminal, a line for each file elsewhere.

use crate::writer::{self, Shown};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use rustomize_base::host::Progress;
use rustomize_base::shown;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The bar of a file: how many of its bytes have come, and its name.
const BAR: &str = "{bytes:>10}/{total_bytes:10} {bar:24} {msg}";

/// The line of a file whose size is not known.
const SPINNER: &str = "{bytes:>10} {spinner} {msg}";

/// The progress of an installation on stderr.
pub(super) struct StderrProgress {
    /// The bars of the files; `None` where stderr is not a terminal.
    bars: Option<Bars>,
}

#[derive(Default)]
struct Bars {
    all: MultiProgress,
    /// The bar of each file, by URL.
    files: Mutex<HashMap<String, ProgressBar>>,
}

impl StderrProgress {
    /// The progress of an installation that begins.
    pub(super) fn new() -> StderrProgress {
        StderrProgress { bars: writer::stderr_is_terminal().then(Bars::default) }
    }
}

impl Progress for StderrProgress {
    fn shows_files(&self) -> bool {
        self.bars.is_some()
    }

    fn received(&self, url: &str, bytes: u64, size: Option<u64>) {
        if let Some(bars) = &self.bars {
            bars.show(url, bytes, size);
        }
    }

    fn say(&self, text: &str) {
        // Nobody may be there to read it.
        match &self.bars {
            Some(bars) => drop(bars.all.println(Shown::message(text).to_string())),
            None => writer::say(text),
        }
    }
}

impl Bars {
    fn show(&self, url: &str, bytes: u64, size: Option<u64>) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = files.entry(url.to_owned()).or_insert_with(|| {
            let style = ProgressStyle::with_template(if size.is_some() { BAR } else { SPINNER });
            let bar = self.all.add(ProgressBar::new(size.unwrap_or_default()));
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_message(shown::line(&shown::masked(url)).into_owned());
            bar
        });
        bar.set_position(bytes);
    }
}

impl Drop for StderrProgress {
    /// Removes the bars: stdout names the installed plugins.
    fn drop(&mut self) {
        if let Some(bars) = &self.bars {
            let _ = bars.all.clear();
        }
    }
}
