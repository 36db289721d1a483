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

/// The progress line of a file: fetched bytes, size, bar and name.
const BAR: &str = "{bytes:>10}/{total_bytes:10} {bar:24} {msg}";

/// The progress line while the size is unknown.
const SPINNER: &str = "{bytes:>10} {spinner} {msg}";

/// The reporter of an installation, on stderr.
pub struct Progress {
    /// The bars; `None` if stderr is not a terminal.
    bars: Option<Arc<Bars>>,
}

#[derive(Default)]
struct Bars {
    all: MultiProgress,
    /// The bar of each file, by URL.
    files: Mutex<HashMap<String, ProgressBar>>,
}

impl Progress {
    /// A reporter without bars.
    pub fn new() -> Progress {
        status_line::end();
        Progress { bars: writer::stderr_is_terminal().then(Arc::default) }
    }

    /// Receives the progress of fetched files; `None` without bars.
    pub fn watch(&self) -> Option<Watch> {
        let bars = self.bars.clone()?;
        Some(Box::new(move |url, done, size| bars.show(url, done, size)))
    }

    /// Reports an event.
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
        // An error of stderr is ignored: the installation goes on.
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
    /// Removes the bars; the command prints the installed plugins on stdout.
    fn drop(&mut self) {
        if let Some(bars) = &self.bars {
            let _ = bars.all.clear();
        }
    }
}
