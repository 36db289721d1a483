//! `lint -W version`: compares builds with those of the newest version of kustomize.

use crate::commands::diff::versions::differing;
use crate::roots::kustomization_file;
use rustomize_base::compat::Compat;
use rustomize_base::shell::quoted;
use rustomize_engine::diag::{self, Code, Warned, Warning};
use rustomize_engine::stage::Options;
use rustomize_engine::workspace::{Output, Together, build_all};
use rustomize_sources::Disk;
use rustomize_yaml::Place;

/// A finding for each root whose output differs with the newest version. Each root of another
/// version is built twice.
pub(crate) fn findings(roots: &[String], options: &[Options], together: Together) -> Vec<Warning> {
    let newest = Compat::default();
    let is_older = |(_, options): &(&String, &Options)| options.compat != newest;
    let (roots, options): (Vec<&String>, Vec<&Options>) = roots.iter().zip(options).filter(is_older).unzip();
    let roots: Vec<String> = roots.into_iter().cloned().collect();
    let built = |compat: &dyn Fn(&Options) -> Compat| {
        let of_root = |i: usize| {
            let of_root: &Options = options[i];
            Options { compat: compat(of_root), lint: false, lint_also: Vec::new(), ..of_root.clone() }
        };
        let options: Vec<Options> = (0..roots.len()).map(of_root).collect();
        let texts = |_, output: Output<'_>| -> diag::Result<Vec<String>> {
            output.resources().map(|resource| output.print_one(resource)).collect()
        };
        build_all(&Disk::new(), &roots, |i| options[i].clone(), together, texts)
    };
    let (olds, news) = (built(&|options| options.compat), built(&|_| newest));
    let mut findings = Vec::new();
    for ((root, options), (old, new)) in roots.iter().zip(&options).zip(olds.into_iter().zip(news)) {
        let (Some(Warned { value: Ok(old), .. }), Some(Warned { value: new, .. })) = (old, new) else { continue };
        let message = match new {
            Err(error) => format!("kustomize {newest} does not build this: {}", error.fault()),
            Ok(new) => match differing(&old, &new) {
                0 => continue,
                count => format!("{count} of {} resources differ as of kustomize {newest}", old.len()),
            },
        };
        let version = options.compat.version();
        let hint = format!("'rustomize diff --compat {version}.. {}' shows what changes", quoted(root));
        findings.push(Warning::new(Code::Version, message).at(file(root)).hint(hint));
    }
    findings
}

/// The beginning of the kustomization file of a root.
fn file(root: &str) -> Option<Place> {
    kustomization_file(root).map(|file| Place { file, line: 1, column: 1 })
}
