//! [`Format`]: the notation in which an exec plugin reads and prints objects.

use super::Build;
use super::wire::{self, Ids};
use crate::diag::{Code, Error, Result};
use crate::resource::Resource;
use rustomize_yaml::{Arena, json};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// The notation in which an exec plugin reads its configuration and its resources, and prints
/// resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// YAML documents, as kustomize prints them.
    #[default]
    Yaml,
    /// JSON objects. The plugin gets each in a line of its own, and prints them in lines or not.
    /// Comments and the style of scalars are lost.
    Json,
}

impl Format {
    /// The format with a name, as authors write it.
    pub fn named(name: &str) -> Option<Format> {
        match name {
            "yaml" => Some(Format::Yaml),
            "json" => Some(Format::Json),
            _ => None,
        }
    }

    /// Prints a configuration object for a plugin, with its build annotations if it has any.
    ///
    /// # Errors
    /// The resource cannot be printed.
    pub fn print_config<'a>(self, arena: Arena<'a>, config: &Resource<'a>) -> Result<String> {
        match self {
            Format::Yaml => wire::print_config(arena, config),
            Format::Json => {
                let mut text = String::new();
                write_line(&mut text, &wire::annotated_config(arena, config)?);
                Ok(text)
            }
        }
    }

    /// Prints resources for a transformer, and frees each when it is printed. O(size).
    ///
    /// # Errors
    /// A resource cannot be printed.
    pub fn print<'a>(
        self,
        arena: Arena<'a>,
        resources: impl Iterator<Item = Resource<'a>>,
        ids: Ids,
    ) -> Result<String> {
        if self == Format::Yaml {
            return wire::print(arena, resources, ids);
        }
        let mut text = String::with_capacity(2 * arena.size());
        wire::annotate_each(resources, ids, &mut |resource| {
            write_line(&mut text, resource);
            Ok(())
        })?;
        Ok(text)
    }

    /// The objects that a validator printed, without those that it printed unchanged. JSON has less
    /// than YAML, so unchanged objects would read as changed. O(n log n).
    pub fn without_echo(self, input: &str, printed: Vec<u8>) -> Vec<u8> {
        if self == Format::Yaml {
            return printed;
        }
        let values = |text| serde_json::Deserializer::from_str(text).into_iter::<Value>();
        let known: BTreeSet<String> = values(input).filter_map(|value| Some(value.ok()?.to_string())).collect();
        let Ok(text) = str::from_utf8(&printed) else { return printed };
        let (mut rest, mut start) = (Vec::new(), 0);
        let mut read = values(text);
        while let Some(value) = read.next() {
            // A text that is not JSON is refused where it is read.
            let Ok(value) = value else { return printed };
            if !known.contains(&value.to_string()) {
                rest.extend_from_slice(&text.as_bytes()[start..read.byte_offset()]);
            }
            start = read.byte_offset();
        }
        rest
    }

    /// Makes resources of the output of a plugin. `name` is the name of the text in errors.
    ///
    /// # Errors
    /// The output is not valid UTF-8, or not in this notation, or a document is not a
    /// resource.
    pub fn parse<'a>(self, build: &mut Build<'a>, name: String, bytes: Vec<u8>) -> Result<Vec<Resource<'a>>> {
        if self == Format::Yaml {
            return wire::parse(build, name, bytes);
        }
        let fault = |message: String| Error::new(Code::BadOutput, message);
        let text = String::from_utf8(bytes)
            .map_err(|e| fault(format!("{name} is not valid UTF-8 at byte {}", e.utf8_error().valid_up_to())))?;
        let nodes = json::parse_all(build.arena, &text).map_err(|e| {
            fault(format!("{name} is not valid JSON: {e}"))
                .hint("the plugin's plugin.yaml or 'describe' says 'format: json': it prints JSON objects, no YAML")
        })?;
        wire::resources(build, nodes)
    }
}

fn write_line(out: &mut String, resource: &Resource<'_>) {
    json::write_exact(out, resource.node());
    out.push('\n');
}
