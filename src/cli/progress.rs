//! The progress of an installation: bars on a terminal, a line for each file elsewhere.

use crate::cli::status_line;
use crate::cli::writer::{self, Shown};
use crate::load::http::Watch;
use crate::manager::install::InstallEvent;
use crate::manager::policy::trust::grant;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use rustomize_base::shown;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How a file's bar looks: how much of how much has come, and which file it is.
const BAR: &str = "{bytes:>10}/{total_bytes:10} {bar:24} {msg}";

/// How it looks while nobody says how large the file is.
const SPINNER: &str = "{bytes:>10} {spinner} {msg}";

/// Where it is told: stderr.
pub struct Progress {
    /// The bars; `None` where no terminal is.
    bars: Option<Arc<Bars>>,
}

#[derive(Default)]
struct Bars {
    all: MultiProgress,
    /// By URL.
    files: Mutex<HashMap<String, ProgressBar>>,
}

impl Progress {
    /// Nothing is told yet.
    pub fn new() -> Progress {
        status_line::end();
        Progress { bars: writer::stderr_is_terminal().then(Arc::default) }
    }

    /// The receiver of the bytes of files as they come.
    pub fn watch(&self) -> Option<Watch> {
        let bars = self.bars.clone()?;
        Some(Box::new(move |url, done, size| bars.show(url, done, size)))
    }

    /// Tells what happens.
    pub fn tell(&self, event: InstallEvent<'_>) {
        let line = match event {
            InstallEvent::Fetching { .. } if self.bars.is_some() => return,
            InstallEvent::Fetching { url } => format!("Fetching {url}"),
            InstallEvent::LeftOut { source, what } => format!("{source}: {what}"),
            InstallEvent::Changed { source, why } => format!("Installing {source} again: {why}"),
            InstallEvent::Skipped { source, why } => format!("Skipping a version of {source}: {why}"),
            InstallEvent::Asks { source, origin, beyond } => {
                let command = grant(source, origin, beyond);
                format!("{source} asks for {beyond}, and does not run before that is granted: {command}")
            }
        };
        // Nobody may be there to read it.
        match &self.bars {
            Some(bars) => drop(bars.all.println(Shown::message(&line).to_string())),
            None => writer::say(&line),
        }
    }
}

impl Bars {
    fn show(&self, url: &str, done: u64, size: Option<u64>) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = files.entry(url.to_owned()).or_insert_with(|| {
            let style = ProgressStyle::with_template(if size.is_some() { BAR } else { SPINNER });
            let bar = self.all.add(ProgressBar::new(size.unwrap_or_default()));
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_message(shown::line(&shown::masked(url)).into_owned());
            bar
        });
        bar.set_position(done);
    }
}

impl Drop for Progress {
    /// The bars go; what was installed is said on stdout.
    fn drop(&mut self) {
        if let Some(bars) = &self.bars {
            let _ = bars.all.clear();
        }
    }
}
