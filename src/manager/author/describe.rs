//! [`Description`]: what a plugin says of itself when it is run with the argument `describe`.

use super::rules::shape;
use super::schema::Schema;
use crate::id::version::{ApiVersion, HOST_API, Version};
use crate::stage::Mode;
use crate::stage::format::Format;
use rustomize_base::shown::{is_unseen, line};
use rustomize_plugins::PluginOptions;
use rustomize_plugins::isolation::Isolation;
use rustomize_plugins::permissions::Permissions;
use rustomize_process::{Failed, Failure, Launch, Limits};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use std::time::Duration;

/// How long a plugin may take to describe itself.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How much it may print.
const OUTPUT_LIMIT: u64 = 1 << 20;

/// The description of a plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Description {
    pub version: String,
    pub sdk_version: String,
    pub api_version: String,
    pub generators: Vec<Component>,
    pub transformers: Vec<Component>,
    pub validators: Vec<Component>,
    /// How it speaks.
    pub protocol: Protocol,
    /// The form in which it reads and prints objects.
    pub format: Format,
    /// True if it can be started once and called over frames, as an exec plugin.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub worker: bool,
    /// The permissions that it asks for.
    pub permissions: Permissions,
    /// Packer's words for generators and transformers.
    pub(crate) builders: Vec<Component>,
    pub(crate) provisioners: Vec<Component>,
    /// Transformers that run behind all others.
    pub(crate) post_processors: Vec<Component>,
    /// Packer's word for plugins that ask other systems for facts. A build asks none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub datasources: Vec<Component>,
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Component {
    pub name: String,
    #[serde(rename = "apiVersion")]
    pub api_version: String,
    pub kind: String,
    /// Its purpose, in one sentence.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// The schema of its configuration objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Schema>,
    /// The file that is the plugin for it, in the directory of a bundle; empty for what the whole
    /// plugin does.
    #[serde(skip)]
    pub entry: String,
}

impl Component {
    /// Its kind with the apiVersion, or its name if it has no kind.
    pub fn title(&self) -> String {
        match self.kind.as_str() {
            "" => self.name.clone(),
            kind => format!("{}/{kind}", self.api_version),
        }
    }

    /// The fault of a component, in words, if an object cannot ask for it, or no file can have the
    /// path of its kind below kustomize's directory of plugins.
    pub(crate) fn fault(&self) -> Option<String> {
        let Component { name, api_version, kind, .. } = self;
        if let Some(text) = [name, api_version, kind].into_iter().find(|text| text.contains(is_unseen)) {
            return Some(format!("'{}' has characters that cannot be seen", line(text)));
        }
        let is_part = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\\');
        let is_path = api_version.split('/').all(is_part) && !kind.contains('/') && is_part(kind);
        if !api_version.is_empty() && !kind.is_empty() && !is_path {
            return Some(format!("the kind '{kind}' of '{api_version}' is not a valid file name"));
        }
        match (name.is_empty(), api_version.is_empty(), kind.is_empty()) {
            (true, true, true) => Some("it has neither a name nor a kind".to_owned()),
            (_, true, false) => Some(format!("it has the kind '{kind}' and no apiVersion")),
            (_, false, true) => Some(format!("it has the apiVersion '{api_version}' and no kind")),
            _ => None,
        }
    }
}

/// The field of a kustomization that can list a component. The SDK for Rust has the same three
/// words as `rustomize_plugin::Role`: it is a crate of its own, so that a plugin does not depend on
/// this one. The variable RUSTOMIZE_PLUGIN_ROLE carries the word from this program to the SDK.
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
    /// The plugin failed before it printed.
    Failed(Failed),
    /// The output is not one JSON object of this form.
    Form(serde_json::Error),
    /// It says another version than its file.
    Version { file: Version, said: String },
    /// It says another API version than its file.
    ApiVersion { file: ApiVersion, said: String },
    /// It is for another host.
    Incompatible(ApiVersion),
}

impl DescribeError {
    /// Returns true if the content of the plugin is the reason, so that asking it again comes to
    /// the same: not if the machine lacks something, or the program was ended from outside.
    pub fn is_of_content(&self) -> bool {
        match self {
            DescribeError::Failed(failed) => {
                matches!(failed.failure, Failure::Status(_) | Failure::TimedOut(_) | Failure::TooMuchOutput(_))
            }
            DescribeError::Form(_) => true,
            DescribeError::Version { .. } | DescribeError::ApiVersion { .. } | DescribeError::Incompatible(_) => false,
        }
    }
}

impl fmt::Display for DescribeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DescribeError::Failed(failed) => match &failed.failure {
                Failure::NotStarted(e) => write!(f, "it cannot be started: {e}"),
                Failure::Status(status) | Failure::Ended(status) => match last_line(&failed.stderr) {
                    None => write!(f, "'describe' failed: {status}"),
                    Some(line) => write!(f, "'describe' failed: {status}: {line}"),
                },
                Failure::TimedOut(t) => write!(f, "'describe' took longer than {} s", t.as_secs_f64()),
                Failure::TooMuchOutput(n) => write!(f, "'describe' printed more than {n} bytes"),
                Failure::Io(e) => write!(f, "'describe' failed: {e}"),
            },
            DescribeError::Form(e) => write!(f, "'describe' printed no description: {e}"),
            DescribeError::Version { file, said } if said.is_empty() => {
                write!(f, "'describe' says no version, its file says v{file}")
            }
            DescribeError::ApiVersion { file, said } if said.is_empty() => {
                write!(f, "'describe' says no api_version, its file says {file}")
            }
            DescribeError::Version { file, said } => write!(f, "it says that it is version {said}, its file v{file}"),
            DescribeError::ApiVersion { file, said } => write!(f, "it says that it is for {said}, its file {file}"),
            DescribeError::Incompatible(api) => write!(f, "it is for {api}, this is {HOST_API}"),
        }
    }
}

/// The last line that a program has printed on stderr, which is the reason of many failures.
fn last_line(stderr: &str) -> Option<&str> {
    stderr.lines().map(str::trim).rfind(|line| !line.is_empty())
}

impl Description {
    /// Asks a plugin for its description. The plugin can read itself and the system; it can write
    /// nothing and use no network. It gets an environment and a home of its own.
    ///
    /// # Errors
    /// The plugin does not answer, or its answer is not a JSON object.
    pub fn ask(mut launch: Launch, options: &PluginOptions) -> Result<Description, DescribeError> {
        let not_started = |e| DescribeError::Failed(Failed::not_started(e));
        let variables = options.isolation.variables.clone();
        let level = options.isolation.installed.at_least_auto();
        let isolation = Isolation { level, is_apart: true, variables, ..Isolation::default() };
        // It may read the plugins that it calls, and calls none of them.
        let called = std::mem::take(&mut launch.calls);
        let launch = launch.args(["describe"]).reading(called);
        let launch = options.confined(launch, &isolation).map_err(not_started)?;
        let limits = Limits { timeout: Some(TIMEOUT), output: OUTPUT_LIMIT, ..Limits::default() };
        let printed = options.children.run(launch.limited(limits)).map_err(DescribeError::Failed)?;
        Description::parse(&printed).map_err(DescribeError::Form)
    }

    /// Reads one JSON object.
    ///
    /// # Errors
    /// It is something else, or more than that, or a field has another form; which field, and where
    /// a schema is not valid.
    pub fn parse(text: &[u8]) -> Result<Description, serde_json::Error> {
        serde_json::from_slice(text)
    }

    fn of(mut object: Map<String, Value>) -> Result<Description, String> {
        let mut fields = Fields { place: String::new(), object: &mut object };
        let description = Description {
            version: fields.text("version")?,
            sdk_version: fields.text("sdk_version")?,
            api_version: fields.text("api_version")?,
            generators: fields.components("generators")?,
            transformers: fields.components("transformers")?,
            validators: fields.components("validators")?,
            protocol: fields.word("protocol", "exec or krm")?,
            format: fields.word("format", "yaml or json")?,
            worker: fields.word("worker", "true or false")?,
            permissions: match fields.take("permissions") {
                None => Permissions::default(),
                Some(value) => Permissions::deserialize(value).map_err(|e| format!("permissions: {}", short(&e)))?,
            },
            builders: fields.components("builders")?,
            provisioners: fields.components("provisioners")?,
            post_processors: fields.components("post_processors")?,
            datasources: fields.components("datasources")?,
        };
        description.permissions.fault().map_or(Ok(description), Err)
    }

    /// Holds the description to what the file's name says.
    ///
    /// # Errors
    /// The two differ, or this program does not run plugins of that version.
    pub fn check(&self, version: &Version, api: ApiVersion) -> Result<(), DescribeError> {
        if self.version.parse::<Version>().ok().as_ref() != Some(version) {
            return Err(DescribeError::Version { file: version.clone(), said: self.version.clone() });
        }
        if self.api_version.parse::<ApiVersion>().ok() != Some(api) {
            return Err(DescribeError::ApiVersion { file: api, said: self.api_version.clone() });
        }
        if HOST_API.runs(api) { Ok(()) } else { Err(DescribeError::Incompatible(api)) }
    }

    /// Returns true if a component is only a post-processor: as a transformer it runs after all
    /// others.
    pub fn runs_last(&self, component: &Component) -> bool {
        let earlier = self.transformers.iter().chain(&self.provisioners).any(|other| other == component);
        !earlier && self.post_processors.contains(component)
    }

    /// What the plugin does and no build uses, in words.
    pub fn left_out(&self) -> Option<String> {
        let names: Vec<String> = self.datasources.iter().map(Component::title).collect();
        (!names.is_empty()).then(|| format!("no build asks its data sources, which are left out: {}", names.join(", ")))
    }

    /// The components of the plugin, each with its role.
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

impl<'de> Deserialize<'de> for Description {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Description::of(Map::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// The fields of an object that a plugin has printed. Fields that are not known are from newer
/// plugins, and null is as good as no field.
struct Fields<'f> {
    /// Where the object is, followed by a dot; empty for the whole.
    place: String,
    object: &'f mut Map<String, Value>,
}

impl Fields<'_> {
    fn take(&mut self, name: &str) -> Option<Value> {
        self.object.remove(name).filter(|value| !value.is_null())
    }

    fn wrong<T>(&self, name: &str, wanted: &str, found: &Value) -> Result<T, String> {
        Err(format!("{}{name}: expected {wanted}, found {}", self.place, shape(found)))
    }

    fn text(&mut self, name: &str) -> Result<String, String> {
        match self.take(name) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text),
            Some(other) => self.wrong(name, "a string", &other),
        }
    }

    fn word<T: Default + for<'de> Deserialize<'de>>(&mut self, name: &str, wanted: &str) -> Result<T, String> {
        let Some(value) = self.take(name) else { return Ok(T::default()) };
        T::deserialize(&value).or_else(|_| self.wrong(name, wanted, &value))
    }

    fn components(&mut self, name: &str) -> Result<Vec<Component>, String> {
        let all = match self.take(name) {
            None => return Ok(Vec::new()),
            Some(Value::Array(all)) => all,
            Some(other) => return self.wrong(name, "a list", &other),
        };
        let one = |(at, value): (usize, Value)| component(format!("{}{name}[{at}]", self.place), value);
        all.into_iter().enumerate().map(one).collect()
    }
}

fn component(place: String, value: Value) -> Result<Component, String> {
    let component = match value {
        Value::String(name) => Component { name, ..Component::default() },
        Value::Object(mut object) => {
            let mut fields = Fields { place: format!("{place}."), object: &mut object };
            Component {
                name: fields.text("name")?,
                api_version: fields.text("apiVersion")?,
                kind: fields.text("kind")?,
                summary: fields.text("summary")?,
                schema: fields.take("schema").map(Schema::compile).transpose().map_err(|e| format!("{place}: {e}"))?,
                entry: String::new(),
            }
        }
        other => return Err(format!("{place}: expected a name or an object, found {}", shape(&other))),
    };
    component.fault().map_or(Ok(component), |fault| Err(format!("{place}: {fault}")))
}

/// The message of serde about a value, without a long value.
fn short(error: &serde_json::Error) -> String {
    const MOST: usize = 200;
    let text = error.to_string();
    if text.chars().count() > MOST { text.chars().take(MOST).chain("...".chars()).collect() } else { text }
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
