//! The values of a chart: `valuesInline` and the values file, merged.
//!
//! kustomize merges the two as it merges a patch into a resource ([`merge::values`]), and before it
//! decodes them. So a null in the file that wins, `$patch` and lists of a known kind count as they
//! do in patches, a mapping and a text cannot be merged, and an alias that is the value of a key is
//! neither a mapping nor a text: kustomize drops the key, and refuses values that would be merged
//! with the alias. An alias in a list stays an alias.

use crate::config::helm::HelmChart;
use crate::config::{Described, Shape};
use crate::diag::{Code, Error, Result};
use crate::merge;
use crate::schema::Schemas;
use rustomize_yaml::scalar::{self, Kind};
use rustomize_yaml::values::{is_alias, resolve_merges, update_aliases};
use rustomize_yaml::{
    Arena, Entry, Key, Mapping, Node, Source, Style, Tag, ValueMut, emit, json, reprint, values_document,
};

/// The values of a chart with `valuesInline`, as the text of a file. `file` reads the values file,
/// unless `valuesMerge` is `replace`. O(size of both).
///
/// # Errors
/// The file cannot be read, or the two cannot be merged.
pub fn merged<'a>(
    arena: Arena<'a>,
    chart: &HelmChart<'a>,
    inline: &Mapping<'a>,
    schemas: &Schemas<'a>,
    file: impl FnOnce() -> Result<&'a Source>,
) -> Result<String> {
    let mut inline: Node<'a> = inline.clone().into();
    let has_unreadable = reprint::through_json(arena, &mut inline)?;
    write_keys(&mut inline);
    write_texts_of_fields(arena, &mut inline);
    let mut values = if chart.values_merge == "replace" {
        inline
    } else {
        if has_unreadable {
            reprint::check_dumped(&inline)?;
        }
        // kustomize fails at a file without a document.
        let file = values_document(arena, file()?)?.unwrap_or_else(|| Mapping::new().into());
        match chart.values_merge {
            "merge" => file_over(inline, file, schemas)?,
            _ => inline_over(file, inline, schemas)?,
        }
    };
    if let Some(top) = values.as_mapping_mut() {
        // A null key at the top is passed over where kustomize decodes the values.
        top.retain(|key, _| !merge::is_null(key));
    }
    resolve_merges(&mut values)?;
    unquote_typed(&mut values);
    reprint::through_map(arena, &mut values)?;
    let mut text = String::new();
    emit::document(&mut text, &values).map_err(|e| Error::new(Code::NotYaml, e.message))?;
    Ok(text)
}

/// Writes keys as a fresh dump does: all keys of JSON are strings. The style of a key remains where
/// a merge adds the key, and its tag does not.
fn write_keys<'a>(node: &mut Node<'a>) {
    match node.value_mut() {
        ValueMut::Scalar(_) => {}
        ValueMut::Sequence(items) => items.iter_mut().for_each(write_keys),
        ValueMut::Mapping(m) => {
            let written = |entry: Entry<'a>| {
                let (key, mut value) = entry.into_parts();
                write_keys(&mut value);
                let style = json::fresh_string(key.text()).style();
                Entry::new(Key::new(key.text(), style, Tag::Str, key.pos()), value)
            };
            let entries = m.take_entries().into_iter().map(written).collect();
            m.set_entries(entries);
        }
    }
}

/// Makes texts of numbers and booleans at the top, where the key is that of a field of the chart
/// that holds a text, such as `version`: the reader of the chart takes it for that field.
fn write_texts_of_fields<'a>(arena: Arena<'a>, inline: &mut Node<'a>) {
    let fields = HelmChart::SHAPE.record().map_or(&[][..], |chart| chart.fields);
    for (key, value) in inline.as_mapping_mut().into_iter().flat_map(Mapping::iter_mut) {
        if let Some(field) = fields.iter().find(|field| field.name.eq_ignore_ascii_case(key.text())) {
            write_text(arena, value, &field.shape);
        }
    }
}

/// Makes a text of a number or boolean where the shape is that of a text.
fn write_text<'a>(arena: Arena<'a>, value: &mut Node<'a>, shape: &Shape) {
    match (shape, value.value_mut()) {
        (Shape::List(item), ValueMut::Sequence(items)) => {
            items.iter_mut().for_each(|node| write_text(arena, node, item))
        }
        (Shape::Text, ValueMut::Scalar(s)) => {
            let text = match s.kind() {
                Kind::Bool | Kind::Int => s.text(),
                Kind::Float => {
                    let number = scalar::float(s.text()).map(|f| (scalar::json_number(f), f));
                    let is_int = |json: &str| scalar::int(json).is_some();
                    let text = number.map(|(json, f)| if is_int(&json) { json } else { scalar::go_string_32(f) });
                    text.map_or(s.text(), |text| arena.text(&text))
                }
                _ => return,
            };
            *value = Node::new(json::fresh_string(text), value.pos());
        }
        _ => {}
    }
}

/// Makes numbers, booleans and nulls plain. A scalar of one place keeps the style of the other
/// place, and kustomize decodes it by its type.
fn unquote_typed(node: &mut Node<'_>) {
    match node.value_mut() {
        ValueMut::Scalar(s) => {
            if matches!(s.tag(), Tag::Int | Tag::Float | Tag::Bool | Tag::Null | Tag::Timestamp) {
                node.restyle(Style::Plain);
            }
        }
        ValueMut::Sequence(items) => items.iter_mut().for_each(unquote_typed),
        ValueMut::Mapping(m) => m.iter_mut().for_each(|(_, value)| unquote_typed(value)),
    }
}

/// `valuesInline` over the file.
fn inline_over<'a>(mut file: Node<'a>, mut inline: Node<'a>, schemas: &Schemas<'_>) -> Result<Node<'a>> {
    if let (Some(file), Some(inline)) = (file.as_mapping_mut(), inline.as_mapping_mut()) {
        drop_overridden_aliases(file, Some(inline));
    }
    let values = merge::values(file, &mut inline, schemas)?;
    Ok(values.unwrap_or_else(|| Mapping::new().into()))
}

/// The file over `valuesInline`.
fn file_over<'a>(mut inline: Node<'a>, mut file: Node<'a>, schemas: &Schemas<'_>) -> Result<Node<'a>> {
    if let (Some(inline), Some(file)) = (inline.as_mapping_mut(), file.as_mapping_mut()) {
        drop_overriding_aliases(file, Some(inline))?;
    }
    let values = merge::values(inline, &mut file, schemas)?;
    let mut values = values.unwrap_or_else(|| Mapping::new().into());
    update_aliases(&mut values, &file);
    Ok(values)
}

/// Returns true if a mapping has a `$patch` with one of these texts.
fn says(mapping: &Mapping<'_>, directives: &[&str]) -> bool {
    mapping.get("$patch").is_some_and(|value| directives.contains(&value.scalar_text()))
}

/// The keys whose value is an alias, if the key is the first of its name.
fn aliased<'a>(mapping: &Mapping<'a>) -> Vec<&'a str> {
    let mut last = None;
    let is_first = |name: &'a str| last.replace(name) != Some(name);
    let firsts = mapping.iter().map(|entry| (entry.key().text(), entry)).scan(is_first, |is_first, (name, entry)| {
        Some((is_first(name) && is_alias(entry.key(), entry.value())).then_some(name))
    });
    firsts.flatten().collect()
}

/// Drops the keys of the file whose values are aliases, also from `valuesInline`, which is merged
/// over it.
fn drop_overridden_aliases<'a>(file: &mut Mapping<'a>, mut inline: Option<&mut Mapping<'a>>) {
    if inline.as_ref().is_some_and(|inline| says(inline, &["replace", "delete"])) {
        return;
    }
    for name in aliased(file) {
        file.remove(name);
        if let Some(inline) = &mut inline {
            inline.remove(name);
        }
    }
    for (key, value) in file.iter_mut() {
        let Some(below) = value.as_mapping_mut() else { continue };
        let over = inline.as_mut().and_then(|inline| inline.get_mut(key.text()));
        match over.map(Node::value_mut) {
            None => drop_overridden_aliases(below, None),
            Some(ValueMut::Mapping(over)) => drop_overridden_aliases(below, Some(over)),
            Some(_) => {}
        }
    }
}

/// Drops the keys of the file whose values are aliases. The file is merged over `valuesInline`.
///
/// # Errors
/// `valuesInline` has a value for such a key.
fn drop_overriding_aliases<'a>(file: &mut Mapping<'a>, mut inline: Option<&mut Mapping<'a>>) -> Result<()> {
    if says(file, &["delete"]) {
        return Ok(());
    }
    if says(file, &["replace"]) {
        inline = None;
    }
    for name in aliased(file) {
        if let Some(inline) = &mut inline
            && let Some(under) = inline.remove(name)
            && !under.is_null()
        {
            let message =
                format!("could not merge values: wrong node kind: an alias cannot override {}", under.shape());
            let key = file.iter().find(|entry| entry.key().text() == name).map(|entry| entry.key().pos());
            let error = Error::new(Code::WrongType, message).in_field(name).hint(merge::NOT_MERGED);
            return Err(key.map_or(error.clone(), |pos| error.at(pos)));
        }
        file.remove(name);
    }
    for (key, value) in file.iter_mut() {
        let Some(over) = value.as_mapping_mut() else { continue };
        let below = inline.as_mut().and_then(|inline| inline.get_mut(key.text()));
        match below.map(|below| (below.is_null(), below.value_mut())) {
            None | Some((true, _)) => drop_overriding_aliases(over, None)?,
            Some((_, ValueMut::Mapping(below))) => {
                drop_overriding_aliases(over, Some(below)).map_err(|e| e.in_field(key.text()))?;
            }
            Some(_) => {}
        }
    }
    Ok(())
}
