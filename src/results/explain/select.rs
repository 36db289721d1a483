//! Finds the resource that a word names: `NAME`, `KIND/NAME` or `KIND/NAMESPACE/NAME`.

use super::view::{Subject, View, full_label, label};
use rustomize_base::shell::quoted;
use rustomize_engine::diag::{Code, Error, Result, nearest};
use rustomize_engine::resource::{ResId, Resource};
use std::fmt::Write as _;

/// The number of resources that an error lists at most.
const MOST_LISTED: usize = 20;

/// The parts of a word for a resource.
struct NamedResource<'t> {
    /// The kind, with its group, or its version and group, if the word has them.
    kind: Option<&'t str>,
    namespace: Option<&'t str>,
    name: &'t str,
}

/// Whether upper and lower case letters of kinds and groups differ.
#[derive(Clone, Copy)]
enum Case {
    Exact,
    Ignored,
}

/// The strictness with which kinds and names are compared.
#[derive(Clone, Copy)]
struct Rule {
    case: Case,
    /// True if a name that the resource had before a step counts as well.
    with_earlier_names: bool,
}

/// The rules, the strictest one first. The first rule that finds a resource is taken.
const RULES: [Rule; 4] = [
    Rule { case: Case::Exact, with_earlier_names: false },
    Rule { case: Case::Ignored, with_earlier_names: false },
    Rule { case: Case::Exact, with_earlier_names: true },
    Rule { case: Case::Ignored, with_earlier_names: true },
];

/// The resource that a word names: a resource of the output, or else one that a step has removed.
///
/// # Errors
/// No resource has the name, or several have it.
pub fn resource<'o, 'w>(view: &View<'o, 'w>, word: &str) -> Result<Subject<'o, 'w>> {
    let named = NamedResource::parse(word)?;
    for rule in RULES {
        let found: Vec<&Resource<'w>> = view.output.resources.iter().filter(|r| named.is(r, rule)).collect();
        match found[..] {
            [] => {}
            [one] => return Ok(view.subject(one)),
            _ => {
                let labels = list(found.iter().map(|resource| full_label(resource.id())));
                let message = format!("'{word}' names {} resources:{labels}", found.len());
                return Err(Error::new(Code::Usage, message).hint("name one of them as it is listed here"));
            }
        }
    }
    let removed = view.removed().filter(|subject| named.is_id(&subject.id, subject.id.name, Case::Exact));
    removed.last().ok_or_else(|| missing(view, word, &named))
}

/// The error about a resource that does not exist.
fn missing(view: &View<'_, '_>, word: &str, named: &NamedResource<'_>) -> Error {
    let ids = || view.output.resources.iter().map(Resource::id);
    let of_name: Vec<String> = ids().filter(|id| id.name == named.name).map(full_label).collect();
    let short = |id: &ResId<'_>, name: &str| format!("{}/{name}", id.gvk.kind);
    let earlier = |resource: &Resource<'_>| {
        let id = *resource.id();
        resource.previous().iter().flat_map(|was| [was.name.to_owned(), short(&id, was.name)]).collect::<Vec<_>>()
    };
    let mut labels: Vec<String> =
        ids().flat_map(|id| [label(id), full_label(id), short(id, id.name), id.name.to_owned()]).collect();
    labels.extend(view.output.resources.iter().flat_map(earlier));
    let hint = match (of_name.is_empty(), nearest(word, labels.iter().map(String::as_str))) {
        (false, _) => format!("resources of this name:{}", list(of_name.into_iter())),
        (true, Some(near)) => format!("did you mean '{near}'?"),
        (true, None) => format!("all resources are listed by: rustomize explain {}", quoted(view.root)),
    };
    Error::new(Code::Usage, format!("the output of '{}' has no resource '{word}'", view.root)).hint(hint)
}

/// Lines of an error, each with a name.
fn list(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(MOST_LISTED);
    let mut lines = String::new();
    names.take(MOST_LISTED).for_each(|name| {
        // Writing into a string cannot fail.
        let _ = write!(lines, "\n    {name}");
    });
    if more > 0 {
        let _ = write!(lines, "\n    and {more} more");
    }
    lines
}

impl<'t> NamedResource<'t> {
    fn parse(word: &'t str) -> Result<Self> {
        let parts: Vec<&str> = word.split('/').collect();
        match parts[..] {
            [name] if !name.is_empty() => Ok(NamedResource { kind: None, namespace: None, name }),
            [kind, name] if !name.is_empty() => Ok(NamedResource { kind: Some(kind), namespace: None, name }),
            [kind, namespace, name] if !name.is_empty() => {
                Ok(NamedResource { kind: Some(kind), namespace: Some(namespace), name })
            }
            _ => {
                let error = Error::new(Code::Usage, format!("'{word}' does not name a resource"));
                Err(error.hint("name it as web, Deployment/web, Deployment.apps/web or Deployment/shop/web"))
            }
        }
    }

    /// Returns true if the word names this resource.
    fn is(&self, resource: &Resource<'_>, rule: Rule) -> bool {
        let id = resource.id();
        let is_now = self.is_id(id, id.name, rule.case);
        let was = |name: &str| self.is_id(id, name, rule.case);
        is_now || rule.with_earlier_names && resource.previous().iter().any(|earlier| was(earlier.name))
    }

    fn is_id(&self, id: &ResId<'_>, name: &str, case: Case) -> bool {
        let is_same = |a: &str, b: &str| match case {
            Case::Exact => a == b,
            Case::Ignored => a.eq_ignore_ascii_case(b),
        };
        let is_kind = |kind: &str| match kind.split_once('.') {
            None => is_same(kind, id.gvk.kind),
            Some((kind, rest)) => {
                let versioned = rest.strip_prefix(id.gvk.version).map(|rest| rest.trim_start_matches('.'));
                is_same(kind, id.gvk.kind) && (is_same(rest, id.gvk.group) || versioned == Some(id.gvk.group))
            }
        };
        let is_namespace = |wanted: &str| wanted == id.namespace || wanted == id.effective_namespace();
        self.name == name && self.kind.is_none_or(is_kind) && self.namespace.is_none_or(is_namespace)
    }
}
