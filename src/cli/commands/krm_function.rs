//! `krm-function`: a build as a KRM function. The function's configuration is a kustomization whose
//! first resources are the items of the ResourceList on stdin.

use crate::flags::build::BuildFlags;
use crate::messages::Messages;
use crate::request::BuildRequest;
use crate::{status_line, writer};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use rustomize_base::observe::Observer;
use rustomize_engine::load::{Loader, Memory, Overlay, kustomization_file};
use rustomize_engine::workspace::{self, Workspace};
use rustomize_sources::Disk;
use rustomize_yaml::json::{from_yaml_1_1, write};
use rustomize_yaml::{Heap, Node, emit, first_document};
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;

/// The file that holds the items, in the directory of the kustomization.
const ITEMS: &str = "krm-function-items.yaml";

/// `krm-function`.
#[derive(Args)]
#[command(long_about = ABOUT)]
pub(crate) struct KrmFunction {
    #[command(flatten)]
    pub build: BuildFlags,
}

const ABOUT: &str = "Build as a KRM function: reads a ResourceList on stdin, builds its functionConfig, which is of kind \
    Kustomization, with its items as the first resources, and prints a ResourceList. Files that the kustomization names \
    are looked for in DIR.";

/// Runs `krm-function`.
///
/// # Errors
/// stdin is not a ResourceList with a kustomization as its configuration, or the kustomization
/// cannot be built. Nothing is on stdout then.
pub(crate) fn run(args: KrmFunction, observer: Observer, messages: &mut Messages) -> Result<()> {
    let request = BuildRequest::new(args.build, observer)?;
    let directory = match request.directories.as_slice() {
        [] => ".",
        [directory] => directory,
        _ => bail!("'krm-function' takes one directory: that of the kustomization's files"),
    };
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read the ResourceList on stdin")?;
    let FunctionInput { kustomization, items } = FunctionInput::read(text)?;
    let disk = Disk::new();
    let place = disk.directory(Path::new(directory)).with_context(|| format!("'{directory}'"))?;
    // The function's kustomization hides one in the directory, under that one's name.
    let name = kustomization_file::name_in(&disk, &place).unwrap_or(kustomization_file::FILE_NAMES[0]);
    let files = Memory::from_iter([(place.join(name), kustomization), (place.join(ITEMS), items)]);
    let (workspace, loader) = (Workspace::new(), Overlay::new(disk, files));
    let built = workspace::build(&workspace, &loader, directory, &request.options(directory)?);
    status_line::end();
    for warning in built.warnings {
        messages.warning(&warning);
    }
    let output = built.value?;
    let mut list = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:".to_owned();
    list.push_str(if output.resources().len() == 0 { " []\n" } else { "\n" });
    for resource in output.resources() {
        for (i, line) in output.print_one(resource)?.split_inclusive('\n').enumerate() {
            list.push_str(match line {
                _ if i == 0 => "- ",
                "\n" => "",
                _ => "  ",
            });
            list.push_str(line);
        }
    }
    Ok(writer::data([list])?)
}

/// The content of a ResourceList.
struct FunctionInput {
    /// The kustomization, as JSON.
    kustomization: String,
    /// The resources, as documents.
    items: String,
}

impl FunctionInput {
    fn read(text: String) -> Result<FunctionInput> {
        let heap = Heap::new();
        let arena = heap.arena();
        let read =
            first_document(arena, arena.add_file("stdin", text.into())).map_err(|e| anyhow!("stdin: {}", e.message))?;
        let list = read.filter(|node| node.get_text("kind") == Some("ResourceList"));
        let list = list.context("stdin is not a ResourceList, the input of a KRM function")?;
        let config = list.get("functionConfig").filter(|config| config.get_text("kind") == Some("Kustomization"));
        let mut config = config.context("the functionConfig must be of kind Kustomization")?.clone();
        from_yaml_1_1(arena, &mut config);
        let mut json = String::new();
        write(&mut json, &config);
        let mut kustomization: Value = serde_json::from_str(&json)?;
        let mut items = String::new();
        for item in list.get("items").and_then(Node::as_sequence).into_iter().flatten() {
            items.push_str("---\n");
            emit::document(&mut items, item).map_err(|e| anyhow!("an item of the ResourceList: {}", e.message))?;
        }
        if !items.is_empty() {
            let resources = kustomization.as_object_mut().map(|fields| fields.entry("resources").or_insert(json!([])));
            match resources {
                Some(Value::Array(resources)) => resources.insert(0, json!(ITEMS)),
                _ => bail!("'resources' of the functionConfig must be a list"),
            }
        }
        Ok(FunctionInput { kustomization: kustomization.to_string(), items })
    }
}
