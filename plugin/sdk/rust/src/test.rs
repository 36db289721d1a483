//! For tests of plugins: calls through the structs and functions of the interface, with the
//! encoding that a build uses.

use crate::{Exported, Plugin};
use rustomize_plugin_abi::{Asked, Mode, guest};

/// Returns the resources that a plugin generates for a configuration, as YAML documents.
///
/// # Errors
/// The error of the plugin.
pub fn generate<P: Plugin>(config: &str) -> Result<String, String> {
    call::<P>(Mode::Generate, config, "")
}

/// Returns the resources after a transformer, as YAML documents.
///
/// # Errors
/// The error of the plugin.
pub fn transform<P: Plugin>(config: &str, resources: &str) -> Result<String, String> {
    call::<P>(Mode::Transform, config, resources)
}

/// Checks resources with a validator.
///
/// # Errors
/// The error of the plugin.
pub fn validate<P: Plugin>(config: &str, resources: &str) -> Result<(), String> {
    call::<P>(Mode::Validate, config, resources).map(drop)
}

/// Calls a plugin in the working directory.
fn call<P: Plugin>(mode: Mode, config: &str, resources: &str) -> Result<String, String> {
    let root = std::env::current_dir().map_err(|e| e.to_string())?;
    let asked = Asked { mode, config, root: &root.to_string_lossy(), resources, options: "{}" };
    guest::call::<Exported<P>>(&asked).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use crate::{Call, DynamicObject, JsonSchema, Plugin, Result, Role};
    use serde::Deserialize;

    /// A plugin that does what its configuration says.
    #[derive(Deserialize, JsonSchema)]
    struct Any {
        act: String,
    }

    impl Plugin for Any {
        const NAME: &'static str = "any";
        const VERSION: &'static str = "0.0.1";
        const API_VERSION: &'static str = "example.com/v1";
        const KIND: &'static str = "Any";
        const ROLES: &'static [Role] = &[Role::Transformer];

        fn transform(&self, call: &Call, resources: &mut Vec<DynamicObject>) -> Result<()> {
            match self.act.as_str() {
                "panic" => unreachable!("a fault of {}", resources.len()),
                "fail" => Err(std::io::Error::other("no such thing").into()),
                "root" => {
                    resources.retain(|_| !call.root().is_absolute() || call.is_unrestricted());
                    Ok(())
                }
                _ => Ok(()),
            }
        }
    }

    fn act(act: &str) -> std::result::Result<String, String> {
        super::transform::<Any>(&format!("act: {act}\n"), "apiVersion: v1\nkind: A\nmetadata: {name: a}\n")
    }

    #[test]
    fn faults_become_errors() {
        assert!(
            act("panic").unwrap_err().ends_with("it panicked: internal error: entered unreachable code: a fault of 1")
        );
        assert_eq!(act("fail").unwrap_err(), "no such thing");
        assert_eq!(act("nothing").unwrap(), "apiVersion: v1\nkind: A\nmetadata: {name: a}\n");
        assert_eq!(act("root").unwrap(), "");
        assert!(super::generate::<Any>("act: x\n").unwrap_err().contains("cannot do what the field"));
        assert!(super::transform::<Any>("{}", "").unwrap_err().contains("missing field `act`"));
        assert!(super::transform::<Any>("act: x\n", "- a\n").is_err());
    }
}
