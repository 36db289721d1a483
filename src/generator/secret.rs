//! SecretGenerator: makes a Secret from literals, files and env files.
//!
//! *Fields*: `secretGenerator`.
//! *Kinds*: `SecretGenerator`, with the fields of an entry, `type` among them: see
//! ConfigMapGenerator.
//! *Reads*: the files of `files` and `envs`.
//! *Writes*: `type`, `Opaque` if none is given, and `data` with every value in base64.
//! *Order*: after ConfigMapGenerator, before helm charts.
//! *Cost*: O(bytes of the sources).
//! *Example*: `testdata/reference/secret.txtar`

use super::config_map::{base64_node, check_name, key};
use super::{env_lines, key_values, merged_options, object};
use crate::config::kustomization::{GeneratorArgs, GeneratorOptions};
use crate::diag::Result;
use crate::load::Root;
use crate::resource::Resource;
use crate::stage::{Build, Generator};
use crate::yaml::{Entry, Mapping, Node};
use std::borrow::Cow;

/// One entry of `secretGenerator`.
pub struct SecretGenerator<'t, 'a> {
    pub args: Cow<'t, GeneratorArgs<'a>>,
    /// `generatorOptions` of the same kustomization.
    pub shared: Option<&'t GeneratorOptions<'a>>,
    pub root: &'t Root,
}

impl<'a> Generator<'a> for SecretGenerator<'_, 'a> {
    fn generate(&self, build: &mut Build<'a>) -> Result<Vec<Resource<'a>>> {
        let arena = build.arena;
        check_name(&self.args)?;
        let entry = |pair: &key_values::Pair<'a>| Entry::new(key(pair), base64_node(arena, &pair.value));
        let data = key_values::load(build, self.root, &self.args)?.iter().map(entry).collect();
        env_lines::find_in_secret(build, self.root, &self.args);
        let secret_type = if self.args.secret_type.is_empty() { "Opaque" } else { self.args.secret_type };
        let fields = [("type", Node::string(secret_type)), ("data", Mapping::from_entries(data).into())];
        let options = merged_options(arena, &self.args, self.shared)?;
        Ok(vec![object("Secret", &self.args, &options, fields)])
    }

    fn only_reads_files(&self) -> bool {
        key_values::are_local(&self.args)
    }
}
