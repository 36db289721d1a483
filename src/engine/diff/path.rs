//! Where a field is in a resource.

use rustomize_yaml::Node;
use std::fmt;

/// One step of the path to a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<'n> {
    /// A field of a mapping.
    Field(&'n str),
    /// The item of a list that has these keys.
    Keys(Vec<(&'n str, &'n str)>),
    /// An item of a list, by its place from 0.
    Index(usize),
    /// An item of a list that is a set.
    Item,
}

/// The path to a field, as people write it: `spec.containers[name=web].image`. A field with other
/// characters than those of a word is in quotes and brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path<'n>(pub Vec<Step<'n>>);

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Step::Field(name) if is_word(name) && i == 0 => f.write_str(name)?,
                Step::Field(name) if is_word(name) => write!(f, ".{name}")?,
                Step::Field(name) => write!(f, "[{name:?}]")?,
                Step::Index(at) => write!(f, "[{at}]")?,
                Step::Item => f.write_str("[]")?,
                Step::Keys(keys) => {
                    for (i, (key, value)) in keys.iter().enumerate() {
                        let open = if i == 0 { '[' } else { ',' };
                        match is_plain(value) {
                            true => write!(f, "{open}{key}={value}")?,
                            false => write!(f, "{open}{key}={value:?}")?,
                        }
                    }
                    f.write_str("]")?;
                }
            }
        }
        Ok(())
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':'))
}

/// The step to an item of a list that is matched by keys; `None` if the item has not got the first
/// of them.
pub fn keys_of<'n>(item: &'n Node<'n>, keys: &[&'n str]) -> Option<Vec<(&'n str, &'n str)>> {
    let text = |key: &'n str| Some((key, item.get(key)?.as_scalar()?.text()));
    let first = text(keys.first()?)?;
    Some([first].into_iter().chain(keys[1..].iter().filter_map(|key| text(key))).collect())
}
