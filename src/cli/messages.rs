//! [`Messages`]: errors and warnings in the form that the user chose: with the line of the file for
//! people, in one line each, or as data.

use crate::flags::look::{Color, ErrorFormat, LookFlags};
use crate::groups::{Group, Occurrence, Occurrences};
use crate::roots::kustomization_file;
use crate::writer::{self, Shown, report};
use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use rustomize_base::shown;
use rustomize_engine::diag::{Code, Diagnostic, Error, Severity, Warning};
use rustomize_manager::policy::machine::MachineError;
use rustomize_manager::policy::project_directory::{Owners, ProjectDirectory};
use rustomize_results::severity;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

/// The largest number of related locations of a result of SARIF: services that show results ignore
/// more.
const MOST_RELATED: usize = 100;

/// Prints errors and warnings to stderr.
pub(super) struct Messages {
    format: ErrorFormat,
    color: Color,
    renderer: Renderer,
    /// True if the renderer's texts have colours.
    is_colored: bool,
    /// True if a person reads the messages as they are printed.
    is_read: bool,
    /// True if a warning was printed.
    has_warned: bool,
    /// The results of the document of [`ErrorFormat::Sarif`].
    results: Vec<Value>,
}

impl Messages {
    /// Messages as the flags ask for them.
    pub(super) fn new(flags: LookFlags) -> Messages {
        writer::decide(flags.error_format);
        let is_terminal = writer::stderr_is_terminal();
        let is_colored = flags.color.is_used(writer::stderr_shows_colors());
        let renderer = if is_colored { Renderer::styled() } else { Renderer::plain() };
        let is_read = is_terminal || flags.color == Color::Always;
        Messages {
            format: flags.error_format,
            color: flags.color,
            renderer,
            is_colored,
            is_read,
            has_warned: false,
            results: Vec::new(),
        }
    }

    /// The form of the messages.
    pub(super) fn format(&self) -> ErrorFormat {
        self.format
    }

    /// Returns true if stdout may be coloured.
    pub(super) fn colors_stdout(&self) -> bool {
        self.color.is_used(writer::stdout_shows_colors())
    }

    /// Prints a warning of the only root. For people it is its sentence alone, as kustomize prints
    /// it.
    pub(super) fn warning(&mut self, warning: &Warning) {
        self.has_warned = true;
        match self.format {
            ErrorFormat::Human => report(&Shown::item(&warning.to_string())),
            _ => self.data(warning, &Occurrences::default()),
        }
    }

    /// Prints warnings of several roots, each after its roots.
    pub(super) fn warnings(&mut self, groups: &[Group<Warning>]) {
        for Group { message, occurrences } in groups {
            self.has_warned = true;
            match self.format {
                ErrorFormat::Human => {
                    report(&Shown::item(&format!("{}: {message}", occurrences.roots_in_words())));
                }
                _ => self.data(message, occurrences),
            }
        }
    }

    /// Prints a warning as an error is printed: for people with its line and its hints. `naming`
    /// says whether a finding of one root names this root.
    pub(super) fn finding(&mut self, Group { message, occurrences }: &Group<Warning>, naming: RootNaming) {
        self.grouped(&as_finding(message), occurrences, naming);
    }

    /// Prints a fault of a resource or a root.
    pub(super) fn fault(&mut self, fault: &Diagnostic, occurrences: &Occurrences) {
        self.grouped(fault, occurrences, RootNaming::Always);
    }

    fn grouped(&mut self, message: &Diagnostic, occurrences: &Occurrences, naming: RootNaming) {
        if self.format != ErrorFormat::Human {
            return self.data(message, occurrences);
        }
        let is_named = naming == RootNaming::Always && occurrences.root_count == 1;
        let root = Some(occurrences.roots_in_words()).filter(|_| is_named).map(|root| format!("in {root}"));
        let notes: Vec<String> = root.into_iter().chain(occurrences.in_words()).collect();
        report(&self.human(message, &notes));
    }

    /// Returns true if a person reads the messages, and no program.
    pub(super) fn are_for_people(&self) -> bool {
        self.format == ErrorFormat::Human
    }

    /// Prints a value for programs, or a text for people.
    pub(super) fn data_or_text(&self, data: impl FnOnce() -> Value, text: impl FnOnce() -> String) {
        match self.format {
            ErrorFormat::Json => report(&Shown::json(data())),
            _ => writer::say(&text()),
        }
    }

    /// Prints a line for people alone.
    pub(super) fn note(&self, text: &str) {
        if matches!(self.format, ErrorFormat::Human | ErrorFormat::Short) {
            writer::say(text);
        }
    }

    /// Prints a line for people at a terminal if a warning was printed.
    pub(super) fn tip_after_warnings(&self, text: &str) {
        if self.has_warned && self.format == ErrorFormat::Human && writer::stderr_is_terminal() {
            writer::say(text);
        }
    }

    /// Prints the faults of an error.
    pub(super) fn error(&mut self, error: &Error) {
        let error = &*with_project_files(error);
        for (i, fault) in error.faults().enumerate() {
            self.between_faults(i);
            self.fault(fault, &Occurrences::default());
        }
        self.left_out(error.code(), error.left_out());
    }

    /// Prints an empty line for people in front of each fault but the first.
    pub(super) fn between_faults(&self, place: usize) {
        if place > 0 && self.format == ErrorFormat::Human {
            writer::say("");
        }
    }

    /// Prints the number of faults that are not shown, if there are some.
    pub(super) fn left_out(&mut self, code: Code, count: usize) {
        let left_out = match count {
            0 => return,
            1 => "1 more error is not shown".to_owned(),
            count => format!("{count} more errors are not shown"),
        };
        match self.format {
            ErrorFormat::Human => writer::say(&format!("\n{left_out}")),
            _ => self.data(&Error::new(code, left_out), &Occurrences::default()),
        }
    }

    /// Prints the error that ends the command.
    pub(super) fn failure(&mut self, error: &anyhow::Error) {
        if error.is::<Reported>() {
            return;
        }
        match fault(error) {
            Some(known) => {
                // The contexts that were added to the error, innermost first.
                let around = error.chain().take_while(|cause| !is_fault(*cause));
                let around: Vec<String> = around.map(ToString::to_string).collect();
                let known = around.into_iter().rev().fold(known.clone(), Error::context);
                self.error(&known);
            }
            None => self.error(&lack(error)),
        }
    }

    /// Prints the remaining output: the SARIF document, for a command that has succeeded or failed.
    pub(super) fn finish(self, is_success: bool) {
        if self.format == ErrorFormat::Sarif {
            let driver =
                json!({"name": "rustomize", "version": env!("CARGO_PKG_VERSION"), "rules": rules(&self.results)});
            let mut run =
                json!({"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": self.results});
            let notes = writer::take_notes();
            if !notes.is_empty() {
                let notes = notes.iter().map(|text| json!({"level": "note", "message": {"text": text}}));
                let notes: Vec<Value> = notes.collect();
                let invocation = json!({"executionSuccessful": is_success, "toolExecutionNotifications": notes});
                run["invocations"] = json!([invocation]);
            }
            let schema = "https://json.schemastore.org/sarif-2.1.0.json";
            report(&Shown::json(json!({"$schema": schema, "version": "2.1.0", "runs": [run]})));
        }
    }

    /// A message for programs.
    fn data(&mut self, message: &Diagnostic, occurrences: &Occurrences) {
        match self.format {
            ErrorFormat::Sarif => self.results.push(sarif(message, occurrences)),
            ErrorFormat::Json => report(&Shown::json(json(message, occurrences))),
            ErrorFormat::Github => report(&github(message, occurrences)),
            ErrorFormat::Human | ErrorFormat::Short => report(&short(message, occurrences)),
        }
    }

    /// An error for people. The first line is kustomize's own form, which scripts look for. `more`
    /// has notes that follow its chain.
    fn human(&self, error: &Diagnostic, more: &[String]) -> Shown {
        let text = |text: &str| shown::lines(&shown::masked(text)).into_owned();
        let level = match error.severity() {
            Severity::Error => Level::ERROR.with_name("Error"),
            Severity::Warning => Level::WARNING.with_name("Warning"),
        };
        let mut group = annotate_snippets::Group::with_title(level.primary_title(text(error.message())));
        if let Some(place) = error.place() {
            let file = shown::line(&shown::masked(&place.file)).into_owned();
            let origin = Origin::path(file.clone()).line(place.line).char_column(place.column);
            let snippet = error.excerpt().map(|excerpt| {
                let (line, marked) = shown::excerpt(excerpt.line(), excerpt.marked());
                let is_moved = excerpt.is_cut() || line != excerpt.line();
                let marked = AnnotationKind::Primary.span(marked);
                (is_moved, Snippet::source(line).line_start(place.line).annotation(marked))
            });
            group = match snippet {
                Some((false, snippet)) => group.element(snippet.path(file)),
                // The columns of a shortened or escaped line differ from those of the file.
                Some((true, snippet)) => group.element(origin).element(snippet),
                None => group.element(origin),
            };
        }
        let notes = error.field().map(|field| format!("in field '{field}'")).into_iter();
        let chain = error.chain().iter().map(|link| link.text().to_owned());
        let notes = notes.chain(chain).chain(more.iter().cloned());
        group = group.elements(notes.map(|note| Level::NOTE.no_name().message(text(&note))));
        let hints = error.hints().iter();
        group = group.elements(hints.map(|hint| Level::HELP.with_name("hint").message(text(hint))));
        if self.is_read {
            // This line would disturb scripts that compare messages; they run without a terminal.
            let more = format!("for more: rustomize explain {}", error.code().as_str());
            group = group.element(Level::NOTE.no_name().message(more));
        }
        let rendered = without_separators(&self.renderer.render(&[group]));
        if self.is_colored { Shown::colored(&rendered) } else { Shown::values(&rendered) }
    }
}

/// The files beside a kustomization that say which plugins it has.
const PROJECT_FILES: [&str; 2] = ["plugins.yaml", "plugins.lock"];

/// An error of files that are no sources of a build: with the lines of these files, whose paths
/// begin in the working directory.
pub(super) fn with_own_files(error: Error) -> Error {
    let here = std::env::current_dir().unwrap_or_default();
    let name = |file: &str| {
        let path = Path::new(file);
        let below = path.strip_prefix(&here).unwrap_or(path).components();
        below.filter(|part| *part != Component::CurDir).collect::<PathBuf>().display().to_string()
    };
    // The file is read once more: another user's may be in its place by now.
    let read = |file: &str| {
        let path = Path::new(file);
        let directory = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        let directory = ProjectDirectory { path: directory.to_owned(), owners: Owners::UserOrRoot };
        directory.read(path.file_name()?.to_str()?).ok()?
    };
    error.with_excerpts(read).with_files(name)
}

/// An error with the lines of the files beside its kustomization, if it is about one of these.
pub(super) fn with_project_files(error: &Error) -> Cow<'_, Error> {
    let is_of_project = |fault: &Diagnostic| {
        let file = fault.place().map(|place| place.file.as_str()).unwrap_or_default();
        PROJECT_FILES.contains(&file.rsplit('/').next().unwrap_or_default())
    };
    match error.faults().any(is_of_project) {
        true => Cow::Owned(with_own_files(error.clone())),
        false => Cow::Borrowed(error),
    }
}

/// A message without the lines that only separate the place of a fault from its line.
fn without_separators(rendered: &str) -> String {
    let is_separator = |line: &&str| {
        let mut plain = line.to_string();
        while let Some(start) = plain.find('\u{1b}') {
            let end = plain[start..].find('m').map_or(plain.len(), |end| start + end + 1);
            plain.replace_range(start..end, "");
        }
        plain.trim() == ":::"
    };
    match rendered.contains(":::") {
        true => rendered.split('\n').filter(|line| !is_separator(line)).collect::<Vec<_>>().join("\n"),
        false => rendered.to_owned(),
    }
}

/// A finding in words of its own: kustomize's warning about a deprecated field begins with a second
/// 'Warning', and names a command of kustomize.
fn as_finding(finding: &Warning) -> Warning {
    let words = finding.message().strip_prefix("# Warning: ").and_then(|rest| rest.split_once(" Please use "));
    let Some((what, rest)) = words.filter(|_| finding.code() == Code::Deprecated) else { return finding.clone() };
    let instead = rest.split(" instead").next().unwrap_or_default();
    let message = format!("{}: use {instead}", what.trim_end_matches('.'));
    let mended = finding.clone().reworded(message);
    match finding.hints().is_empty() {
        true if what.contains("'vars'") => mended.hint("in its directory: rustomize edit fix --vars"),
        true => mended.hint("'rustomize lint --fix' writes the current fields"),
        false => mended,
    }
}

/// Whether the message of a single root names this root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RootNaming {
    Always,
    /// Only a message of several roots names them.
    OfSeveral,
}

/// The error of a command that has already printed its errors or findings.
#[derive(Debug)]
pub(super) struct Reported;

impl std::fmt::Display for Reported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the errors and findings are printed")
    }
}

impl std::error::Error for Reported {}

/// The fault that an error is about; `None` for a text without a code, as a lack of the machine is.
fn fault(error: &anyhow::Error) -> Option<&Error> {
    match error.downcast_ref::<MachineError>() {
        Some(MachineError::Fault(fault)) => Some(fault),
        Some(MachineError::Lack(_)) => None,
        None => error.downcast_ref::<Error>(),
    }
}

/// The beginning of a line with a hint, in an error that is a text.
const HINT: &str = "\n  hint: ";

/// An error that is a text, as a fault: the hints are lines of the text.
fn lack(error: &anyhow::Error) -> Error {
    let text = format!("{error:#}");
    let mut parts = text.split(HINT);
    let message = parts.next().unwrap_or_default().to_owned();
    parts.fold(Error::new(Code::Usage, message), |error, hint| error.hint(hint))
}

/// True for a part of an error that is a fault, and no context around it.
fn is_fault(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.is::<Error>() || cause.is::<MachineError>()
}

/// A message in one line.
fn short(message: &Diagnostic, occurrences: &Occurrences) -> Shown {
    let place = message.place().map(|place| format!("{place}: ")).unwrap_or_default();
    let text = message.message().lines().collect::<Vec<_>>().join(" ");
    let more = occurrences.counts().map(|counts| format!(" ({counts})")).unwrap_or_default();
    let text = format!("{place}{}: {text}{more} [{}]", severity(message), message.code().as_str());
    Shown::message(&shown::line(&text))
}

/// A message as a JSON object.
fn json(message: &Diagnostic, occurrences: &Occurrences) -> Value {
    let mut object = rustomize_results::message(message);
    object["root"] = occurrences.root().into();
    if let Some(resource) = occurrences.resource() {
        object["resource"] = resource.into();
    }
    if occurrences.are_many() {
        let occurrence =
            |Occurrence { root, resource }: &Occurrence| json!({"root": root.as_deref(), "resource": resource});
        object["count"] = occurrences.count.into();
        object["occurrences"] = occurrences.kept.iter().map(occurrence).collect();
        object["rootCount"] = occurrences.root_count.into();
        object["roots"] = occurrences.roots.iter().map(|root| &**root).collect();
    }
    object
}

/// The message, its chain of causes, further resources and roots, and the hints, as lines.
fn explained(message: &Diagnostic, occurrences: &Occurrences) -> String {
    let chain = message.chain().iter().map(|link| link.text().to_owned());
    let hints = message.hints().iter().map(|hint| format!("hint: {hint}"));
    let lines = [message.message().to_owned()].into_iter().chain(chain).chain(occurrences.in_words()).chain(hints);
    lines.collect::<Vec<_>>().join("\n")
}

/// A message as a result of SARIF.
fn sarif(message: &Diagnostic, occurrences: &Occurrences) -> Value {
    let locations = message.place().map(|place| {
        let region = json!({"startLine": place.line, "startColumn": place.column});
        json!({"physicalLocation": {"artifactLocation": {"uri": place.file}, "region": region}})
    });
    let mut result = json!({
        "ruleId": message.code().as_str(),
        "level": severity(message),
        "message": {"text": explained(message, occurrences)},
        "locations": locations.into_iter().collect::<Vec<_>>(),
    });
    if occurrences.are_many() {
        result["occurrenceCount"] = occurrences.count.into();
        result["relatedLocations"] = occurrences.kept.iter().skip(1).take(MOST_RELATED).map(related).collect();
    }
    result
}

/// A further resource or root of a result, as a location of SARIF.
fn related(Occurrence { root, resource }: &Occurrence) -> Value {
    let text = match (resource, root) {
        (Some(resource), Some(root)) => format!("{resource} in {root}"),
        (Some(text), None) => text.clone(),
        (None, root) => root.as_deref().unwrap_or_default().to_owned(),
    };
    let mut location = json!({"message": {"text": text}});
    if let Some(resource) = resource {
        location["logicalLocations"] = json!([{"fullyQualifiedName": resource, "kind": "resource"}]);
    }
    if let Some(file) = root.as_deref().and_then(kustomization_file) {
        location["physicalLocation"] = json!({"artifactLocation": {"uri": file}});
    }
    location
}

/// The codes of results, each with its meaning.
fn rules(results: &[Value]) -> Vec<Value> {
    let is_used = |code: &Code| results.iter().any(|result| result["ruleId"] == code.as_str());
    let rule = |code: Code| json!({"id": code.as_str(), "shortDescription": {"text": code.meaning()}});
    Code::all().filter(is_used).map(rule).collect()
}

/// A message as a command of GitHub Actions.
fn github(message: &Diagnostic, occurrences: &Occurrences) -> Shown {
    let place = message.place().map(|place| {
        [("file", place.file.clone()), ("line", place.line.to_string()), ("col", place.column.to_string())]
    });
    let title = ("title", message.code().as_str().to_owned());
    let properties: Vec<_> = place.into_iter().flatten().chain([title]).collect();
    Shown::github(severity(message), &properties, &explained(message, occurrences))
}
