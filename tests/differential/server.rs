//! The server of kustomize, which the other tests compare with.

use crate::support::reference::{CRASH, Files, Server};
use crate::support::skip;

#[test]
fn the_server_builds_refuses_and_survives_its_end() {
    let Some(mut server) = Server::find() else {
        skip(".ci/oracle has not been run");
        return;
    };
    let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";
    let tree = Files::from([file("/app/kustomization.yaml", "resources: [a.yaml]\n"), file("/app/a.yaml", config)]);
    assert_eq!(server.build(&tree, &["/app"]), Ok(config.as_bytes().to_vec()));
    let broken = Files::from([file("/app/kustomization.yaml", "resources: [b.yaml]\n")]);
    assert!(server.build(&broken, &["/app"]).unwrap_err().contains("b.yaml"));
    server.kill();
    assert!(server.build(&tree, &["/app"]).unwrap_err().starts_with(CRASH));
    assert_eq!(server.build(&tree, &["/app"]), Ok(config.as_bytes().to_vec()));
}
