//! IAMPolicyGenerator: makes a ServiceAccount that is bound to an account of a cloud.
//!
//! *Kinds*: `IAMPolicyGenerator`, with the fields below.
//! *Entry*: `IamPolicyGenerator`, `NamedService`, `CloudAccount`.
//! *Writes*: a v1 ServiceAccount with the annotation that names the account.
//! *Order*: among `generators`.
//! *Cost*: O(1).
//! *Quirks*: the only cloud is `gke`; the name gets no hash.
//! *Example*: `testdata/reference/iam_policy.txtar`

use crate::config::{Decode, Described};
use crate::diag::{Code, Error, Result};
use crate::resource::Resource;
use crate::stage::{Build, Generator};
use rustomize_yaml::{Mapping, Node, Pos};

/// A configuration object of this kind.
#[derive(Debug, Default, Decode, Described)]
pub struct IamPolicyGenerator<'a> {
    /// The cloud: `gke`.
    pub cloud: &'a str,
    /// The ServiceAccount to make.
    pub kubernetes_service: NamedService<'a>,
    /// The account of the cloud.
    pub service_account: CloudAccount<'a>,
    pub pos: Pos,
}

/// Name and namespace.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct NamedService<'a> {
    /// The name.
    pub name: &'a str,
    /// The namespace.
    pub namespace: &'a str,
}

/// Name and project.
#[derive(Clone, Debug, Default, Decode, Described)]
pub struct CloudAccount<'a> {
    /// The name.
    pub name: &'a str,
    /// The project.
    pub project_id: &'a str,
}

impl<'a> Generator<'a> for IamPolicyGenerator<'a> {
    fn generate(&self, build: &mut Build<'a>) -> Result<Vec<Resource<'a>>> {
        let arena = build.arena;
        if self.cloud != "gke" {
            let error = Error::new(Code::BadValue, format!("cloud provider {} not supported yet", self.cloud));
            return Err(error.at(self.pos).hint("the only one is 'gke'"));
        }
        let account = &self.service_account;
        let bound = [account.name, "@", account.project_id, ".iam.gserviceaccount.com"];
        let mut annotations = Mapping::new();
        annotations.insert("iam.gke.io/gcp-service-account", Node::string(arena.concat(&bound)));
        let mut metadata = Mapping::new();
        metadata.insert("annotations", annotations.into());
        metadata.insert("name", Node::string(self.kubernetes_service.name));
        if !self.kubernetes_service.namespace.is_empty() {
            metadata.insert("namespace", Node::string(self.kubernetes_service.namespace));
        }
        let mut root = Mapping::new();
        root.insert("apiVersion", Node::string("v1"));
        root.insert("kind", Node::string("ServiceAccount"));
        root.insert("metadata", metadata.into());
        Ok(vec![Resource::unchecked(Node::new(root, self.pos))])
    }
}
