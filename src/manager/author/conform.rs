//! [`conform`]: checks a configuration object against the schema that its plugin has for it.
//!
//! The schema is for the plugin's own fields. `apiVersion`, `kind` and `metadata` are not checked
//! unless the schema names them in `properties` or `required`: `additionalProperties: false` does
//! not refuse them.
//!
//! A message never has a value of the object in it: the names of fields do not say which are
//! secret, and the place in the message leads to the value.
//!
//! *Cost*: every look of a subschema at a value is a step, and so is each byte that is compared or
//! matched. There are at most [`MOST_STEPS`], so a schema that branches without end is an error.

use super::fault::{At, Fault, Faults, MOST_FAULTS, PathStep, Seen};
use super::rules::{Counts, ExpectedValues, Number, Rules, TypeSet, canonical_text, clipped, near};
use super::schema::Schema;
use crate::diag::{Code, Error, Result};
use crate::resource::Resource;
use rustomize_yaml::scalar::{self, Kind};
use rustomize_yaml::{Arena, Entry, Node, Pos, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Most steps of one check.
const MOST_STEPS: u64 = 2_000_000;

/// Deepest nesting of an object that is checked.
const MOST_LEVELS: usize = 256;

/// Most subschemas that are looked at inside one another.
const MOST_DEPTH: usize = 400;

/// Most words of a list in a message.
const MOST_WORDS: usize = 8;

/// Fields that every configuration object has for Kubernetes and kustomize.
const OF_EVERY_OBJECT: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Holds a configuration object to the schema of its plugin, which messages call `plugin`.
///
/// # Errors
/// The object is not what the schema describes: up to ten faults, each with its place. Or the check
/// takes more steps than it may.
pub fn conform(arena: Arena<'_>, config: &Resource<'_>, schema: &Schema, plugin: &str) -> Result<()> {
    let told = |error: Error| error.at(config.pos()).in_resource(config.id());
    let mut faults = Faults::kept();
    if is_deeper(config.node(), MOST_LEVELS) {
        let message =
            format!("the object has more than {MOST_LEVELS} levels, and the plugin '{plugin}' a schema for it");
        return Err(told(Error::new(Code::WrongType, message)));
    }
    match check(config.node(), config.pos(), schema, &mut faults) {
        Ok(_) => {}
        Err(TooMuch) => {
            let message = format!("the schema of the plugin '{plugin}' takes too long to check for this object");
            let hint = "tell its author: subschemas that branch into one another have to be fewer";
            return Err(told(Error::new(Code::BadSchema, message)).hint(hint));
        }
    }
    let Faults { list, count, .. } = faults;
    let mut list = list.into_iter();
    let Some(first) = list.next() else { return Ok(()) };
    let says = format!("the schema of the plugin '{plugin}' says so");
    if count == 1 {
        let error =
            first.path.iter().rev().fold(Error::new(Code::WrongType, first.message), |e, name| e.in_field(name));
        let error = told(error.at(first.pos)).context(says);
        return Err(first.hint.into_iter().fold(error, Error::hint));
    }
    let (pos, mut lines) = (first.pos, String::new());
    for fault in [first].into_iter().chain(list) {
        let place = arena.place(fault.pos).map_or_else(String::new, |place| format!("{place}: "));
        let path = fault.path.join(".");
        let path = if path.is_empty() { path } else { format!("{path}: ") };
        let hint = fault.hint.map_or_else(String::new, |hint| format!(" ({hint})"));
        lines.push_str(&format!("\n  {place}{path}{}{hint}", fault.message));
    }
    let more = if count > MOST_FAULTS { format!("\n  and {} more", count - MOST_FAULTS) } else { String::new() };
    let message = format!("{count} faults in the configuration of the plugin '{plugin}':{lines}{more}");
    Err(told(Error::new(Code::WrongType, message).at(pos)).context(says))
}

/// Returns whether a tree has more than so many levels. Without recursion.
fn is_deeper(node: &Node<'_>, most: usize) -> bool {
    let mut queue = vec![(node, 1)];
    while let Some((node, level)) = queue.pop() {
        if level > most {
            return true;
        }
        match node.value() {
            Value::Scalar(_) => {}
            Value::Sequence(items) => queue.extend(items.iter().map(|item| (item, level + 1))),
            Value::Mapping(mapping) => queue.extend(mapping.iter().map(|entry| (entry.value(), level + 1))),
        }
    }
    false
}

/// Returns whether a tree of few levels is what a schema describes.
fn check<'a>(node: &Node<'a>, pos: Pos, schema: &Schema, faults: &mut Faults) -> std::result::Result<bool, TooMuch> {
    let rules = schema.rules();
    let mentioned = of_one_value(rules, 0);
    let is_mentioned = |name: &&&str| {
        let has = |at: &usize| {
            rules[*at].properties.contains_key(**name) || rules[*at].required.iter().any(|required| required == **name)
        };
        mentioned.iter().any(has)
    };
    let hidden = OF_EVERY_OBJECT.iter().filter(|name| !is_mentioned(name)).copied().collect();
    let mut checker = Checker { rules, marks: schema.has_unevaluated(), hidden, steps: 0, depth: 0 };
    let at = At { node, above: None, step: PathStep::Top, pos };
    checker.rules(0, &at, faults, &mut Seen::default())
}

/// The subschemas that apply to the same value as the subschema `first`.
fn of_one_value(rules: &[Rules], first: usize) -> BTreeSet<usize> {
    let (mut found, mut queue) = (BTreeSet::new(), vec![first]);
    while let Some(at) = queue.pop() {
        if found.insert(at) {
            queue.extend(rules[at].of_same_value());
        }
    }
    found
}

/// The check takes too many steps, or too deep a recursion.
struct TooMuch;

type Verdict = std::result::Result<bool, TooMuch>;

/// A scalar's number, if it is one.
fn number(scalar: &rustomize_yaml::Scalar<'_>) -> Option<Number> {
    match scalar.kind() {
        Kind::Int | Kind::Float => Some(match scalar::int(scalar.text()) {
            Some(scalar::Int::Signed(n)) => Number::Int(n.into()),
            Some(scalar::Int::Unsigned(n)) => Number::Int(n.into()),
            None => Number::of_float(scalar::float(scalar.text())?),
        }),
        _ => None,
    }
}

fn types(node: &Node<'_>) -> TypeSet {
    match node.value() {
        Value::Scalar(scalar) => TypeSet::of_scalar(scalar.kind(), number(scalar)),
        Value::Sequence(_) => TypeSet::ARRAY,
        Value::Mapping(_) => TypeSet::OBJECT,
    }
}

/// The text of a scalar that is a string.
fn text<'a>(node: &Node<'a>) -> Option<&'a str> {
    let scalar = node.as_scalar()?;
    matches!(scalar.kind(), Kind::Str | Kind::Binary | Kind::Timestamp).then(|| scalar.text())
}

/// Appends a text that only equal values have: see the same of schemas.
fn canonical(out: &mut String, node: &Node<'_>) {
    match node.value() {
        Value::Scalar(scalar) => match (scalar.kind(), number(scalar)) {
            (_, Some(number)) => out.push_str(&number.to_string()),
            (Kind::Null, _) => out.push_str("null"),
            (Kind::Bool, _) => out.push_str(if scalar::truth(scalar.text()) { "true" } else { "false" }),
            _ => canonical_text(out, scalar.text()),
        },
        Value::Sequence(items) => {
            out.push('[');
            for item in items.iter() {
                canonical(out, item);
                out.push(',');
            }
            out.push(']');
        }
        Value::Mapping(mapping) => {
            let mut entries: Vec<_> = mapping.iter().collect();
            entries.sort_by_key(|entry| entry.key().text());
            out.push('{');
            for entry in entries {
                canonical_text(out, entry.key().text());
                out.push(':');
                canonical(out, entry.value());
                out.push(',');
            }
            out.push('}');
        }
    }
}

/// A list in words, no longer than a line.
fn words(all: &[String]) -> String {
    let shown: Vec<String> = all.iter().take(MOST_WORDS).map(|word| format!("'{word}'")).collect();
    match all.len().saturating_sub(MOST_WORDS) {
        0 => shown.join(", "),
        more => format!("{} or one of {more} others", shown.join(", ")),
    }
}

fn plural(count: u64, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

struct Checker<'s> {
    rules: &'s [Rules],
    /// True if anything asks what was looked at.
    marks: bool,
    /// The fields at the top that are not part of what is checked.
    hidden: Vec<&'static str>,
    steps: u64,
    depth: usize,
}

impl<'s> Checker<'s> {
    fn steps(&mut self, steps: usize) -> std::result::Result<(), TooMuch> {
        self.steps += steps as u64;
        if self.steps > MOST_STEPS { Err(TooMuch) } else { Ok(()) }
    }

    /// Holds a value to a subschema.
    fn rules(&mut self, number: usize, at: &At<'_, '_>, faults: &mut Faults, seen: &mut Seen) -> Verdict {
        self.steps(1)?;
        if self.depth == MOST_DEPTH {
            return Err(TooMuch);
        }
        self.depth += 1;
        let before = faults.count;
        // The fields and items that neighbours have looked at do not count for this subschema.
        let mut own = Seen::default();
        let done = self.one(number, at, faults, &mut own);
        self.depth -= 1;
        done?;
        let is_right = faults.count == before;
        if is_right {
            seen.add(&own);
        }
        Ok(is_right)
    }

    /// The same where nobody reads the faults.
    fn is(&mut self, number: usize, at: &At<'_, '_>, seen: &mut Seen) -> Verdict {
        self.rules(number, at, &mut Faults::dropped(), seen)
    }

    fn one(
        &mut self,
        number: usize,
        at: &At<'_, '_>,
        faults: &mut Faults,
        seen: &mut Seen,
    ) -> std::result::Result<(), TooMuch> {
        let all = self.rules;
        let rules = &all[number];
        if let Some(always) = rules.always {
            if !always {
                faults.add(|| at.fault("no value is allowed here"));
            }
            return Ok(());
        }
        let found = types(at.node);
        if !rules.types.is_any() && !rules.types.meets(found) {
            faults.add(|| at.fault(format!("expected {}, found {}", rules.types.words(), found.word())));
            // Further faults of the value follow from this one.
            return Ok(());
        }
        self.choices(rules, at, faults)?;
        if let Some(to) = rules.reference {
            self.rules(to, at, faults, seen)?;
        }
        for to in &rules.all_of {
            self.rules(*to, at, faults, seen)?;
        }
        match at.node.value() {
            Value::Scalar(_) => self.scalar(rules, at, faults)?,
            Value::Sequence(_) => self.items(rules, at, faults, seen)?,
            Value::Mapping(_) => self.fields(number, at, faults, seen)?,
        }
        self.any_of(rules, at, faults, seen)?;
        self.one_of(rules, at, faults, seen)?;
        if let Some(not) = rules.not
            && self.is(not, at, &mut Seen::default())?
        {
            faults.add(|| at.fault("the value is what the schema excludes ('not')"));
        }
        if let Some(condition) = rules.condition {
            let next = if self.is(condition, at, seen)? { rules.then } else { rules.otherwise };
            if let Some(next) = next {
                self.rules(next, at, faults, seen)?;
            }
        }
        self.unevaluated(number, at, faults, seen)
    }

    fn choices(&mut self, rules: &Rules, at: &At<'_, '_>, faults: &mut Faults) -> std::result::Result<(), TooMuch> {
        if rules.choices.is_empty() {
            return Ok(());
        }
        let mut own = String::new();
        canonical(&mut own, at.node);
        for choice in &rules.choices {
            self.steps(own.len() + choice.canonical.len())?;
            if !choice.canonical.contains(&own) {
                faults.add(|| other_value(choice, at));
            }
        }
        Ok(())
    }

    fn scalar(&mut self, rules: &Rules, at: &At<'_, '_>, faults: &mut Faults) -> std::result::Result<(), TooMuch> {
        let Some(scalar) = at.node.as_scalar() else { return Ok(()) };
        if let Some(number) = number(scalar) {
            let mut bound = |is_wrong: bool, words: &str, bound: Option<Number>| {
                if let Some(bound) = bound.filter(|_| is_wrong) {
                    faults.add(|| at.fault(format!("expected a number that is {words} {bound}")));
                }
            };
            let is_less = |a: Option<Number>, b: Option<Number>| matches!((a, b), (Some(a), Some(b)) if a.is_less(b));
            let own = Some(number);
            bound(is_less(own, rules.minimum), "at least", rules.minimum);
            bound(is_less(rules.maximum, own), "at most", rules.maximum);
            bound(!is_less(rules.above, own), "more than", rules.above);
            bound(!is_less(own, rules.below), "less than", rules.below);
            bound(rules.multiple_of.is_some_and(|of| !number.is_multiple(of)), "a multiple of", rules.multiple_of);
        }
        let Some(text) = text(at.node) else { return Ok(()) };
        if rules.length.least.or(rules.length.most).is_some() {
            self.steps(text.len())?;
            counted(rules.length, text.chars().count() as u64, "character", at, faults);
        }
        if let Some(pattern) = &rules.pattern {
            self.steps(text.len())?;
            if !pattern.regex.is_match(text) {
                let pattern = clipped(&pattern.text);
                faults.add(|| at.fault(format!("expected a text that matches the pattern {pattern}")));
            }
        }
        Ok(())
    }

    fn items(
        &mut self,
        rules: &Rules,
        at: &At<'_, '_>,
        faults: &mut Faults,
        seen: &mut Seen,
    ) -> std::result::Result<(), TooMuch> {
        let Some(items) = at.node.as_sequence() else { return Ok(()) };
        counted(rules.items_count, items.len() as u64, "item", at, faults);
        for (number, item) in items.iter().enumerate() {
            let Some(to) = rules.prefix.get(number).copied().or(rules.items) else { break };
            self.mark(seen, number);
            self.rules(to, &at.below(item, PathStep::Item(number)), faults, &mut Seen::default())?;
        }
        if let Some(contains) = rules.contains {
            let mut count = 0;
            for (number, item) in items.iter().enumerate() {
                if self.is(contains, &at.below(item, PathStep::Item(number)), &mut Seen::default())? {
                    self.mark(seen, number);
                    count += 1;
                }
            }
            counted(rules.contains_count, count, "item that 'contains' describes", at, faults);
        }
        if rules.is_unique {
            let mut known: BTreeMap<String, usize> = BTreeMap::new();
            for (number, item) in items.iter().enumerate() {
                let mut own = String::new();
                canonical(&mut own, item);
                self.steps(own.len())?;
                if let Some(first) = known.insert(own, number) {
                    let item = at.below(item, PathStep::Item(number));
                    faults.add(|| item.fault(format!("expected items that differ: it is the same as item [{first}]")));
                }
            }
        }
        Ok(())
    }

    /// The entries of a mapping that are checked, each with its number.
    fn entries<'n, 'a>(&self, at: &At<'n, 'a>) -> Vec<(usize, &'n Entry<'a>)> {
        let is_top = matches!(at.step, PathStep::Top);
        let is_own = |entry: &&Entry<'_>| !is_top || !self.hidden.contains(&entry.key().text());
        let entries = at.node.as_mapping().into_iter().flat_map(|mapping| mapping.iter());
        entries.filter(is_own).enumerate().collect()
    }

    fn fields(
        &mut self,
        own: usize,
        at: &At<'_, '_>,
        faults: &mut Faults,
        seen: &mut Seen,
    ) -> std::result::Result<(), TooMuch> {
        let all = self.rules;
        let rules = &all[own];
        let entries = self.entries(at);
        self.steps(entries.len())?;
        counted(rules.fields_count, entries.len() as u64, "field", at, faults);
        let has = |name: &str| entries.iter().any(|(_, entry)| entry.key().text() == name);
        self.steps(rules.required.len() * entries.len())?;
        for name in rules.required.iter().filter(|name| !has(name)) {
            let name = clipped(name);
            let hint = format!("add a line '{name}: VALUE'");
            faults.add(|| Fault { hint: Some(hint), ..at.fault(format!("missing field \"{name}\"")) });
        }
        for (name, needs) in rules.dependent_required.iter().filter(|(name, _)| has(name)) {
            self.steps(needs.len() * entries.len())?;
            for need in needs.iter().filter(|need| !has(need)) {
                let message = format!("missing field \"{}\", which \"{}\" needs", clipped(need), clipped(name));
                faults.add(|| at.fault(message));
            }
        }
        for (_, to) in rules.dependent.iter().filter(|(name, _)| has(name)) {
            self.rules(*to, at, faults, seen)?;
        }
        for (number, entry) in entries {
            let name = entry.key().text();
            let value = at.below(entry.value(), PathStep::Field(name));
            if let Some(to) = rules.names {
                let node = Node::string(name);
                let key = At { node: &node, above: Some(at), step: PathStep::Field(name), pos: key_pos(entry, at) };
                let mut found = Faults { is_kept: faults.is_kept, ..Faults::kept() };
                self.rules(to, &key, &mut found, &mut Seen::default())?;
                for fault in &mut found.list {
                    fault.message.insert_str(0, "the name of the field: ");
                }
                faults.add_all(found);
            }
            let mut is_known = false;
            if let Some(to) = rules.properties.get(name) {
                is_known = true;
                self.rules(*to, &value, faults, &mut Seen::default())?;
            }
            for (pattern, to) in &rules.pattern_properties {
                self.steps(name.len())?;
                if pattern.regex.is_match(name) {
                    is_known = true;
                    self.rules(*to, &value, faults, &mut Seen::default())?;
                }
            }
            if let Some(to) = rules.additional.filter(|_| !is_known) {
                is_known = true;
                self.other_field(OtherFields { own, rules: to }, at, entry, faults)?;
            }
            if is_known {
                self.mark(seen, number);
            }
        }
        Ok(())
    }

    /// Checks a field that a subschema does not name against the rules for such fields.
    fn other_field(
        &mut self,
        OtherFields { own, rules: to }: OtherFields,
        at: &At<'_, '_>,
        entry: &Entry<'_>,
        faults: &mut Faults,
    ) -> std::result::Result<(), TooMuch> {
        let name = entry.key().text();
        if self.rules[to].always != Some(false) {
            self.rules(to, &at.below(entry.value(), PathStep::Field(name)), faults, &mut Seen::default())?;
            return Ok(());
        }
        let all = self.rules;
        if faults.is_kept && faults.list.len() < MOST_FAULTS {
            self.steps(all.len())?;
        }
        faults.add(|| {
            // Of the alternatives and of what is referred to, too.
            let same = of_one_value(all, own);
            let names = same.iter().flat_map(|at| all[*at].properties.keys()).map(String::as_str);
            let names: BTreeSet<&str> = names.collect();
            let hint = match near(name, names.iter().copied()) {
                Some(near) => Some(format!("did you mean '{near}'?")),
                None if names.is_empty() => None,
                None => {
                    let names: Vec<String> = names.into_iter().map(clipped).collect();
                    Some(format!("the fields here are: {}", words(&names)))
                }
            };
            let message = format!("unknown field \"{}\"", clipped(name));
            Fault { pos: key_pos(entry, at), hint, ..at.fault(message) }
        });
        Ok(())
    }

    fn any_of(
        &mut self,
        rules: &Rules,
        at: &At<'_, '_>,
        faults: &mut Faults,
        seen: &mut Seen,
    ) -> std::result::Result<(), TooMuch> {
        if rules.any_of.is_empty() {
            return Ok(());
        }
        let mut is_any = false;
        for to in &rules.any_of {
            is_any |= self.is(*to, at, seen)?;
            if is_any && !self.marks {
                return Ok(());
            }
        }
        if is_any { Ok(()) } else { self.no_alternative(&rules.any_of, at, faults) }
    }

    fn one_of(
        &mut self,
        rules: &Rules,
        at: &At<'_, '_>,
        faults: &mut Faults,
        seen: &mut Seen,
    ) -> std::result::Result<(), TooMuch> {
        if rules.one_of.is_empty() {
            return Ok(());
        }
        let mut count = 0;
        for to in &rules.one_of {
            count += usize::from(self.is(*to, at, seen)?);
        }
        match count {
            1 => Ok(()),
            0 => self.no_alternative(&rules.one_of, at, faults),
            _ => {
                let message = format!("{count} alternatives of the schema fit, expected exactly one ('oneOf')");
                faults.add(|| at.fault(message));
                Ok(())
            }
        }
    }

    /// Reports why no alternative fits: the faults of the intended alternative, if that is clear.
    fn no_alternative(
        &mut self,
        alternatives: &[usize],
        at: &At<'_, '_>,
        faults: &mut Faults,
    ) -> std::result::Result<(), TooMuch> {
        if !faults.is_kept {
            faults.add(|| at.fault(""));
            return Ok(());
        }
        let own = at.path().len();
        let (mut meant, mut expected) = (Vec::new(), Vec::new());
        for to in alternatives {
            let mut found = Faults::kept();
            self.rules(*to, at, &mut found, &mut Seen::default())?;
            let is_other =
                |fault: &Fault| fault.is_const || fault.path.len() == own && fault.message.starts_with("expected ");
            match found.list.iter().find(|fault| is_other(fault)) {
                Some(fault) if fault.path.len() == own => {
                    let wanted = fault.message.trim_start_matches("expected ");
                    expected.push(wanted.split(", found").next().unwrap_or(wanted).to_owned());
                }
                Some(_) => {}
                None => meant.push(found),
            }
        }
        if meant.len() == 1 {
            meant.into_iter().for_each(|found| faults.add_all(found));
            return Ok(());
        }
        expected.dedup();
        let message = match expected.len() == alternatives.len() || expected.len() == 1 && meant.is_empty() {
            true if expected.len() <= MOST_WORDS => {
                format!("expected {}, found {}", expected.join(", or "), types(at.node).word())
            }
            _ => format!("none of the {} alternatives of the schema fits", alternatives.len()),
        };
        faults.add(|| at.fault(message));
        Ok(())
    }

    fn mark(&self, seen: &mut Seen, at: usize) {
        if self.marks {
            seen.mark(at);
        }
    }

    /// Holds the fields and items that nothing has looked at to what the schema says of them.
    fn unevaluated(
        &mut self,
        own: usize,
        at: &At<'_, '_>,
        faults: &mut Faults,
        seen: &mut Seen,
    ) -> std::result::Result<(), TooMuch> {
        let all = self.rules;
        let rules = &all[own];
        if let Some(to) = rules.unevaluated_fields {
            for (number, entry) in self.entries(at) {
                if !seen.has(number) {
                    seen.mark(number);
                    self.other_field(OtherFields { own, rules: to }, at, entry, faults)?;
                }
            }
        }
        if let (Some(to), Some(items)) = (rules.unevaluated_items, at.node.as_sequence()) {
            for (number, item) in items.iter().enumerate() {
                if !seen.has(number) {
                    seen.mark(number);
                    self.rules(to, &at.below(item, PathStep::Item(number)), faults, &mut Seen::default())?;
                }
            }
        }
        Ok(())
    }
}

/// The place of an entry's key, or of its mapping where a build step has made it.
fn key_pos(entry: &Entry<'_>, at: &At<'_, '_>) -> Pos {
    if entry.key().pos().is_in_source() { entry.key().pos() } else { at.pos }
}

fn other_value(choice: &ExpectedValues, at: &At<'_, '_>) -> Fault {
    let message = match choice.words.as_slice() {
        [] => "no value is allowed here".to_owned(),
        [word] => format!("expected '{word}'"),
        all => format!("expected one of {}", words(all)),
    };
    let known = choice.words.iter().map(String::as_str);
    let hint = text(at.node)
        .and_then(|text| near(text, known))
        .filter(|_| choice.words.len() > 1)
        .map(|near| format!("did you mean '{near}'?"));
    Fault { hint, is_const: choice.is_const, ..at.fault(message) }
}

fn counted(counts: Counts, found: u64, word: &str, at: &At<'_, '_>, faults: &mut Faults) {
    let mut wrong = |words: &str, bound: u64| {
        faults.add(|| at.fault(format!("expected {words} {}, found {found}", plural(bound, word))));
    };
    match (counts.least, counts.most) {
        (Some(least), _) if found < least => wrong("at least", least),
        (_, Some(most)) if found > most => wrong("at most", most),
        _ => {}
    }
}

/// The rules of a subschema for the fields that it does not name.
#[derive(Clone, Copy)]
struct OtherFields {
    /// The number of the subschema.
    own: usize,
    /// The number of the rules.
    rules: usize,
}

#[cfg(test)]
mod tests {
    use super::conform;
    use crate::author::schema::Schema;
    use crate::resource::Resource;
    use rustomize_yaml::{Heap, first_document};

    /// The faults of an object, as a user reads them. `fields` come behind its head, which is three
    /// lines.
    fn faults(schema: &str, fields: &str) -> Result<(), String> {
        let schema = Schema::compile(serde_json::from_str(schema).unwrap()).unwrap();
        let heap = Heap::new();
        let arena = heap.arena();
        let text = format!("apiVersion: ex.io/v1\nkind: Made\nmetadata: {{name: m}}\n{fields}");
        let node = first_document(arena, arena.add_source("c.yaml", text)).unwrap().unwrap();
        let config = Resource::new(arena, node).unwrap();
        conform(arena, &config, &schema, "h.io/a/app").map_err(|e| e.located(&heap).to_string())
    }

    #[track_caller]
    fn right(schema: &str, fields: &str) {
        assert_eq!(faults(schema, fields), Ok(()), "{schema}\n{fields}");
    }

    #[track_caller]
    fn wrong(schema: &str, fields: &str, words: &[&str]) {
        let found = faults(schema, fields).unwrap_err();
        for word in words {
            assert!(found.contains(word), "{schema}\n{fields}'{word}' is not in: {found}");
        }
    }

    #[test]
    fn a_fault_has_its_place_its_field_and_a_hint() {
        let schema = r#"{"properties": {"spec": {"properties": {"count": {"type": "integer", "minimum": 1},
            "ports": {"items": {"type": ["string", "null"]}}, "mode": {"enum": ["Always", "Never"]}},
            "required": ["count"], "additionalProperties": false}}}"#;
        right(schema, "spec: {count: 3, ports: [a, null], mode: Never}\n");
        wrong(
            schema,
            "spec:\n  count: many\n",
            &[
                "expected an integer, found a string\n  at c.yaml:5:10\n  in field 'spec.count'\n",
                "the schema of the plugin 'h.io/a/app' says so",
            ],
        );
        wrong(schema, "spec: {count: 0}\n", &["at least 1", "c.yaml:4:15"]);
        wrong(
            schema,
            "spec: {cuont: 3, count: 3}\n",
            &["unknown field \"cuont\"", "c.yaml:4:8", "did you mean 'count'?"],
        );
        wrong(schema, "spec: {}\n", &["missing field \"count\"", "c.yaml:4:7", "'spec'"]);
        wrong(schema, "spec: {count: 1, ports: [a, 2]}\n", &["expected null or a string", "'spec.ports[1]'"]);
        wrong(
            schema,
            "spec: {count: 1, mode: Alway}\n",
            &["expected one of 'Always', 'Never'", "did you mean 'Always'?"],
        );
    }

    #[test]
    fn all_faults_are_told_up_to_ten_and_counted() {
        let schema = r#"{"additionalProperties": {"type": "string"}}"#;
        let fields: String = (0..13).map(|n| format!("f{n}: {n}\n")).collect();
        wrong(
            schema,
            &fields,
            &[
                "13 faults in",
                "\n  c.yaml:4:5: f0: expected a string, found an integer",
                "c.yaml:13:5: f9:",
                "and 3 more",
            ],
        );
        assert!(!faults(schema, &fields).unwrap_err().contains("f10"));
    }

    #[test]
    fn no_message_has_a_value_of_the_object() {
        let schema = r#"{"properties": {"password": {"minLength": 20}, "token": {"type": "integer"},
            "key": {"const": "other"}, "user": {"pattern": "^[a-z]+$"}, "list": {"uniqueItems": true}, "map": {"propertyNames": {"maxLength": 1}}}}"#;
        let found = faults(
            schema,
            "password: hunter2\ntoken: hunter2\nkey: hunter2\nuser: hunter2\nlist: [hunter2, hunter2]\n",
        )
        .unwrap_err();
        assert!(found.contains("5 faults") && !found.contains("hunter2"), "{found}");
    }

    #[test]
    fn what_every_object_has_is_not_refused_unless_the_schema_speaks_of_it() {
        right(r#"{"additionalProperties": false, "properties": {"a": {}}, "maxProperties": 1}"#, "a: 1\n");
        right(r#"{"unevaluatedProperties": false, "propertyNames": {"maxLength": 1}}"#, "");
        right(r##"{"$ref": "#/$defs/x", "$defs": {"x": {"additionalProperties": false}}}"##, "");
        wrong(
            r#"{"properties": {"metadata": {"required": ["namespace"]}}, "additionalProperties": false}"#,
            "",
            &["missing field \"namespace\"", "c.yaml:3:11"],
        );
        // Below the top they are fields as any other.
        wrong(
            r#"{"properties": {"a": {"additionalProperties": false}}}"#,
            "a: {kind: x}\n",
            &["unknown field \"kind\""],
        );
    }

    #[test]
    fn every_keyword_takes_what_is_right_and_refuses_what_is_not() {
        for (schema, is_right, is_wrong) in [
            (r#"{"type": "integer"}"#, "5.0", "5.5"),
            (r#"{"type": "number"}"#, "1e3", "'1'"),
            (r#"{"type": "boolean"}"#, "true", "yes"),
            (r#"{"type": "null"}"#, "~", "''"),
            (r#"{"type": ["array", "object"]}"#, "{}", "x"),
            (r#"{"enum": [1, "a", {"b": [2.0]}]}"#, "{b: [2]}", "{b: [3]}"),
            (r#"{"const": "1"}"#, "'1'", "1"),
            (r#"{"minimum": 2, "maximum": 4}"#, "4", "5"),
            (r#"{"exclusiveMinimum": 2}"#, "2.5", "2"),
            (r#"{"exclusiveMaximum": 2}"#, "1", "2"),
            (r#"{"minimum": 9007199254740993}"#, "9007199254740993", "9007199254740992"),
            (r#"{"multipleOf": 0.5}"#, "1.5", "1.2"),
            (r#"{"minLength": 2, "maxLength": 3}"#, "äö", "ä"),
            (r#"{"pattern": "^a+$"}"#, "aa", "ab"),
            (r#"{"items": {"type": "string"}, "prefixItems": [{"type": "integer"}]}"#, "[1, a]", "[a, a]"),
            (r#"{"minItems": 1, "maxItems": 2}"#, "[1]", "[]"),
            (r#"{"uniqueItems": true}"#, "[1, '1', {a: 1}]", "[{a: 1, b: 2}, {b: 2, a: 1.0}]"),
            (r#"{"contains": {"const": 1}, "maxContains": 2}"#, "[1, 2, 1]", "[1, 1, 1]"),
            (r#"{"contains": {"const": 1}}"#, "[0, 1]", "[0]"),
            (r#"{"minContains": 0, "contains": {"const": 1}}"#, "[0]", ""),
            (r#"{"required": ["a"]}"#, "{a: ~}", "{b: 1}"),
            (r#"{"minProperties": 1, "maxProperties": 2}"#, "{a: 1}", "{a: 1, b: 2, c: 3}"),
            (
                r#"{"patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": false}"#,
                "{x1: 1}",
                "{x1: a}",
            ),
            (r#"{"propertyNames": {"pattern": "^x"}}"#, "{x: 1}", "{y: 1}"),
            (r#"{"dependentRequired": {"a": ["b"]}}"#, "{a: 1, b: 1}", "{a: 1}"),
            (r#"{"dependentSchemas": {"a": {"minProperties": 2}}}"#, "{b: 1}", "{a: 1}"),
            (r#"{"allOf": [{"minimum": 1}, {"maximum": 3}]}"#, "2", "4"),
            (r#"{"anyOf": [{"type": "string"}, {"minimum": 3}]}"#, "3", "2"),
            (r#"{"oneOf": [{"multipleOf": 2}, {"multipleOf": 3}]}"#, "4", "6"),
            (r#"{"not": {"type": "string"}}"#, "1", "a"),
            (r#"{"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"minimum": 2}}"#, "ab", "1"),
            (r#"{"then": {"minLength": 9}}"#, "ab", ""),
            (r#"{"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false}"#, "{a: 1}", "{a: 1, b: 2}"),
            (
                r#"{"anyOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]}, {"properties": {"b": {}}}], "unevaluatedProperties": {"type": "null"}}"#,
                "{a: 1, b: 2}",
                "{c: 1}",
            ),
            (r#"{"prefixItems": [{}], "contains": {"const": 3}, "unevaluatedItems": false}"#, "[1, 3]", "[1, 3, 4]"),
            ("false", "", "1"),
            ("true", "1", ""),
        ] {
            let whole = format!(r#"{{"properties": {{"v": {schema}}}}}"#);
            if !is_right.is_empty() {
                right(&whole, &format!("v: {is_right}\n"));
            }
            // Nothing is wrong for some.
            if !is_wrong.is_empty() {
                wrong(&whole, &format!("v: {is_wrong}\n"), &["says so"]);
            }
        }
    }

    #[test]
    fn the_alternative_that_is_meant_says_what_is_wrong() {
        let optional = r#"{"properties": {"v": {"anyOf": [{"properties": {"a": {"type": "integer"}}, "type": "object"}, {"type": "null"}]}}}"#;
        right(optional, "v: ~\n");
        wrong(optional, "v: {a: x}\n", &["expected an integer, found a string", "'v.a'"]);
        wrong(optional, "v: 3\n", &["expected a mapping, or null, found an integer"]);
        let tagged = r#"{"properties": {"v": {"oneOf": [
            {"properties": {"type": {"const": "A"}, "size": {"type": "integer"}}, "required": ["type"]},
            {"properties": {"type": {"const": "B"}, "size": {"type": "string"}}, "required": ["type"]}]}}}"#;
        wrong(tagged, "v: {type: B, size: 3}\n", &["expected a string, found an integer", "'v.size'"]);
        wrong(tagged, "v: {type: C}\n", &["none of the 2 alternatives"]);
    }

    /// Random schemas and values, with the verdicts of another implementation: boon 0.6.1.
    #[test]
    fn verdicts_are_those_of_another_implementation() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/plugin_schema/verdicts.jsonl");
        let text = std::fs::read_to_string(path).unwrap();
        for line in text.lines() {
            let [schema, object, verdict]: [serde_json::Value; 3] = serde_json::from_str(line).unwrap();
            let found = faults(&schema.to_string(), &format!("v: {}\n", object["v"]));
            assert_eq!(serde_json::Value::from(found.is_ok()), verdict, "{line}: {found:?}");
        }
        assert!(text.lines().count() > 400);
    }

    #[test]
    fn a_schema_that_branches_without_end_takes_bounded_steps() {
        let defs: String = (0..40)
            .map(|n| {
                format!(r##""d{n}": {{"allOf": [{{"$ref": "#/$defs/d{0}"}}, {{"$ref": "#/$defs/d{0}"}}]}}, "##, n + 1)
            })
            .collect();
        wrong(
            &format!(r##"{{"$ref": "#/$defs/d0", "$defs": {{{defs}"d40": {{"type": "object"}}}}}}"##),
            "",
            &["takes too long to check"],
        );
        let defs: String = (0..9000).map(|n| format!(r##""d{n}": {{"$ref": "#/$defs/d{}"}}, "##, n + 1)).collect();
        wrong(
            &format!(r##"{{"$ref": "#/$defs/d0", "$defs": {{{defs}"d9000": {{}}}}}}"##),
            "",
            &["takes too long to check"],
        );
        let deep = format!("v: {}1{}\n", "[".repeat(300), "]".repeat(300));
        wrong(
            r##"{"$defs": {"l": {"items": {"$ref": "#/$defs/l"}}}, "$ref": "#/$defs/l"}"##,
            &deep,
            &["more than 256 levels"],
        );
    }
}
