//! References to variables that the output still has.

use crate::diag::{Code, Warning, nearest};
use crate::resource::{ResMap, Resource};
use rustomize_base::meter::FastSet;
use rustomize_yaml::{Node, Value};

/// The findings about `$(NAME)` in texts of resources, where NAME is a variable, or nearly the name
/// of one; one for each resource and name. Kubernetes replaces `$(NAME)` by variables of the
/// environment: a resource that defines NAME, or may take all variables of another object, has no
/// finding. O(size of the resources + misspelt names · variables).
pub(super) fn find(map: &ResMap<'_>, names: &[&str]) -> Vec<Warning> {
    let known: FastSet<&str> = names.iter().copied().collect();
    let of_resource = |resource: &Resource<'_>| {
        let mut texts = Texts::default();
        texts.walk(resource.node());
        let mut seen = FastSet::default();
        let left = texts.left.into_iter().filter(|(name, _)| seen.insert(*name) && !texts.environment.contains(name));
        left.filter_map(|(name, at)| fault(resource, name, at, names, &known)).collect::<Vec<_>>()
    };
    map.iter().flat_map(of_resource).collect()
}

fn fault(resource: &Resource<'_>, name: &str, at: &Node<'_>, names: &[&str], known: &FastSet<&str>) -> Option<Warning> {
    let (message, hint) = if known.contains(name) {
        (
            format!("kustomize leaves '$({name})' here: this field is not among those in which it replaces variables"),
            "add the field to 'varReference' in a file of 'configurations', or use 'replacements'".to_owned(),
        )
    } else {
        let meant = nearest(name, names.iter().copied())?;
        (format!("no entry of 'vars' has the name '{name}'"), format!("did you mean '$({meant})'?"))
    };
    let finding = Warning::new(Code::VariableLeft, message).at(at.pos()).at(resource.pos());
    Some(finding.in_resource(resource.id()).hint(hint))
}

/// The references in the texts of a resource.
#[derive(Default)]
struct Texts<'n, 'a> {
    left: Vec<(&'a str, &'n Node<'a>)>,
    /// The variables of the environment of its containers.
    environment: FastSet<&'a str>,
}

impl<'n, 'a> Texts<'n, 'a> {
    fn walk(&mut self, node: &'n Node<'a>) {
        match node.value() {
            Value::Scalar(scalar) => self.left.extend(references(scalar.text()).map(|name| (name, node))),
            Value::Sequence(items) => items.iter().for_each(|item| self.walk(item)),
            Value::Mapping(fields) => {
                for entry in fields.iter() {
                    if entry.key().text() == "env" {
                        let items = entry.value().as_sequence().into_iter().flat_map(|items| items.iter());
                        self.environment.extend(items.filter_map(|item| item.get_text("name")));
                    }
                    self.walk(entry.value());
                }
            }
        }
    }
}

/// The names in `$(NAME)`; `$$(NAME)` is a text for Kubernetes.
fn references(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let (_, after) = rest.split_once('$')?;
            rest = after.strip_prefix('$').unwrap_or(after);
            if rest.len() < after.len() {
                continue;
            }
            let Some((name, after)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) else { continue };
            if name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')) {
                rest = after;
                return Some(name);
            }
        }
    })
}
