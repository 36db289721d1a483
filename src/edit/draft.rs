//! [`Draft`]: the fields of a kustomization file, for changes.

use crate::config::{Decoder, Kustomization};
use crate::diag::{Code, Error, Result};
use crate::stage::Context;
use rustomize_yaml::change::{self, Unchangeable};
use rustomize_yaml::{Arena, Key, Mapping, Node, Pos, Scalar, Sequence, Source, Tag, first_document, json};
use std::rc::Rc;

/// Fields with an old name, which kustomize reads as well: the name and the old name.
const OLD_NAMES: [(&str, &str); 2] = [("resources", "bases"), ("images", "imageTags")];

/// A kustomization file that is being changed. The letter case of names is ignored, as in
/// kustomize.
pub struct Draft<'a> {
    pub cx: Rc<Context<'a>>,
    pub arena: Arena<'a>,
    /// The name of the file.
    pub name: &'static str,
    source: &'a Source,
    /// The text of the file before the change.
    written: String,
    before: Option<Node<'a>>,
    fields: Mapping<'a>,
    notes: Vec<String>,
}

impl<'a> Draft<'a> {
    /// Reads a kustomization file.
    ///
    /// # Errors
    /// Malformed YAML, unknown fields, wrong types.
    pub fn read(cx: Rc<Context<'a>>, name: &'static str, text: String) -> Result<Self> {
        let arena = cx.arena;
        let source = arena.add_source(name, text.clone());
        let invalid = |e: Error| e.at(source.pos(0)).prefixed("invalid Kustomization: ");
        let before = first_document(arena, source).map_err(|e| invalid(e.into()))?;
        before.as_ref().map_or(Ok(()), json::check_keys).map_err(|e| invalid(e.into()))?;
        Kustomization::as_written(before.as_ref(), &Decoder::strict(arena)).map_err(invalid)?;
        let fields = before.as_ref().and_then(Node::as_mapping).cloned().unwrap_or_default();
        Ok(Draft { cx, arena, name, source, written: text, before, fields, notes: Vec::new() })
    }

    /// The text of the file before the change.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Adds a note for the user.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Returns the notes for the user, and forgets them.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// The text of the file after the change; `None` if nothing was changed. A file without fields
    /// also gets its type.
    ///
    /// # Errors
    /// The file is written in a way that cannot be changed.
    pub fn finish(mut self) -> Result<Option<String>> {
        if self.before.as_ref().and_then(Node::as_mapping).is_none_or(Mapping::is_empty) || self.fields.is_empty() {
            self.set_type();
        }
        let pos = self.before.as_ref().map_or(Pos::NONE, Node::pos);
        let after = Node::new(std::mem::take(&mut self.fields), pos);
        let text = change::FileText { source: self.source, written: &self.written };
        let changed = change::apply(self.arena, text, self.before.as_ref(), &after);
        let unchangeable = |Unchangeable { message, pos }: Unchangeable| {
            let error = Error::new(Code::NotYaml, format!("'{}' was not changed: {message}", self.name)).at(pos);
            error.hint(format!("change {} by hand, or write these fields out", self.name))
        };
        let text = changed.map_err(unchangeable)?;
        Ok((text != self.written).then_some(text))
    }

    /// Sets `apiVersion` and `kind` if they are missing.
    pub fn set_type(&mut self) {
        let kind = self.text("kind").filter(|kind| !kind.is_empty()).unwrap_or("Kustomization");
        let version = if kind == "Component" { "v1alpha1" } else { "v1beta1" };
        if self.text("apiVersion").is_none_or(str::is_empty) {
            self.set_text("apiVersion", &format!("kustomize.config.k8s.io/{version}"));
        }
        self.set_text("kind", kind);
    }

    /// The key of a field as it is written.
    ///
    /// # Errors
    /// The field is given twice.
    fn key(&self, name: &str) -> Result<Option<Key<'a>>> {
        let mut keys = self.fields.iter().map(|entry| *entry.key()).filter(|key| key.text().eq_ignore_ascii_case(name));
        match (keys.next(), keys.next()) {
            (_, Some(second)) => {
                let error = Error::new(
                    Code::DuplicateKey,
                    format!("'{name}' is given twice, and one of them would be changed"),
                );
                Err(error.at(second.pos()).hint("write all of it under one key"))
            }
            (key, None) => Ok(key),
        }
    }

    /// The value of a field.
    pub fn get(&self, name: &str) -> Option<&Node<'a>> {
        self.fields.iter().find(|entry| entry.key().text().eq_ignore_ascii_case(name)).map(|entry| entry.value())
    }

    /// The text of a field.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.get(name).and_then(Node::as_scalar).map(Scalar::text)
    }

    /// The items of a list, without those under its old name.
    pub fn items(&self, name: &str) -> impl Iterator<Item = &Node<'a>> {
        self.get(name).and_then(Node::as_sequence).into_iter().flatten()
    }

    /// The texts of a list, those under its old name included.
    pub fn texts(&self, name: &str) -> Vec<&'a str> {
        let old = OLD_NAMES.iter().find(|(new, _)| *new == name).map(|(_, old)| self.items(old));
        let items = self.items(name).chain(old.into_iter().flatten());
        items.filter_map(Node::as_scalar).map(Scalar::text).collect()
    }

    /// Sets the text of a field; an empty text removes the field.
    ///
    /// # Errors
    /// The field is given twice.
    pub fn replace_text(&mut self, name: &'static str, text: &str) -> Result<()> {
        self.key(name)?;
        if text.is_empty() {
            return self.remove(name).map(drop);
        }
        self.set_text(name, text);
        Ok(())
    }

    fn set_text(&mut self, name: &'static str, text: &str) {
        set_text(self.arena, &mut self.fields, name, text);
    }

    /// The value of a field for changes, made by `value` if the field is missing or null.
    fn value(&mut self, name: &'static str, value: impl FnOnce() -> Node<'a>) -> Result<&mut Node<'a>> {
        let key = self.key(name)?.unwrap_or(Key::string(name));
        let node = self.fields.get_or_insert_with(key.text(), Node::null);
        if node.is_null() {
            node.put(value().into_value(), Pos::NONE);
        }
        Ok(node)
    }

    /// A list for changes. The items under its old name are moved to it.
    ///
    /// # Errors
    /// The field is given twice.
    pub fn list(&mut self, name: &'static str) -> Result<&mut Sequence<'a>> {
        if let Some((_, old)) = OLD_NAMES.iter().find(|(new, _)| *new == name) {
            self.rename(old, name)?;
        }
        let node = self.value(name, || Node::new(Sequence::default(), Pos::NONE))?;
        node.as_sequence_mut().ok_or_else(|| Error::new(Code::WrongType, format!("'{name}' is not a list")))
    }

    /// A list for changes, if it is written under this very name.
    ///
    /// # Errors
    /// The field is given twice.
    pub fn written_list(&mut self, name: &str) -> Result<Option<&mut Sequence<'a>>> {
        let Some(key) = self.key(name)? else { return Ok(None) };
        Ok(self.fields.get_mut(key.text()).and_then(Node::as_sequence_mut))
    }

    /// Adds items at the end of a list. If the list is missing, a new list is made, at `pos`.
    ///
    /// # Errors
    /// The field is given twice, or is not a list.
    pub fn append(&mut self, name: &'static str, items: Sequence<'a>, pos: Pos) -> Result<()> {
        if items.is_empty() {
            return Ok(());
        }
        match self.get(name) {
            Some(_) => self.list(name)?.extend(items.into_items()),
            None => self.put(name, Node::new(items, pos)),
        }
        Ok(())
    }

    /// A mapping for changes.
    ///
    /// # Errors
    /// The field is given twice.
    pub fn mapping(&mut self, name: &'static str) -> Result<&mut Mapping<'a>> {
        let node = self.value(name, || Mapping::new().into())?;
        node.as_mapping_mut().ok_or_else(|| Error::new(Code::WrongType, format!("'{name}' is not a mapping")))
    }

    /// Gives a list another name, or adds its items to the list that has that name.
    ///
    /// # Errors
    /// A field is given twice.
    pub fn rename(&mut self, old: &str, new: &'static str) -> Result<()> {
        let Some(value) = self.remove(old)? else { return Ok(()) };
        if self.key(new)?.is_none() {
            self.put(new, value);
        } else if let Ok(items) = value.into_sequence() {
            let node = self.value(new, || Node::new(Sequence::default(), Pos::NONE))?;
            if let Some(list) = node.as_sequence_mut() {
                list.extend(items.into_items());
            }
        }
        Ok(())
    }

    /// Sets a field.
    pub fn put(&mut self, name: &'static str, value: Node<'a>) {
        self.fields.insert(Key::string(name), value);
    }

    /// Removes a field.
    ///
    /// # Errors
    /// The field is given twice.
    pub fn remove(&mut self, name: &str) -> Result<Option<Node<'a>>> {
        Ok(self.key(name)?.and_then(|key| self.fields.remove(key.text())))
    }

    /// Removes a list or mapping that has become empty.
    ///
    /// # Errors
    /// The field is given twice.
    pub fn drop_if_empty(&mut self, name: &str) -> Result<()> {
        if self.get(name).is_some_and(Node::is_null_or_empty) {
            self.remove(name)?;
        }
        Ok(())
    }
}

/// The value of a key, ignoring the case of letters.
pub fn get<'n, 'a>(node: &'n Node<'a>, name: &str) -> Option<&'n Node<'a>> {
    let mut entries = node.as_mapping()?.iter();
    entries.find(|entry| entry.key().text().eq_ignore_ascii_case(name)).map(|entry| entry.value())
}

/// The key of a mapping as it is written, found by its name; the case of letters is ignored.
pub fn written_key<'a>(mapping: &Mapping<'a>, name: &str) -> Option<&'a str> {
    mapping.iter().map(|entry| entry.key().text()).find(|key| key.eq_ignore_ascii_case(name))
}

/// The text of a key, ignoring the case of letters; empty if the key is missing.
pub fn text<'a>(node: &Node<'a>, name: &str) -> &'a str {
    get(node, name).and_then(Node::as_scalar).filter(|scalar| !scalar.is_null()).map_or("", Scalar::text)
}

/// Sets the text of a key, ignoring the case of letters; an empty text removes the key.
pub fn set_text<'a>(arena: Arena<'a>, mapping: &mut Mapping<'a>, name: &'static str, text: &str) {
    let key = written_key(mapping, name);
    if text.is_empty() {
        key.map(|key| mapping.remove(key));
        return;
    }
    match key.and_then(|key| mapping.get_mut(key)) {
        Some(node) if node.as_scalar().is_some_and(|old| old.text() == text) => {}
        Some(node) => node.set_text(arena.text(text), Tag::Str, Pos::NONE),
        None => drop(mapping.insert(Key::string(name), Node::string(arena.text(text)))),
    }
}

/// Sets a switch to true.
pub fn set_true(mapping: &mut Mapping<'_>, name: &'static str) {
    let is_set = |value: &Node<'_>| value.as_scalar().is_some_and(|s| s.text() == "true");
    if !mapping.iter().any(|entry| entry.key().text().eq_ignore_ascii_case(name) && is_set(entry.value())) {
        mapping.retain(|key, _| !key.text().eq_ignore_ascii_case(name));
        mapping.insert(Key::string(name), Scalar::plain("true").into());
    }
}
