//! The line on a terminal that shows the work of a build, after the first half second. Other output
//! to the terminal goes through [`aside`] meanwhile.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rustomize_base::observe::{Observer, Roots, Span, Work};
use rustomize_base::shown;
use std::sync::OnceLock;
use std::time::Duration;

/// A build that is shorter than this shows no line.
const PATIENCE: Duration = Duration::from_millis(500);

/// The time between two looks at the work.
const PAUSE: Duration = Duration::from_millis(100);

/// The line of this process, once a command has one.
static LINE: OnceLock<ProgressBar> = OnceLock::new();

/// Shows the work that an observer notes, until [`end`].
pub(super) fn start(observer: Observer) {
    let watch = move || {
        std::thread::sleep(PATIENCE.saturating_sub(observer.elapsed()));
        let line = LINE.get_or_init(|| {
            let style = ProgressStyle::with_template("{spinner} {wide_msg}");
            let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            line.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        });
        while !line.is_finished() {
            let (open, roots) = observer.open();
            if let Some(message) = message(&open, roots, observer.elapsed()) {
                line.set_message(message);
                line.tick();
            }
            std::thread::sleep(PAUSE);
        }
    };
    // Without a thread, no line is shown.
    let _ = std::thread::Builder::new().spawn(watch);
}

/// Removes the line for good.
pub(super) fn end() {
    LINE.get_or_init(ProgressBar::hidden).finish_and_clear();
}

/// Calls `print` while the line is removed.
pub(super) fn aside<R>(print: impl FnOnce() -> R) -> R {
    match LINE.get() {
        Some(line) => line.suspend(print),
        None => print(),
    }
}

/// The message for the current work: of work outside of this process the longest, else the work
/// that began last.
fn message(open: &[Span], roots: Roots, now: Duration) -> Option<String> {
    let is_outside = |span: &&Span| matches!(span.work, Work::Plugin | Work::Chart | Work::Fetch);
    let span = open.iter().find(is_outside).or(open.last())?;
    let verb = match span.work {
        Work::Root | Work::Layer => "building",
        Work::Step | Work::Plugin => "running",
        Work::Chart => "making chart",
        Work::Fetch => "fetching",
        Work::File => "reading",
        Work::Print => "printing",
        Work::Choice => "looking for a plugin for",
    };
    let Roots { done, all } = roots;
    let done = if all > 1 { format!("{done} of {all} roots done, ") } else { String::new() };
    let name = shown::line(&shown::masked(&span.name)).into_owned();
    Some(format!("{done}{verb} {name} ({} s)", now.saturating_sub(span.start).as_secs()))
}

#[cfg(test)]
mod tests {
    use super::message;
    use rustomize_base::observe::{Observer, Roots, Work};
    use std::time::Duration;

    #[test]
    fn the_message_names_what_the_build_waits_for() {
        let observer = Observer::on(false);
        let one = Roots { done: 0, all: 1 };
        assert_eq!(message(&observer.open().0, one, Duration::ZERO), None);
        let _layer = observer.begin(Work::Layer, || "a\u{1b}[2J/kustomization.yaml".to_owned());
        let shown = |roots| message(&observer.open().0, roots, observer.elapsed()).unwrap();
        assert_eq!(shown(one), "building a\\u{1b}[2J/kustomization.yaml (0 s)");
        let _fetch = observer.begin(Work::Fetch, || "https://h/a".to_owned());
        let _step = observer.begin(Work::Step, || "LabelTransformer".to_owned());
        assert_eq!(shown(Roots { done: 3, all: 8 }), "3 of 8 roots done, fetching https://h/a (0 s)");
    }
}
