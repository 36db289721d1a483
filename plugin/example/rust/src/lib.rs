//! Says on every resource which team it belongs to; as a generator, makes a ConfigMap with the
//! team's address; as a validator, refuses resources of other teams.

#![forbid(unsafe_code)]

use rustomize_plugin::{Call, DynamicObject, JsonSchema, Plugin, Result, Role};
use serde::Deserialize;

/// Labels resources with their team, generates the team's address, and refuses resources of other
/// teams.
#[derive(Deserialize, JsonSchema)]
pub struct TeamLabel {
    /// The team that owns the resources.
    team: String,
    /// The address of the team, for the generated ConfigMap.
    #[serde(default)]
    address: String,
}

/// The label.
const TEAM: &str = "example.com/team";

impl Plugin for TeamLabel {
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const API_VERSION: &'static str = "example.com/v1";
    const KIND: &'static str = "TeamLabel";
    const ROLES: &'static [Role] = &[Role::Generator, Role::Transformer, Role::Validator];

    fn generate(&self, _call: &Call) -> Result<Vec<DynamicObject>> {
        let mut map = DynamicObject {
            types: Some(rustomize_plugin::TypeMeta { api_version: "v1".to_owned(), kind: "ConfigMap".to_owned() }),
            metadata: Default::default(),
            data: rustomize_plugin::json!({ "data": { "address": self.address } }),
        };
        map.metadata.name = Some(format!("team-{}", self.team));
        // The build puts a hash of the content behind the name, and follows it.
        let annotations = map.metadata.annotations.get_or_insert_default();
        annotations.insert("kustomize.config.k8s.io/needs-hash".to_owned(), "true".to_owned());
        Ok(vec![map])
    }

    fn transform(&self, _call: &Call, resources: &mut Vec<DynamicObject>) -> Result<()> {
        for resource in resources {
            let labels = resource.metadata.labels.get_or_insert_default();
            labels.insert(TEAM.to_owned(), self.team.clone());
        }
        Ok(())
    }

    fn validate(&self, _call: &Call, resources: &[DynamicObject]) -> Result<()> {
        for resource in resources {
            let team = resource.metadata.labels.as_ref().and_then(|labels| labels.get(TEAM));
            if team.is_some_and(|team| *team != self.team) {
                let name = resource.metadata.name.as_deref().unwrap_or_default();
                return Err(format!("{name} belongs to team {}", team.map_or("", String::as_str)).into());
            }
        }
        Ok(())
    }
}

rustomize_plugin::export!(TeamLabel);

#[cfg(test)]
mod tests {
    use super::TeamLabel;
    use rustomize_plugin::test;

    const CONFIG: &str =
        "apiVersion: example.com/v1\nkind: TeamLabel\nmetadata: {name: x}\nteam: blue\naddress: '12'\n";

    #[test]
    fn it_labels() {
        let pods =
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: b\n";
        let out = test::transform::<TeamLabel>(CONFIG, pods).unwrap();
        assert_eq!(out.matches("example.com/team: blue\n").count(), 2, "{out}");
    }

    #[test]
    fn it_generates_and_validates() {
        let out = test::generate::<TeamLabel>(CONFIG).unwrap();
        assert!(out.contains("data:\n  address: \"12\"\n") && out.contains("name: team-blue\n"), "{out}");
        let pod = |team: &str| {
            format!("apiVersion: v1\nkind: Pod\nmetadata:\n  labels: {{example.com/team: {team}}}\n  name: a\n")
        };
        assert_eq!(test::validate::<TeamLabel>(CONFIG, &pod("blue")), Ok(()));
        assert_eq!(test::validate::<TeamLabel>(CONFIG, &pod("red")), Err("a belongs to team red".to_owned()));
        assert!(test::generate::<TeamLabel>("team: [").unwrap_err().contains("the configuration"));
    }
}
