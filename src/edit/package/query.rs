//! The paths of `cfg grep` and `cfg tree --field`, and the values that they lead to.

use super::{quantity, wrong_kind};
use crate::diag::{Code, Error, Result};
use rustomize_go_regexp::GoRegex;
use rustomize_yaml::Arena;
use rustomize_yaml::noted::{Document, Noted, Shape, Unread};
use std::cmp::Ordering;

/// A value that a path leads to.
#[derive(Clone, Debug)]
pub struct QueryMatch<'a> {
    pub node: Noted<'a>,
    /// The values by which the items of lists on the way were chosen, the last one first.
    pub chosen: Vec<String>,
}

/// Splits a path at its dots, unless a backslash precedes them, and the conditions for items of
/// lists from the fields before them: `a.b[name=x].c` is `a`, `b`, `[name=x]`, `c`.
///
/// # Errors
/// A part has two opening brackets.
pub fn path(text: &str) -> Result<Vec<String>> {
    // kustomize puts a text in place of an escaped dot for as long as it splits.
    const DOT: &str = "$$$$";
    let mut parts = Vec::new();
    for part in text.replace("\\.", DOT).split('.') {
        let part = part.replace(DOT, ".");
        let mut pieces = part.split('[');
        match (pieces.next(), pieces.next(), pieces.next()) {
            (Some(field), None, _) => parts.push(field.to_owned()),
            (Some(field), Some(condition), None) => parts.extend([field.to_owned(), format!("[{condition}")]),
            _ => {
                let fault = format!("unrecognized path element: {part}.  Should be of the form 'list[field=value]'");
                return Err(Error::new(Code::BadPath, fault));
            }
        }
    }
    Ok(parts)
}

/// The values at a path. O(nodes on the way, and below the values).
///
/// # Errors
/// A node has another kind than the path needs, or a condition is not valid.
pub fn find<'a>(arena: Arena<'a>, node: &Noted<'a>, path: &[String]) -> Result<Vec<QueryMatch<'a>>> {
    let Some((first, rest)) = path.split_first() else {
        return Ok(vec![QueryMatch { node: node.clone(), chosen: Vec::new() }]);
    };
    if let Some(index) = first.parse::<i64>().ok().filter(|index| *index >= 0) {
        let items = items(node)?;
        let item = usize::try_from(index).ok().and_then(|index| items.get(index)).ok_or_else(|| {
            let fault = format!("index {index} specified but only {} elements found", items.len());
            Error::new(Code::BadPath, fault)
        })?;
        return find(arena, item, rest);
    }
    if first.starts_with('[') && first.ends_with(']') {
        return chosen(arena, node, first, rest);
    }
    if first == "*" {
        let mut all = Vec::new();
        for item in items(node)? {
            let found = find(arena, item, rest)?;
            all.extend(found.into_iter().map(|mut found| {
                found.chosen.push(first.clone());
                found
            }));
        }
        return Ok(all);
    }
    if node.is_null() {
        return Ok(Vec::new());
    }
    if !matches!(node.shape, Shape::Mapping { .. }) {
        return Err(wrong_kind("MappingNode", node));
    }
    if first.is_empty() {
        return Err(wrong_kind("ScalarNode", node));
    }
    let Some(field) = node.get(first) else { return Ok(Vec::new()) };
    if rest.is_empty() || field.as_scalar().is_none() {
        return find(arena, field, rest);
    }
    // A path may lead into a text that holds YAML.
    let source = arena.add_source("a text", field.value().to_owned());
    match Document::read(arena, source) {
        Ok(Some(document)) => find(arena, &document.root, rest),
        Ok(None) => Ok(Vec::new()),
        Err(Unread::Malformed(malformed)) => Err(Error::from(malformed).located(arena.heap())),
        Err(Unread::Unsupported(_)) => {
            Err(Error::new(Code::NotYaml, format!("the text of '{first}' cannot be searched with its comments")))
        }
    }
}

fn items<'n, 'a>(node: &'n Noted<'a>) -> Result<&'n [Noted<'a>]> {
    match node.items() {
        Some(items) => Ok(items),
        None if node.is_null() => Ok(&[]),
        None => Err(wrong_kind("SequenceNode", node)),
    }
}

/// Compiles a pattern.
///
/// # Errors
/// The pattern is not valid.
pub fn pattern(text: &str) -> Result<GoRegex> {
    GoRegex::new(text).map_err(|e| Error::new(Code::BadPattern, e.to_string()))
}

/// The values below the items of a list that a condition chooses: `[name=x]`, or `[=x]` for items
/// that are scalars.
fn chosen<'a>(arena: Arena<'a>, node: &Noted<'a>, condition: &str, rest: &[String]) -> Result<Vec<QueryMatch<'a>>> {
    let Some((field, wanted)) = condition[1..condition.len() - 1].split_once('=') else {
        let fault = "list path element must contain fieldName=fieldValue for element to match";
        return Err(Error::new(Code::BadPath, fault));
    };
    let mut all = Vec::new();
    let mut regex = None;
    for item in items(node)? {
        let regex = match &mut regex {
            Some(regex) => regex,
            empty => empty.insert(pattern(wanted)?),
        };
        if field.is_empty() {
            if regex.is_match(item.print().trim()) {
                all.push(QueryMatch { node: item.clone(), chosen: Vec::new() });
            }
            continue;
        }
        let Some(value) = item.get(field) else { continue };
        let text = value.print().trim().to_owned();
        if regex.is_match(&text) {
            all.extend(find(arena, item, rest)?.into_iter().map(|mut found| {
                found.chosen.push(text.clone());
                found
            }));
        }
    }
    Ok(all)
}

/// The comparison of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Pattern,
    AtLeast,
    AtMost,
    Above,
    Below,
}

/// A query: the path of a field, and a condition for its value.
pub struct Query {
    path: Vec<String>,
    comparison: Comparison,
    value: String,
}

impl Query {
    /// Reads a query, such as `spec.replicas>3` and `metadata.name=web`.
    ///
    /// # Errors
    /// The path is not valid, or there are several comparisons.
    pub fn new(text: &str) -> Result<Self> {
        let mut path = path(text)?;
        let last = path.pop().unwrap_or_default();
        let signs = [
            (">=", Comparison::AtLeast),
            ("<=", Comparison::AtMost),
            (">", Comparison::Above),
            ("<", Comparison::Below),
        ];
        let found = signs.into_iter().find(|(sign, _)| last.contains(sign));
        let (sign, comparison) = found.unwrap_or(("=", Comparison::Pattern));
        let parts: Vec<&str> = last.split(sign).collect();
        if parts.len() > 2 {
            let fault =
                format!("ambiguous match -- multiple of ['<', '>', '<=', '>=', '=' in final path element: {last}");
            return Err(Error::new(Code::Usage, fault));
        }
        let value = parts.get(1).copied().unwrap_or_default().to_owned();
        path.push(parts[0].to_owned());
        Ok(Query { path, comparison, value })
    }

    /// Makes a test of resources, which is true for a resource with a value that meets the
    /// condition.
    ///
    /// # Errors
    /// The pattern is not valid.
    pub fn test<'a>(&self, arena: Arena<'a>) -> Result<impl Fn(&Noted<'a>) -> Result<bool>> {
        let regex = match self.comparison {
            Comparison::Pattern => Some(pattern(&self.value)?),
            _ => None,
        };
        Ok(move |node: &Noted<'a>| {
            let mut fits = false;
            for found in find(arena, node, &self.path)? {
                fits |= match &regex {
                    Some(regex) => regex.is_match(found.node.print_in_braces().replace('"', "").trim()),
                    None => self.compares(found.node.value())?,
                };
            }
            Ok(fits)
        })
    }

    fn compares(&self, text: &str) -> Result<bool> {
        if text.is_empty() {
            return Ok(false);
        }
        let order = quantity::compare(text, &self.value).map_err(|e| Error::new(Code::BadValue, e))?;
        Ok(match self.comparison {
            Comparison::AtLeast => order != Ordering::Less,
            Comparison::AtMost => order != Ordering::Greater,
            Comparison::Above => order == Ordering::Greater,
            Comparison::Below => order == Ordering::Less,
            Comparison::Pattern => false,
        })
    }
}
