//! The properties of a node: anchors, tags and merge keys.

use super::{Malformed, Package, Read, Reader, Written};
use crate::scalar::{self, Int, Kind};
use crate::{Entries, Items, Key, Mapping, Node, Pos, Scalar, Style, Tag, Value};
use rustomize_base::meter::FastMap;
use std::borrow::Cow;
use std::num::NonZeroU32;

/// The prefix of the tags that YAML defines, which `!!` stands for.
const CORE: &str = "tag:yaml.org,2002:";

/// The properties of the next node.
#[derive(Clone, Copy, Default)]
pub(super) struct Properties {
    pub anchor: Option<Anchor>,
    tag: Option<TagName>,
}

/// A tag as it was written, resolved. Names that are unknown to kustomize do not change the value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TagName {
    /// `!`, which has the same effect as a missing tag.
    NonSpecific,
    Known(Tag),
    Merge,
    Unknown,
}

impl Properties {
    /// Returns true if neither an anchor nor a tag is given.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.anchor.is_none() && self.tag.is_none()
    }

    /// These properties together with `other`; `None` if a node would have two anchors or tags.
    #[inline]
    pub(super) fn and(self, other: Self) -> Option<Self> {
        let is_twice = self.anchor.is_some() && other.anchor.is_some() || self.tag.is_some() && other.tag.is_some();
        (!is_twice).then_some(Properties { anchor: self.anchor.or(other.anchor), tag: self.tag.or(other.tag) })
    }
}

/// The number of an anchor, counted from 1.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Anchor(NonZeroU32);

impl Anchor {
    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// The anchors of a document.
pub(super) struct Anchors<'a> {
    numbers: FastMap<&'a str, Anchor>,
    /// The nodes by number; `None` while a node is not complete.
    nodes: Vec<Option<Node<'a>>>,
    /// The number of nodes that aliases may still add.
    budget: usize,
}

impl<'a> Anchors<'a> {
    /// An empty set of anchors; aliases may add this number of nodes.
    pub(super) fn new(budget: usize) -> Self {
        Anchors { numbers: FastMap::default(), nodes: Vec::new(), budget }
    }

    /// Makes a new anchor, to which the name refers from now on. A text has less than 2^32 of them.
    pub(super) fn reserve(&mut self, name: &'a str) -> Option<Anchor> {
        self.nodes.push(None);
        let anchor = u32::try_from(self.nodes.len()).ok().and_then(NonZeroU32::new).map(Anchor)?;
        self.numbers.insert(name, anchor);
        Some(anchor)
    }

    /// Sets the node of an anchor, which is complete.
    pub(super) fn set(&mut self, anchor: Anchor, node: &Node<'a>) {
        self.nodes[anchor.index()] = Some(node.clone());
    }
}

/// The handles that `%TAG` directives define, with their prefixes.
#[derive(Default)]
pub(super) struct TagHandles(Vec<(String, String)>);

impl<'a, const RARE: bool> Reader<'a, RARE> {
    /// Reads the anchor or tag at `at`.
    pub(super) fn property(&mut self, properties: &mut Properties) -> Read<()> {
        let start = self.at;
        let mut next = Properties::default();
        match self.bytes[start] {
            b'&' => {
                let name = self.anchor_name()?;
                next.anchor = self.anchors.reserve(name);
            }
            _ => match self.tag()? {
                Some(tag) => next.tag = Some(tag),
                None => return Err(self.error("found undefined tag handle", start)),
            },
        }
        match properties.and(next) {
            Some(both) => *properties = both,
            None => return Err(self.error("did not find expected node content", start)),
        }
        Ok(())
    }

    /// Reads the name after the `&` or `*` at `at`.
    pub(super) fn anchor_name(&mut self) -> Read<&'a str> {
        let start = self.at;
        self.at += 1;
        while self.byte().is_some_and(is_word) {
            self.at += 1;
        }
        let name = &self.text[start + 1..self.at];
        let is_ended = self.is_blank_or_end(self.at)
            || matches!(self.byte(), Some(b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`'));
        if name.is_empty() || !is_ended {
            return Err(self.error("did not find expected alphabetic or numeric character", start));
        }
        Ok(name)
    }

    /// Reads the alias at `at`. Returns a copy of its node.
    pub(super) fn alias(&mut self) -> Read<Node<'a>> {
        let start = self.at;
        let name = self.anchor_name()?;
        let Some(&anchor) = self.anchors.numbers.get(name) else {
            return Err(self.error(format!("unknown anchor '{name}' referenced"), start));
        };
        let Some(node) = &self.anchors.nodes[anchor.index()] else {
            return Err(self.error("an alias is inside the value that it names", start));
        };
        match self.anchors.budget.checked_sub(node.size()) {
            Some(left) => self.anchors.budget = left,
            None => {
                let most = super::MAX_ALIAS_NODES;
                return Err(self.error(format!("aliases add more than {most} nodes to this document"), start));
            }
        }
        Ok(node.clone())
    }

    /// Reads the tag at `at`; `None` if its handle is not defined.
    pub(super) fn tag(&mut self) -> Read<Option<TagName>> {
        let start = self.at;
        let rest = &self.bytes[start + 1..];
        let word = rest.iter().take_while(|&&b| is_word(b)).count();
        let prefix = |handles: &TagHandles, handle: &str, default| {
            let found = handles.0.iter().find(|(name, _)| name == handle);
            found.map_or(default, |(_, prefix)| Some(prefix.clone()))
        };
        let name = if rest.first() == Some(&b'<') {
            self.at += 2;
            let name = self.tag_uri(start)?;
            if name.is_empty() || self.byte() != Some(b'>') {
                return Err(self.error("did not find the expected '>'", start));
            }
            self.at += 1;
            Some(name)
        } else if rest.get(word) == Some(&b'!') {
            self.at += word + 2;
            let uri = self.tag_uri(start)?;
            if uri.is_empty() {
                return Err(self.error("did not find expected tag URI", start));
            }
            let core = (word == 0).then(|| CORE.to_owned());
            prefix(&self.handles, &self.text[start..start + word + 2], core).map(|prefix| prefix + &uri)
        } else {
            self.at += 1;
            let uri = self.tag_uri(start)?;
            prefix(&self.handles, "!", Some("!".to_owned())).map(|prefix| prefix + &uri)
        };
        if !self.is_blank_or_end(self.at) {
            return Err(self.error("did not find expected whitespace or line break", start));
        }
        Ok(name.map(|name| tag_name(&name)))
    }

    /// Reads the characters of an address at `at`, and resolves `%` escapes.
    fn tag_uri(&mut self, start: usize) -> Read<String> {
        let mut bytes = Vec::new();
        while let Some(b) = self.byte().filter(|&b| is_word(b) || b";/?:@&=+$,.!~*'()[]%".contains(&b)) {
            if b != b'%' {
                bytes.push(b);
                self.at += 1;
                continue;
            }
            let hex = self.text.get(self.at + 1..self.at + 3).filter(|h| h.bytes().all(|b| b.is_ascii_hexdigit()));
            match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
                Some(octet) => bytes.push(octet),
                None => return Err(self.error("did not find URI escaped octet", start)),
            }
            self.at += 3;
        }
        String::from_utf8(bytes).map_err(|_| self.error("found an incorrect leading UTF-8 octet", start))
    }

    /// Makes a scalar with its properties.
    #[inline]
    pub(super) fn scalar(&mut self, text: &'a str, style: Style, properties: Properties, pos: Pos) -> Read<Node<'a>> {
        let scalar = Scalar::new(text, style, Tag::Auto);
        if properties.is_empty() {
            return Ok(Node::new(scalar, pos));
        }
        self.scalar_with(scalar, properties, pos)
    }

    #[cold]
    fn scalar_with(&mut self, mut scalar: Scalar<'a>, properties: Properties, pos: Pos) -> Read<Node<'a>> {
        let is_v2 = self.package == Package::V2;
        match properties.tag {
            None | Some(TagName::Merge) => {}
            Some(TagName::NonSpecific) if !is_v2 => {}
            Some(TagName::Known(Tag::Binary)) if is_v2 => scalar = self.binary(scalar.text, pos)?,
            Some(TagName::Unknown) if is_v2 => scalar.tag = Tag::Custom,
            Some(TagName::NonSpecific | TagName::Known(Tag::Str)) if is_v2 => scalar.tag = Tag::Str,
            Some(TagName::Known(tag)) if is_v2 => scalar = self.decoded(scalar.text, tag, pos)?,
            Some(name) => {
                scalar.tag = if let TagName::Known(tag) = name { tag } else { Tag::Custom };
                scalar = scalar.tagged(true);
            }
        }
        let node = Node::new(scalar, pos);
        if let Some(anchor) = properties.anchor {
            self.anchors.set(anchor, &node);
        }
        Ok(node)
    }

    fn binary(&self, encoded: &str, pos: Pos) -> Read<Scalar<'a>> {
        match scalar::binary(encoded) {
            Some(text) => Ok(Scalar::string(self.texts.text(&text))),
            None => Err(Box::new(Malformed { message: scalar::NOT_BINARY.into(), pos })),
        }
    }

    /// The scalar that go-yaml v2 decodes from a text with a tag. The text must fit the tag.
    fn decoded(&self, text: &'a str, tag: Tag, pos: Pos) -> Read<Scalar<'a>> {
        let plain = |text, tag| Ok(Scalar::new(text, Style::Plain, tag));
        match (tag, scalar::resolve_v2(text)) {
            (Tag::Bool, Kind::Bool) => plain(if scalar::truth(text) { "true" } else { "false" }, tag),
            (Tag::Timestamp, Kind::Timestamp) => plain(text, Tag::Str),
            (Tag::Float, Kind::Int) if matches!(scalar::int(text), Some(Int::Signed(_))) => plain(text, tag),
            (_, kind) if Tag::from_kind(kind) == tag => plain(text, tag),
            (_, kind) => {
                let message = format!(
                    "cannot decode the value as {}, as its tag says: it is {}",
                    Kind::from_tag(tag).word(),
                    kind.word()
                );
                Err(Box::new(Malformed { message, pos }))
            }
        }
    }

    /// Checks that the value of a `<<` key can be merged: it is a mapping, or a list of mappings
    /// that is not an alias.
    pub(super) fn check_merge(&self, key: &Key<'a>, value: &Node<'a>, written: Written) -> Read<()> {
        if !is_merge(key) {
            return Ok(());
        }
        let is_fine = match &value.value {
            Value::Mapping(_) => true,
            Value::Sequence(items) => {
                written == Written::InPlace && items.iter().all(|item| item.as_mapping().is_some())
            }
            Value::Scalar(_) => false,
        };
        let message = "map merge requires map or sequence of maps as the value";
        if is_fine { Ok(()) } else { Err(Box::new(Malformed { message: message.into(), pos: value.pos() })) }
    }

    /// Resolves the `<<` keys among the entries of a mapping, as the package does that reads the
    /// text.
    pub(super) fn merged(&self, entries: Entries<'a>) -> Read<Mapping<'a>> {
        match self.package {
            Package::V3 | Package::V3Text | Package::V3Values => merged_under(entries),
            Package::V2 => Ok(merged_in_order(entries)),
        }
    }

    /// Reads the directives before a document. Returns true if there are any.
    pub(super) fn directives(&mut self) -> Read<bool> {
        let (mut is_explicit, mut has_version) = (false, false);
        while self.indent == super::END && self.byte() == Some(b'%') {
            self.directive(&mut has_version)?;
            self.next_line()?;
            is_explicit = true;
        }
        Ok(is_explicit)
    }

    /// Reads the directive at `at`, with its line.
    pub(super) fn directive(&mut self, has_version: &mut bool) -> Read<()> {
        let start = self.at;
        let line = &self.text[start..self.line_end(start)];
        let line = line.find([' ', '\t']).and_then(|_| line.split_once(" #")).map_or(line, |(line, _)| line);
        let words: Vec<&str> = line.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
        match words[..] {
            ["%YAML", "1.1"] if !*has_version => *has_version = true,
            ["%YAML", ..] if *has_version => return Err(self.error("found duplicate %YAML directive", start)),
            ["%YAML", ..] => return Err(self.error("found incompatible YAML document", start)),
            ["%TAG", handle, prefix] if is_handle(handle) => self.handles.add(handle, prefix),
            _ => return Err(self.error("found unknown directive name", start)),
        }
        self.skip_line();
        Ok(())
    }
}

impl TagHandles {
    fn add(&mut self, handle: &str, prefix: &str) {
        self.0.push((handle.to_owned(), prefix.to_owned()));
    }
}

/// Resolves the `<<` keys among the entries of a mapping, as go-yaml v3 does: its own keys win over
/// merged ones, and earlier sources win over later ones. kustomize drops the key `<<` in any style,
/// but only a plain one merges.
fn merged_under(entries: Entries<'_>) -> Read<Mapping<'_>> {
    let (merges, own): (Entries<'_>, Entries<'_>) = entries.into_iter().partition(|entry| entry.key.text == "<<");
    let mut mapping = Mapping::from_entries(own);
    let mut merges = merges.into_iter().filter(|entry| is_merge(&entry.key));
    let Some(first) = merges.next() else { return Ok(mapping) };
    if let Some(second) = merges.next() {
        return Err(Box::new(Malformed { message: "duplicate merge key".into(), pos: second.key.pos }));
    }
    for entry in sources(first.value).into_iter().flat_map(Mapping::into_entries) {
        if !mapping.contains(entry.key.text) {
            mapping.insert(entry.key, entry.value);
        }
    }
    Ok(mapping)
}

/// Resolves the `<<` keys as go-yaml v2 does, which sets one entry after the other: a merged key
/// replaces a key of the mapping before it.
fn merged_in_order(entries: Entries<'_>) -> Mapping<'_> {
    let mut mapping = Mapping::new();
    for entry in entries {
        if !(entry.key.text == "<<" && is_merge(&entry.key)) {
            mapping.insert(entry.key, entry.value);
            continue;
        }
        for source in sources(entry.value).into_iter().rev() {
            source.into_entries().into_iter().for_each(|e| drop(mapping.insert(e.key, e.value)));
        }
    }
    mapping
}

/// The mappings that a merge key names.
pub(crate) fn sources(node: Node<'_>) -> Vec<Mapping<'_>> {
    let items = match node.value {
        Value::Sequence(items) => items.into_items(),
        _ => Items::from_iter([node]),
    };
    items.into_iter().filter_map(|item| if let Value::Mapping(m) = item.value { Some(m) } else { None }).collect()
}

fn is_handle(text: &str) -> bool {
    let inner = text.strip_prefix('!').map(|rest| rest.strip_suffix('!').unwrap_or(rest));
    inner.is_some_and(|inner| inner.bytes().all(is_word)) && (text.len() == 1 || text.ends_with('!'))
}

fn is_merge(key: &Key<'_>) -> bool {
    key.style == Style::Plain && key.tag == Tag::Auto
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')
}

fn tag_name(name: &str) -> TagName {
    let short: Cow<'_, str> = match name.strip_prefix(CORE) {
        Some(rest) => rest.into(),
        None if name == "!" => return TagName::NonSpecific,
        None => match name.strip_prefix("!!") {
            Some(rest) => rest.into(),
            None => return TagName::Unknown,
        },
    };
    TagName::Known(match &*short {
        "str" => Tag::Str,
        "int" => Tag::Int,
        "float" => Tag::Float,
        "bool" => Tag::Bool,
        "null" => Tag::Null,
        "timestamp" => Tag::Timestamp,
        "binary" => Tag::Binary,
        "merge" => return TagName::Merge,
        _ => return TagName::Unknown,
    })
}
