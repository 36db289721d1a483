//! [`Description`]: what a plugin says of itself when it is run with the argument `describe` (P46
//! to P50).

use crate::manager::id::version::{ApiVersion, HOST_API, Version};
use crate::plugin::PluginOptions;
use crate::plugin::isolation::{Isolation, Level};
use crate::plugin::permissions::Permissions;
use crate::plugin::program::Command;
use crate::process::{Call, Failed, Failure, Limits};
use crate::stage::Mode;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// How long a plugin may take to describe itself.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How much it may print.
const OUTPUT_LIMIT: u64 = 1 << 20;

/// What a plugin says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Description {
    pub version: String,
    pub sdk_version: String,
    pub api_version: String,
    pub generators: Vec<Component>,
    pub transformers: Vec<Component>,
    pub validators: Vec<Component>,
    /// How it speaks.
    pub protocol: Protocol,
    /// What it asks for.
    pub permissions: Permissions,
    /// Packer's words for generators and transformers.
    pub(in crate::manager) builders: Vec<Component>,
    pub(in crate::manager) provisioners: Vec<Component>,
    /// Transformers that run behind all others.
    pub(in crate::manager) post_processors: Vec<Component>,
}

/// How a plugin gets its input and gives its output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// As kustomize's exec plugins: a file with the configuration, resources on stdin and stdout.
    #[default]
    Exec,
    /// As KRM functions: a ResourceList on stdin and stdout.
    Krm,
    /// Through the functions of a shared object. Its directory says so by its runtime.
    #[serde(skip)]
    SharedObject,
}

/// One thing that a plugin does: a name, or with the kinds of configuration objects that ask for
/// it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Spelling")]
pub struct Component {
    pub name: String,
    #[serde(rename = "apiVersion")]
    pub api_version: String,
    pub kind: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Spelling {
    Name(String),
    Object {
        #[serde(default)]
        name: String,
        #[serde(rename = "apiVersion", default)]
        api_version: String,
        #[serde(default)]
        kind: String,
    },
}

impl From<Spelling> for Component {
    fn from(spelling: Spelling) -> Self {
        match spelling {
            Spelling::Name(name) => Component { name, ..Component::default() },
            Spelling::Object { name, api_version, kind } => Component { name, api_version, kind },
        }
    }
}

/// Where a component can stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Generator,
    Transformer,
    Validator,
}

impl From<Mode> for Role {
    fn from(mode: Mode) -> Role {
        match mode {
            Mode::Generate => Role::Generator,
            Mode::Transform => Role::Transformer,
            Mode::Validate => Role::Validator,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Generator => "generator",
            Role::Transformer => "transformer",
            Role::Validator => "validator",
        })
    }
}

/// Why a plugin is not what its file's name says.
#[derive(Debug)]
pub enum DescribeError {
    /// It did not get as far as to print.
    Failed(Failed),
    /// What it printed is no JSON object of this form, or more than one.
    Form(serde_json::Error),
    /// It says another version than its file.
    Version { file: Version, said: String },
    /// It says another API version than its file.
    ApiVersion { file: ApiVersion, said: String },
    /// It is for another host.
    Incompatible(ApiVersion),
}

impl fmt::Display for DescribeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DescribeError::Failed(failed) => match &failed.failure {
                Failure::NotStarted(e) => write!(f, "it cannot be started: {e}"),
                Failure::Status(status) | Failure::Ended(status) => write!(f, "'describe' failed: {status}"),
                Failure::TimedOut(t) => write!(f, "'describe' took longer than {} s", t.as_secs_f64()),
                Failure::TooMuchOutput(n) => write!(f, "'describe' printed more than {n} bytes"),
                Failure::Io(e) => write!(f, "'describe' failed: {e}"),
            },
            DescribeError::Form(e) => write!(f, "'describe' printed no description: {e}"),
            DescribeError::Version { file, said } => write!(f, "it says that it is version {said}, its file v{file}"),
            DescribeError::ApiVersion { file, said } => write!(f, "it says that it is for {said}, its file {file}"),
            DescribeError::Incompatible(api) => write!(f, "it is for {api}, this is {HOST_API}"),
        }
    }
}

impl Description {
    /// Asks a plugin, which may read itself and the system, write nothing, and has no network. It
    /// gets an environment and a home of its own.
    ///
    /// # Errors
    /// It does not answer, or with something else than one JSON object.
    pub fn ask(command: &Command, options: &PluginOptions) -> Result<Description, DescribeError> {
        let not_started = |e| DescribeError::Failed(Failed { failure: Failure::NotStarted(e), stderr: String::new() });
        let variables = options.isolation.variables.clone();
        let isolation = Isolation { level: Level::Auto, is_apart: true, variables, ..Isolation::default() };
        let mut args = command.args.clone();
        args.push("describe".into());
        let confined = options.confined(&isolation, &command.program, args, &command.files()).map_err(not_started)?;
        let call = Call {
            program: &confined.program,
            args: confined.args,
            directory: None,
            environment: command.variables().chain(confined.grants.environment.clone()).collect(),
            inherits: confined.grants.inherits,
            without: &[],
            stdin: None,
        };
        let limits = Limits { timeout: Some(TIMEOUT), output: OUTPUT_LIMIT, stderr: |_| {} };
        let printed = options.children.run(call, &limits).map_err(DescribeError::Failed)?;
        Description::parse(&printed).map_err(DescribeError::Form)
    }

    /// Reads one JSON object.
    ///
    /// # Errors
    /// It is something else, or more than that.
    pub fn parse(text: &[u8]) -> Result<Description, serde_json::Error> {
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(text)?;
        let description: Description = serde_json::from_value(object.into())?;
        match description.permissions.fault() {
            Some(fault) => Err(serde::de::Error::custom(fault)),
            None => Ok(description),
        }
    }

    /// Holds the description to what the file's name says (P48, P50, P55).
    ///
    /// # Errors
    /// They differ, or this program does not run such plugins.
    pub fn check(&self, version: &Version, api: ApiVersion) -> Result<(), DescribeError> {
        if self.version.parse::<Version>().ok().as_ref() != Some(version) {
            return Err(DescribeError::Version { file: version.clone(), said: self.version.clone() });
        }
        if self.api_version.parse::<ApiVersion>().ok() != Some(api) {
            return Err(DescribeError::ApiVersion { file: api, said: self.api_version.clone() });
        }
        if HOST_API.runs(api) { Ok(()) } else { Err(DescribeError::Incompatible(api)) }
    }

    /// Whether a component is a post-processor and nothing else: as a transformer it runs after all
    /// others.
    pub fn runs_last(&self, component: &Component) -> bool {
        let earlier = self.transformers.iter().chain(&self.provisioners).any(|other| other == component);
        !earlier && self.post_processors.contains(component)
    }

    /// What the plugin does, and where each of it can stand.
    pub fn components(&self) -> impl Iterator<Item = (Role, &Component)> {
        let lists = [
            (Role::Generator, &self.generators),
            (Role::Generator, &self.builders),
            (Role::Transformer, &self.transformers),
            (Role::Transformer, &self.provisioners),
            (Role::Transformer, &self.post_processors),
            (Role::Validator, &self.validators),
        ];
        lists.into_iter().flat_map(|(role, list)| list.iter().map(move |component| (role, component)))
    }
}

#[cfg(test)]
mod tests {
    use super::{DescribeError, Description, Role};

    fn parse(text: &str) -> Result<Description, serde_json::Error> {
        Description::parse(text.as_bytes())
    }

    #[test]
    fn components_are_names_or_objects_in_our_words_or_packers() {
        let text = r#"{"version": "1.0.1", "api_version": "x1.0", "sdk_version": "0.1.0", "unknown": 1,
            "generators": ["a", {"name": "b", "apiVersion": "ex.io/v1", "kind": "B"}],
            "builders": ["c"], "provisioners": ["d"], "post_processors": ["e"], "validators": ["f"], "datasources": ["g"]}"#;
        let description = parse(text).unwrap();
        let components: Vec<(Role, &str)> = description.components().map(|(role, c)| (role, c.name.as_str())).collect();
        let (generator, transformer) = (Role::Generator, Role::Transformer);
        let want = [
            (generator, "a"),
            (generator, "b"),
            (generator, "c"),
            (transformer, "d"),
            (transformer, "e"),
            (Role::Validator, "f"),
        ];
        assert_eq!(components, want);
        assert_eq!(description.generators[1].kind, "B");
        let up = r#"{"permissions": {"read": ["/etc/app/../shadow"]}}"#;
        assert!(parse(up).is_err() && parse(r#"{"permissions": {"all": true}}"#).is_err());
        assert!(parse(&format!("{text} trailing")).is_err() && parse("[]").is_err() && parse("").is_err());
    }

    #[test]
    fn a_description_is_held_to_the_file() {
        let description = parse(r#"{"version": "v1.0.2", "api_version": "x1.0"}"#).unwrap();
        let check = |version: &str, api: &str| description.check(&version.parse().unwrap(), api.parse().unwrap());
        assert!(check("1.0.2", "x1.0").is_ok());
        assert!(matches!(check("1.0.1", "x1.0"), Err(DescribeError::Version { .. })));
        assert!(matches!(check("1.0.2", "x1.1"), Err(DescribeError::ApiVersion { .. })));
        let newer = parse(r#"{"version": "1.0.2", "api_version": "x1.9"}"#).unwrap();
        let refused = newer.check(&"1.0.2".parse().unwrap(), "x1.9".parse().unwrap());
        assert!(matches!(refused, Err(DescribeError::Incompatible(_))));
    }
}
