//! Shows the work of builds to the user: a line on a terminal during the work; `--timings`,
//! `--trace` and `--verbose` after it.

use crate::flags::watch::WatchFlags;
use crate::messages::Messages;
use crate::{output, status_line, writer};
use anyhow::{Context, Result};
use rustomize_base::observe::{Observer, Span, Work};
use rustomize_base::shown;
use rustomize_files::atomic::folder_of;
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Duration;

/// The work of the builds of a command, in the forms that its flags ask for.
#[derive(Default)]
pub(super) struct Watching {
    flags: WatchFlags,
    /// True if a flag asks for the work.
    is_asked: bool,
    observer: Observer,
}

impl Watching {
    /// Begins to note the work of builds, if a flag or a terminal asks for it. `flags` are those of
    /// a command that builds.
    ///
    /// # Errors
    /// The directory of the file of `--trace` does not exist.
    pub(super) fn start(flags: Option<&WatchFlags>, messages: &Messages) -> Result<Watching> {
        let Some(flags) = flags else { return Ok(Watching::default()) };
        if let Some(file) = &flags.trace
            && let folder = folder_of(file)
            && !folder.is_dir()
        {
            return Err(output::without_folder(file, folder).into());
        }
        let is_asked = flags.timings || flags.trace.is_some() || flags.verbose;
        let has_line = messages.are_for_people() && writer::stderr_erases_lines();
        let observer = if is_asked || has_line { Observer::on(is_asked) } else { Observer::default() };
        if has_line {
            status_line::start(observer.clone());
        }
        Ok(Watching { flags: flags.clone(), is_asked, observer })
    }

    /// The observer for the builds.
    pub(super) fn observer(&self) -> Observer {
        self.observer.clone()
    }

    /// Shows the work.
    ///
    /// # Errors
    /// The file of `--trace` cannot be written.
    pub(super) fn end(self, messages: &Messages) -> Result<()> {
        status_line::end();
        let spans = if self.is_asked { self.observer.done() } else { Vec::new() };
        if self.flags.verbose {
            spans.iter().filter_map(used).for_each(|line| writer::say(&line));
        }
        if self.flags.timings {
            let rows = rows(&spans);
            let data = || json!({ "timings": rows.iter().map(Row::json).collect::<Vec<_>>() });
            messages.data_or_text(data, || table(&rows));
        }
        match &self.flags.trace {
            Some(file) => output::write_text(&chrome(&spans), file).context("--trace"),
            None => Ok(()),
        }
    }
}

/// The line of `--verbose` for a file, remote part, chart or plugin that was used.
fn used(span: &Span) -> Option<String> {
    let word = match span.work {
        Work::File | Work::Fetch | Work::Chart => span.work.word(),
        Work::Choice => "plugin",
        _ => return None,
    };
    let how = if span.how.is_empty() { String::new() } else { format!(" ({})", span.how) };
    Some(format!("{word}: {}{how}", span.name))
}

/// All work of a kind and name, of one kustomization.
struct Row<'s> {
    work: Work,
    name: &'s str,
    /// Empty for work outside of kustomizations, and for work of several roots together.
    kustomization: &'s str,
    count: usize,
    time: Duration,
}

impl Row<'_> {
    fn json(&self) -> Value {
        json!({
            "work": self.work.word(),
            "name": self.name,
            "kustomization": self.kustomization,
            "count": self.count,
            "milliseconds": self.time.as_micros() as f64 / 1000.0,
        })
    }
}

/// The rows of a table, in the order in which their work began. All files are one row. Steps of
/// different kustomizations are different rows, unless there are several roots.
fn rows(spans: &[Span]) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut places = std::collections::HashMap::new();
    let is_single = spans.iter().filter(|span| span.work == Work::Root).count() <= 1;
    for span in spans.iter().filter(|span| span.work != Work::Choice) {
        let name = if span.work == Work::File { "all files" } else { span.name.as_str() };
        let is_step = matches!(span.work, Work::Step | Work::Plugin);
        let kustomization = if is_step && is_single { span.kustomization.as_str() } else { "" };
        let place = *places.entry((span.work, name, kustomization)).or_insert_with(|| {
            rows.push(Row { work: span.work, name, kustomization, count: 0, time: Duration::ZERO });
            rows.len() - 1
        });
        rows[place].count += 1;
        rows[place].time += span.end.saturating_sub(span.start);
    }
    rows
}

fn table(rows: &[Row<'_>]) -> String {
    let mut text = format!("{:>12}  {:>6}  part", "milliseconds", "count");
    for row in rows {
        let time = row.time.as_micros() as f64 / 1000.0;
        let _ = write!(text, "\n{time:>12.3}  {:>6}  {} {}", row.count, row.work.word(), row.name);
        if !row.kustomization.is_empty() {
            let _ = write!(text, " in {}", row.kustomization);
        }
    }
    text
}

/// The work as complete events of Chrome's trace format. Times are in microseconds.
fn chrome(spans: &[Span]) -> String {
    let micros = |time: Duration| time.as_nanos() as f64 / 1000.0;
    let event = |span: &Span| {
        json!({
            "name": span.name,
            "cat": span.work.word(),
            "ph": "X",
            "ts": micros(span.start),
            "dur": micros(span.end.saturating_sub(span.start)),
            "pid": std::process::id(),
            "tid": span.thread,
            "args": { "how": span.how, "kustomization": span.kustomization },
        })
    };
    let events: Vec<Value> = spans.iter().map(event).collect();
    let all = writer::masked(json!({ "traceEvents": events, "displayTimeUnit": "ms" }));
    shown::json(format!("{all}\n"))
}
