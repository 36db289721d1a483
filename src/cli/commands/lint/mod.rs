//! `lint`: builds kustomizations and prints their findings.

pub(crate) mod fix;
mod references;
pub(crate) mod version;

use crate::commands::lint::fix::Fixing;
use crate::failures::Failures;
use crate::flags::build::BuildFlags;
use crate::flags::hidden::hidden;
use crate::flags::schemas::SchemaFlags;
use crate::groups::{Group, Grouping, Groups, sort_by_place};
use crate::messages::{Messages, Reported, RootNaming};
use crate::request::BuildRequest;
use crate::roots::{self, Chosen};
use crate::settings::RootSettings;
use crate::status_line;
use anyhow::{Result, bail};
use clap::Args;
use rustomize_base::observe::Observer;
use rustomize_engine::diag::{Code, Warned, Warning};
use rustomize_engine::workspace::{Together, build_all};
use rustomize_sources::Disk;
use std::collections::{BTreeMap, HashSet};

/// `lint`.
#[derive(Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
#[command(mut_args(hidden(["output", "layout", "depfile", "strict", "stdin_as", "keep_going"])))]
pub(crate) struct Lint {
    /// Turn on the findings of a code that is off by default; may be repeated
    #[arg(short = 'W', long = "warn", value_name = "CODE", value_parser = finding_code)]
    pub warn: Vec<Code>,

    /// Turn off the findings of a code, also if -W names it; may be repeated
    #[arg(short = 'A', long, value_name = "CODE", value_parser = finding_code)]
    pub allow: Vec<Code>,

    /// Print the findings of this code and no other; may be repeated
    #[arg(long, value_name = "CODE", value_parser = finding_code)]
    pub only: Vec<Code>,

    /// Mend the findings where the mend is sure, and print the others
    ///
    /// Deprecated fields as by 'edit fix', kinds in other upper and lower case letters, and quotes,
    /// 'export' and ': ' in env files. A kustomization gets current fields only if it builds the
    /// same bytes with them. References of custom kinds that are not updated get an entry in
    /// 'name-references.yaml', which the kustomization then lists under 'configurations'.
    #[arg(long)]
    pub fix: bool,

    /// With --fix: show what would change, and change nothing
    #[arg(long, requires = "fix")]
    pub dry_run: bool,

    #[command(flatten)]
    pub schemas: SchemaFlags,

    #[command(flatten)]
    pub build: BuildFlags,
}

fn finding_code(text: &str) -> Result<Code, String> {
    Code::finding(text).map_err(|hint| format!("not the code of a finding: {hint}"))
}

const ABOUT: &str = "Build kustomizations, with the flags of 'build', and print findings to stderr: entries without effect and \
    likely mistakes, of which kustomize says nothing. A comment '# lint: allow CODE REASON' on the line of a finding, or on \
    the line above it, allows it; 'rustomize.yaml' allows findings for whole directories.";

const EXAMPLES: &str = "Examples:
  # Look for mistakes in an overlay
  rustomize lint overlays/prod

  # Look for secrets in clear text, too
  rustomize lint -W clear-text-secret overlays/prod

  # In every kustomization below a directory, with the findings as commands of GitHub Actions
  rustomize lint --all deploy --error-format github

Exit status: 0 no finding, 1 findings or an error.";

/// The most findings of one code that are printed: those of one place count once.
const SHOWN: usize = 100;

/// The codes of findings about what an output lacks. A root that another root lists has no findings
/// of these codes: the output of the other root may have what this one lacks.
const OF_WHOLE_OUTPUTS: [Code; 4] =
    [Code::DanglingReference, Code::OldName, Code::ServiceWithoutPods, Code::VariableLeft];

/// Runs `lint`.
///
/// # Errors
/// There is a finding, a flag is not valid, or a root cannot be built.
pub(crate) fn run(args: Lint, observer: Observer, messages: &mut Messages) -> Result<()> {
    let Lint { warn, allow, only, fix, dry_run, schemas, build } = args;
    if build.output.output.is_some() || build.files.stdin_as.is_some() {
        bail!("'lint' has neither --output nor --stdin-as");
    }
    let also = warn.iter().chain(&only).copied().collect();
    let request = BuildRequest::new(build, observer)?.with_findings(also).with_schemas(&schemas)?;
    let is_asked = |code| (only.is_empty() || only.contains(&code)) && !allow.contains(&code);
    let roots = roots::chosen(&request)?;
    let mut looked = look(&request, &roots, is_asked)?;
    if fix {
        let options = |root: &str| request.options(root);
        let fixing = Fixing { is_dry: dry_run, options: &options };
        let findings: Vec<Warning> = looked.findings.iter().map(|group| group.message.clone()).collect();
        let changed = fix::fix(&findings, &fixing, messages)?;
        let changed = changed + references::mend(&findings, &fixing, messages)?;
        if changed > 0 && !dry_run {
            looked = look(&request, &roots, is_asked)?;
        }
    }
    looked.report(&request, roots.len(), messages)
}

/// The findings, warnings and errors of the builds of all roots.
struct Looked {
    warnings: Vec<Group<Warning>>,
    failures: Failures,
    /// The findings in the order of files and lines.
    findings: Vec<Group<Warning>>,
    /// The number of findings of the schema check that were not kept.
    left_out: usize,
}

/// Builds the roots.
fn look(request: &BuildRequest, roots: &[Chosen], is_asked: impl Fn(Code) -> bool) -> Result<Looked> {
    let paths: Vec<String> = roots.iter().map(|root| root.path.clone()).collect();
    let paths = paths.as_slice();
    let repeated = request.repeated.as_ref();
    let used_entries = repeated.map(|repeated| repeated.used_entries.clone()).unwrap_or_default();
    let mut options = request.options_of(paths)?;
    options.iter_mut().for_each(|of_root| of_root.used_entries = used_entries.clone());
    let together = Together { keep_going: true, ..request.together() };
    let built = build_all(
        &Disk::new(),
        paths,
        |i| options[i].clone(),
        together,
        |i, output| {
            // `build` fails for a resource that cannot be printed, and so does `lint`.
            output.check_printable()?;
            let checked = request.known.as_ref().map(|known| output.check(known)).transpose()?.unwrap_or_default();
            let found = (output.findings().to_vec(), checked);
            match repeated {
                Some(repeated) => repeated.note(&paths[i], output.files()),
                None if paths.len() == 1 => output.leave(),
                None => {}
            }
            Ok(found)
        },
    );
    status_line::end();
    let is_each = request.roots.each;
    let (mut said, mut findings) = (Groups::new(Grouping::said(is_each)), Groups::new(Grouping::found(is_each)));
    let (mut failures, mut left_out) = (Failures::new(is_each), 0);
    // An entry of a shared base or component may have an effect in another root.
    let is_used = |finding: &Warning| {
        let is_of_several = matches!(finding.code(), Code::NoEffect | Code::UnusedObject);
        is_of_several && finding.place().is_some_and(|place| used_entries.contains(place))
    };
    let mut find = |found: Vec<Warning>, root: Option<&str>| {
        let found = found.into_iter().filter(|finding| is_asked(finding.code()) && !is_used(finding));
        found.for_each(|finding| findings.add(finding, root));
    };
    if options.iter().any(|of_root| of_root.lint_also.contains(&Code::Version)) {
        find(version::findings(paths, &options, together), None);
    }
    for (Chosen { path: root, is_used: is_part, .. }, built) in roots.iter().zip(built) {
        let Some(Warned { value, warnings }) = built else { continue };
        let allowed = RootSettings::above(root)?;
        let named = Some(root.as_str()).filter(|_| paths.len() > 1);
        // `lint` reports a field that is deprecated or has no effect as a finding.
        let (deprecated, warnings): (Vec<_>, Vec<_>) =
            warnings.into_iter().partition(|warning| matches!(warning.code(), Code::Deprecated | Code::Unused));
        warnings.into_iter().for_each(|warning| said.add(warning, Some(root)));
        find(allowed.others(deprecated), named);
        match value {
            Ok((mut found, checked)) => {
                found.retain(|finding| !(*is_part && OF_WHOLE_OUTPUTS.contains(&finding.code())));
                let shown = without_known(checked.shown, &found);
                find(allowed.others(found), named);
                find(allowed.others(shown), named);
                left_out += checked.left_out;
            }
            Err(error) => failures.add(root, &error),
        }
    }
    let mut findings = findings.end();
    sort_by_place(&mut findings);
    Ok(Looked { warnings: said.end(), failures, findings, left_out })
}

impl Looked {
    /// Prints everything.
    ///
    /// # Errors
    /// There is a finding or an error.
    fn report(self, request: &BuildRequest, roots: usize, messages: &mut Messages) -> Result<()> {
        let failed = self.failures.count();
        messages.warnings(&self.warnings);
        self.failures.print(messages);
        let naming = match request.roots.each && roots > 1 {
            true => RootNaming::Always,
            false => RootNaming::OfSeveral,
        };
        print(&self.findings, request.roots.each, naming, messages);
        if self.left_out > 0 {
            messages.note(&format!("{} more findings of the schema check are not shown", self.left_out));
        }
        match (failed, self.findings.len() + self.left_out) {
            (0, 0) => Ok(()),
            (failures, count) => {
                messages.note(&format!("findings: {count}, roots that do not build: {failures}, roots: {roots}"));
                Err(Reported.into())
            }
        }
    }
}

/// The findings of the schema check without those about a kind, or about a value that is not a
/// text, that a finding of `lint` is about, too.
fn without_known(mut of_schemas: Vec<Warning>, found: &[Warning]) -> Vec<Warning> {
    let places_of = |codes: &[Code]| -> HashSet<_> {
        found.iter().filter(|f| codes.contains(&f.code())).filter_map(|finding| finding.place().cloned()).collect()
    };
    let (kinds, texts) = (places_of(&[Code::KindCase, Code::UnknownKind]), places_of(&[Code::NotText]));
    let is_in = |finding: &Warning, places: &HashSet<_>| finding.place().is_some_and(|place| places.contains(place));
    of_schemas.retain(|finding| match finding.code() {
        Code::UnknownKind => !is_in(finding, &kinds),
        Code::WrongTypeOfKind => !is_in(finding, &texts),
        _ => true,
    });
    of_schemas
}

/// Prints the first findings of each code, and how many more there are; with `is_each` all.
fn print(findings: &[Group<Warning>], is_each: bool, naming: RootNaming, messages: &mut Messages) {
    let most = if is_each { usize::MAX } else { SHOWN };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in findings {
        let count = counts.entry(finding.message.code().as_str()).or_default();
        *count += 1;
        if *count <= most {
            messages.finding(finding, naming);
        }
    }
    for (code, count) in counts.into_iter().filter(|(_, count)| *count > most) {
        messages.note(&format!("{} more findings of {code} are not shown", count - most));
    }
}

/// Lints roots once more, for `watch`.
///
/// # Errors
/// There is a finding or an error.
pub(crate) fn again(request: &BuildRequest, roots: &[Chosen], messages: &mut Messages) -> Result<()> {
    look(request, roots, |_| true)?.report(request, roots.len(), messages)
}
