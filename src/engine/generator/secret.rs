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

use super::config_map::{base64_node, check_name, entry};
use super::key_values::{self, Pair};
use super::{args_of, env_lines, merged_options, object};
use crate::config::kustomization::{GeneratorArgs, GeneratorOptions};
use crate::diag::Result;
use crate::load::Root;
use crate::resource::Resource;
use crate::stage::{Build, Generator, Object};
use rustomize_yaml::{Arena, Mapping, Node};
use std::borrow::Cow;

/// One entry of `secretGenerator`.
pub struct SecretGenerator<'t, 'a> {
    pub args: Cow<'t, GeneratorArgs<'a>>,
    /// `generatorOptions` of the same kustomization.
    pub shared: Option<&'t GeneratorOptions<'a>>,
    pub root: &'t Root,
}

impl<'t, 'a> SecretGenerator<'t, 'a> {
    /// The generator of a configuration object that the kustomization of a root lists.
    ///
    /// # Errors
    /// A field has a wrong type.
    pub fn from_object(object: &Object<'_, 'a>, root: &'t Root) -> Result<Self> {
        Ok(SecretGenerator { args: Cow::Owned(args_of(object)?), shared: None, root })
    }

    /// The Secret of an entry without files, which can be made on any thread; `None` for another
    /// entry.
    pub fn of_literals(
        arena: Arena<'a>,
        args: &GeneratorArgs<'a>,
        shared: Option<&GeneratorOptions<'a>>,
    ) -> Option<Result<Vec<Resource<'a>>>> {
        let pairs = key_values::of_literals(args)?;
        Some(check_name(args).and(pairs).and_then(|pairs| Self::of_pairs(arena, args, shared, &pairs)))
    }

    fn of_pairs(
        arena: Arena<'a>,
        args: &GeneratorArgs<'a>,
        shared: Option<&GeneratorOptions<'a>>,
        pairs: &[Pair<'a>],
    ) -> Result<Vec<Resource<'a>>> {
        let encoded = |pair: &Pair<'a>| {
            arena.check()?;
            Ok(entry(pair, base64_node(arena, &pair.value)))
        };
        let data = pairs.iter().map(encoded).collect::<Result<_>>()?;
        let secret_type = if args.secret_type.is_empty() { "Opaque" } else { args.secret_type };
        let fields = [("type", Node::string(secret_type)), ("data", Mapping::from_entries(data).into())];
        let options = merged_options(arena, args, shared)?;
        Ok(vec![object("Secret", args, &options, fields)])
    }
}

impl<'a> Generator<'a> for SecretGenerator<'_, 'a> {
    fn generate(&self, build: &mut Build<'a>) -> Result<Vec<Resource<'a>>> {
        check_name(&self.args)?;
        let pairs = key_values::load(build, self.root, &self.args)?;
        env_lines::find_in_secret(build, self.root, &self.args);
        env_lines::find_conflicts(build, self.root, &self.args, &pairs);
        Self::of_pairs(build.arena, &self.args, self.shared, &pairs)
    }

    fn only_reads_files(&self) -> bool {
        key_values::are_local(&self.args)
    }
}
