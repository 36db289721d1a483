//! [`NeededPlugin`]: a plugin that another plugin needs, as the other plugin's directory names it.

use super::describe::Description;
use crate::id::content::MADE;
use rustomize_files::{Directory, RECORD};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The directory of all of them, in what is made of a plugin.
pub const SDK: &str = "sdk";

/// The file that says which one it is.
pub const CLIENT: &str = "plugin.json";

/// One plugin that another one needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeededPlugin {
    pub source: String,
    pub version: String,
    /// Where it is installed.
    pub path: PathBuf,
    /// The sum of its content.
    pub sum: String,
    /// How it is started: its program, and what comes before its own arguments.
    pub command: Vec<String>,
    /// How it speaks and what it does.
    pub description: Description,
}

/// The clients in a plugin's directory, and those of their plugins in turn; each once.
pub fn clients(directory: &Path) -> Vec<NeededPlugin> {
    let mut all: Vec<NeededPlugin> = Vec::new();
    let mut queue = vec![directory.to_owned()];
    while let Some(directory) = queue.pop() {
        let sdk = Directory::open(&directory).and_then(|held| held.below(&Path::new(MADE).join(SDK)));
        for (name, _) in sdk.as_ref().map_or(Vec::new(), |sdk| sdk.entries().unwrap_or_default()) {
            let file = Path::new(&name).join(CLIENT);
            let text = sdk.as_ref().map_or(Vec::new(), |sdk| sdk.read(&file, RECORD).unwrap_or_default());
            let Ok(client) = serde_json::from_slice::<NeededPlugin>(&text) else { continue };
            if !all.contains(&client) {
                queue.push(client.path.clone());
                all.push(client);
            }
        }
    }
    all
}
