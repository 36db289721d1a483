//! [`Container`]: a KRM function that is an image, and the arguments of the engine that runs it. No
//! other place makes them.

use super::options::FunctionOptions;
use crate::config::Decode;
use crate::load::{Root, clean};
use rustomize_sources::links;
use std::ffi::OsString;
use std::path::PathBuf;

/// The types of mounts that an object may ask for. With others an engine takes a source for a
/// pattern, or for the name of something else.
const KINDS: [&str; 4] = ["", "bind", "volume", "tmpfs"];

/// The fields of an annotation for a container.
#[derive(Debug, Default, Decode)]
pub struct Container<'a> {
    pub image: &'a str,
    network: bool,
    mounts: Vec<Mount<'a>>,
    envs: Vec<&'a str>,
}

#[derive(Clone, Debug, Default, Decode)]
struct Mount<'a> {
    #[field(name = "type")]
    kind: &'a str,
    #[field(name = "src")]
    source: &'a str,
    #[field(name = "dst")]
    target: &'a str,
    #[field(name = "rw")]
    writable: bool,
}

impl Container<'_> {
    /// The arguments of docker, podman or nerdctl, as kustomize gives them.
    ///
    /// # Errors
    /// The image or a mount is not valid, or the network is not allowed.
    pub fn arguments(&self, options: &FunctionOptions, root: &Root) -> Result<Vec<OsString>, String> {
        if self.image.starts_with('-') || self.image.contains(char::is_control) {
            return Err(format!("'{}' is not a valid image of a container", self.image.escape_debug()));
        }
        if self.network && !options.network {
            return Err("couldn't execute function: network required but not enabled with --network".to_owned());
        }
        let network = if self.network { "host" } else { "none" };
        let user = options.user.as_deref().unwrap_or("nobody");
        let mut args: Vec<OsString> =
            ["run", "--rm", "-i", "-a", "STDIN", "-a", "STDOUT", "-a", "STDERR", "--network", network]
                .into_iter()
                .chain(["--user", user, "--security-opt=no-new-privileges"])
                .map(OsString::from)
                .collect();
        for mount in &self.mounts {
            args.extend(["--mount".into(), mount.checked_argument(root)?]);
        }
        for mount in options.mounts.iter().map(|text| mount(text)) {
            args.extend(["--mount".into(), mount.argument(mount.place(root))?]);
        }
        let mut set: Vec<(&str, &str)> = Vec::new();
        let mut passed: Vec<&str> = Vec::new();
        let always = ["LOG_TO_STDERR=true", "STRUCTURED_RESULTS=true"];
        for item in self.envs.iter().copied().chain(always).chain(options.variables.iter().map(String::as_str)) {
            match item.split_once('=') {
                Some((name, value)) => {
                    set.retain(|(known, _)| *known != name);
                    set.push((name, value));
                }
                None if !passed.contains(&item) => passed.push(item),
                None => {}
            }
        }
        set.sort_unstable();
        args.extend(set.iter().flat_map(|(name, value)| ["-e".into(), format!("{name}={value}").into()]));
        args.extend(passed.iter().flat_map(|name| ["-e".into(), OsString::from(name)]));
        args.push(self.image.into());
        Ok(args)
    }
}

impl Mount<'_> {
    fn place(&self, root: &Root) -> PathBuf {
        match clean(self.source).as_str() {
            "." => root.real.to_path_buf(),
            cleaned => root.real.join(cleaned),
        }
    }

    /// The argument for a mount that an object asks for. Its source is in the root when links are
    /// followed.
    fn checked_argument(&self, root: &Root) -> Result<OsString, String> {
        if !KINDS.contains(&self.kind) {
            return Err(format!("'{}' is not a valid type of a mount: it is bind, volume or tmpfs", self.kind));
        }
        let place = links::real(&self.place(root));
        let place = place.filter(|place| !self.source.starts_with('/') && place.starts_with(&root.real));
        self.argument(place.ok_or_else(|| {
            format!(
                "source path '{}' of a mount is not permitted; mount paths must be under the current kustomization directory",
                self.source
            )
        })?)
    }

    /// The argument for a mount. Engines read it as fields between commas.
    fn argument(&self, place: PathBuf) -> Result<OsString, String> {
        let place = place.into_os_string().into_string();
        let place = place.map_err(|place| format!("source path '{}' of a mount is not UTF-8", place.display()))?;
        if let Some(field) = [self.kind, &place, self.target].into_iter().find(|field| field.contains(is_special)) {
            return Err(format!("a mount may not have a comma, a quote or a line break: '{}'", field.escape_debug()));
        }
        let readonly = if self.writable { "" } else { ",readonly" };
        Ok(format!("type={},source={place},target={}{readonly}", self.kind, self.target).into())
    }
}

fn is_special(c: char) -> bool {
    c == ',' || c == '"' || c.is_control()
}

/// A mount as `--mount` says it; words that it does not know do not count.
fn mount(text: &str) -> Mount<'_> {
    let mut mount = Mount::default();
    for (key, value) in text.split(',').filter_map(|part| part.split_once('=')) {
        match key {
            "type" => mount.kind = value,
            "src" | "source" => mount.source = value,
            "dst" | "target" => mount.target = value,
            "rw" => mount.writable = value == "true",
            _ => {}
        }
    }
    mount
}
