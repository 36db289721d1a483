//! OCI registries and the servers that hand out their tokens: where secrets go, and answers that
//! lie.

use crate::support::plugins::{require, root, script, tree};
use crate::support::servers::{Files, Reply, Request, serve, sha256};
use crate::support::{Run, Tree};
use std::sync::{Arc, Mutex};

const REPOSITORY: &str = "/v2/acme/app";

/// `RUSTOMIZE_TOKEN_...` for an address of this machine.
fn token_of(server: &str) -> &'static str {
    format!("RUSTOMIZE_TOKEN_{}", server.replace(['.', ':'], "_")).leak()
}

fn basic(pair: &str) -> String {
    use base64::Engine;
    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair))
}

/// The values of the header `Authorization` in the requests to a server, oldest first.
#[derive(Clone, Default)]
struct Secrets(Arc<Mutex<Vec<String>>>);

impl Secrets {
    fn note(&self, request: &Request) {
        self.0.lock().unwrap().push(request.headers.get("authorization").cloned().unwrap_or_default());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// A server of tokens that notes what it is asked with.
fn token_server(secrets: &Secrets) -> String {
    let secrets = secrets.clone();
    serve(move |request| {
        secrets.note(request);
        Reply::ok(r#"{"token": "t"}"#)
    })
}

/// A registry that sends a client with `challenge`, and has `files` for a client with a token.
/// `HOST` in the challenge is the registry itself, which gives `token` for `/token`.
fn registry(challenge: &str, token: &'static str, files: &Files) -> String {
    let (challenge, files) = (challenge.to_owned(), files.clone());
    serve(move |request| match request.headers.get("authorization") {
        _ if request.path.starts_with("/token") => Reply::ok(token),
        Some(_) => files.get(&request.path),
        None => {
            let wants = challenge.replace("HOST", &request.headers["host"]);
            Reply("401 Unauthorized", vec![("WWW-Authenticate".to_owned(), wants)], Vec::new())
        }
    })
}

fn no_tags() -> Files {
    let files = Files::default();
    files.put(&format!("{REPOSITORY}/tags/list?n=1000"), r#"{"tags": []}"#);
    files
}

/// A registry with one tag, `1.0.0`, and the plugin as its only blob.
fn with_manifest(manifest: impl Into<Vec<u8>>) -> Files {
    let files = Files::default();
    files.put(&format!("{REPOSITORY}/tags/list?n=1000"), r#"{"tags": ["1.0.0"]}"#);
    files.put(&format!("{REPOSITORY}/manifests/1.0.0"), manifest);
    let content = script("1.0.0", "registry");
    files.put(&format!("{REPOSITORY}/blobs/sha256:{}", sha256(content.as_bytes())), content);
    files
}

fn layer(digest: &str) -> String {
    let size = script("1.0.0", "registry").len();
    format!(r#"{{"mediaType": "application/octet-stream", "digest": "{digest}", "size": {size}}}"#)
}

fn manifest() -> String {
    let digest = sha256(script("1.0.0", "registry").as_bytes());
    format!(r#"{{"schemaVersion": 2, "layers": [{}]}}"#, layer(&format!("sha256:{digest}")))
}

fn entry(digest: &str, os: &str) -> String {
    format!(r#"{{"digest": "{digest}", "size": 1, "platform": {{"os": "{os}", "architecture": "amd64"}}}}"#)
}

fn index(entries: &[String]) -> String {
    format!(r#"{{"schemaVersion": 2, "manifests": [{}]}}"#, entries.join(", "))
}

fn install(tree: &Tree, server: &str) -> Run {
    tree.run(&["plugin", "install", "--from", &format!("oci://{server}/acme/app"), "h.io/acme/app"])
}

#[test]
fn token_is_sent_to_one_host_alone() {
    let mut tree = tree();
    let secrets = Secrets::default();
    let realm = token_server(&secrets);
    let challenge = format!("Bearer realm=\"http://{realm}/token\",service=\"s\"");
    let server = registry(&challenge, "", &no_tags());
    // Nobody's token may come from anywhere.
    install(&tree, &server).fails_with(&["no version is"]);
    assert_eq!(secrets.take(), [""]);
    // The user's password for the registry is for the registry.
    tree.variables.insert(token_of(&server), "u:registry".to_owned());
    let said = install(&tree, &server);
    assert_eq!(secrets.take(), Vec::<String>::new(), "the password for {server} went to {realm}");
    said.fails_with(&["gives out tokens on another host", token_of(&realm), "the same value"]);
    // A host that the user names for this registry gets what is for it.
    tree.variables.insert(token_of(&realm), "u:registry".to_owned());
    install(&tree, &server).fails_with(&["no version is"]);
    assert_eq!(secrets.take(), [basic("u:registry")]);
}

#[test]
fn registry_gets_no_token_of_another_registry() {
    let mut tree = tree();
    let secrets = Secrets::default();
    let realm = token_server(&secrets);
    // It asks for a token of a repository of the user, with which it could read and write there.
    let challenge =
        format!("Bearer realm=\"http://{realm}/token\",service=\"other\",scope=\"repository:user/private:pull,push\"");
    let server = registry(&challenge, "", &no_tags());
    tree.variables.insert(token_of(&realm), "u:realm".to_owned());
    install(&tree, &server).fails_with(&["no version is"]);
    assert_eq!(secrets.take(), [""], "{server} got a token for the user's repositories");
    tree.variables.insert(token_of(&server), "u:server".to_owned());
    let differs = install(&tree, &server);
    assert_eq!(secrets.take(), Vec::<String>::new(), "{server} got a token for the user's repositories");
    differs.fails_with(&["gives out tokens on another host", token_of(&realm), "the same value"]);
}

#[test]
fn challenge_of_a_registry_leads_no_secret_elsewhere() {
    let secrets = Secrets::default();
    let evil = token_server(&secrets);
    for challenge in [
        format!("Bearer realm=\"http://HOST@{evil}/token\""),
        format!("Bearer realm=\"http://u:p@HOST/token\",realm=\"http://{evil}/token\""),
        format!("Bearer realm=\"http://HOST\\\\@{evil}/token\""),
        format!("Bearer realm=\"http://HOST\t@{evil}/token\""),
        format!("Bearer realm=\"http:///{evil}/token\""),
        format!("Bearer realm=\"//{evil}/token\""),
        format!("Bearer realm=\"http://{}/token\"", evil.replace("127.0.0.1", "127.1")),
        format!("Bearer realm=\"http://{}/token\"", evil.replace("127.0.0.1", "0.0.0.0")),
        format!(
            "Bearer xrealm=\"http://HOST/token\",service=\"realm=\\\"http://HOST/token\\\"\",realm=\"http://{evil}/\""
        ),
        "Bearer realm=\"file:///etc/passwd\"".to_owned(),
    ] {
        let mut tree = tree();
        let server = registry(&challenge, r#"{"token": "t"}"#, &no_tags());
        tree.variables.insert(token_of(&server), "u:hunter2".to_owned());
        let said = install(&tree, &server);
        assert_eq!(secrets.take(), Vec::<String>::new(), "{challenge}");
        said.fails_with(&["Error: "]);
    }
}

#[test]
fn challenges_and_tokens_are_read_as_registries_write_them() {
    for (challenge, token) in [
        // Docker Hub sends the token under both names.
        ("Bearer realm=\"http://HOST/token\"", r#"{"token": "t", "access_token": "t", "expires_in": 300}"#),
        ("Bearer realm=\"http://HOST/token\"", r#"{"token": null, "access_token": "t"}"#),
        ("bearer Realm=\"http://HOST/token?a=b\", service=s", r#"{"token": "t"}"#),
        ("Bearer realm=\"http://HOST/token\",scope=\"a:b:pull c:d:pull\",error=\"x,y\"", r#"{"token": "t"}"#),
        ("Bearer realm=\"http://HOST/token\",service=\"a&b=c#d\"", r#"{"token": "t"}"#),
    ] {
        install(&tree(), &registry(challenge, token, &no_tags())).fails_with(&["no version is"]);
    }
    for token in [r#"{"token": ""}"#, r#"{"token": "a\nX: y"}"#, r#"{"token": "\u202e"}"#, "{}"] {
        let server = registry("Bearer realm=\"http://HOST/token\"", token, &no_tags());
        install(&tree(), &server).fails_with(&["does not hold a token"]);
    }
}

#[test]
fn manifest_with_two_meanings_is_refused() {
    let sum = format!("sha256:{}", sha256(manifest().as_bytes()));
    let both = index(&[entry(&sum, "linux")])
        .replace("\"manifests\"", &format!("\"layers\": [{}], \"manifests\"", layer(&sum)));
    for (manifest, why) in [
        (both, "is both an index and a manifest"),
        (index(&[entry("latest", "linux")]), "'latest' is not a SHA-256 digest"),
        (index(&[entry("../../other/manifests/x", "linux")]), "is not a SHA-256 digest"),
        (index(&[entry(&format!("sha512:{}", "a".repeat(128)), "linux")]), "is not a SHA-256 digest"),
        (manifest().replace("sha256:", "sha512:"), "is not a SHA-256 digest"),
        (
            manifest().replace(&sha256(script("1.0.0", "registry").as_bytes()), &"../".repeat(22)[..64]),
            "is not a SHA-256 digest",
        ),
        (index(&[entry(&sum, "linux"), entry(&sum, "li/nux")]), "'li/nux_amd64' is not a platform"),
        (index(&[entry(&sum, "linux"), entry(&sum, "\\u001b[31m")]), "is not a platform"),
        (index(&[entry(&sum, "linux"), entry(&sum, "linux_amd64")]), "is not a platform"),
        (r#"{"schemaVersion": 1, "fsLayers": [{"blobSum": "sha256:0"}]}"#.to_owned(), "has 0 layers"),
    ] {
        let files = with_manifest(manifest.clone());
        files.put(&format!("{REPOSITORY}/manifests/latest"), self::manifest());
        files.put(&format!("{REPOSITORY}/manifests/{sum}"), self::manifest());
        let tree = tree();
        install(&tree, &files.serve()).fails_with(&[why]);
        assert!(!root(&tree).join("h.io").exists(), "{manifest}");
    }
}

#[test]
fn manifest_has_a_limited_size_and_number_of_platforms() {
    let files = with_manifest(format!(r#"{{"manifests": [{}{{}}]}}"#, "{},".repeat(2_000_000)));
    install(&tree(), &files.serve()).fails_with(&["is larger than 4194304 bytes"]);
    let sum = format!("sha256:{}", sha256(manifest().as_bytes()));
    let entries: Vec<String> = (0..200).map(|n| entry(&sum, &format!("os{n}"))).collect();
    let files = with_manifest(index(&entries));
    files.put(&format!("{REPOSITORY}/manifests/{sum}"), manifest());
    install(&tree(), &files.serve()).fails_with(&["has 200 entries"]);
    assert!(files.asked() < 10, "each entry was asked for");
}

#[test]
fn registry_cannot_withhold_tags_by_an_address_that_is_not_followed() {
    let serve_pages = |link: &'static str| {
        serve(move |request| match request.path.as_str() {
            "/v2/acme/app/tags/list?n=1000" => {
                let link = link.replace("HOST", &request.headers["host"]);
                Reply("200 OK", vec![("Link".to_owned(), link)], br#"{"tags": ["0.9.0"]}"#.to_vec())
            }
            "/v2/acme/app/tags/list?n=1000&last=0.9.0" => Reply::ok(r#"{"tags": ["1.0.0"]}"#),
            "/v2/acme/app/manifests/1.0.0" => Reply::ok(manifest()),
            path if path.contains("/blobs/") => Reply::ok(script("1.0.0", "registry")),
            _ => Reply::not_found(),
        })
    };
    for link in [
        "</v2/acme/app/tags/list?n=1000&last=0.9.0>; rel=\"next\"",
        "<http://HOST/v2/acme/app/tags/list?n=1000&last=0.9.0>; rel=\"next\"",
    ] {
        install(&tree(), &serve_pages(link)).ok();
    }
    for link in ["<http://127.0.0.1:1/x>; rel=\"next\"", "<//127.0.0.1:1/x>", "<http://HOST@127.0.0.1:1/x>"] {
        install(&tree(), &serve_pages(link)).fails_with(&["lists its other tags at"]);
    }
}

#[test]
fn first_entry_of_a_platform_is_locked() {
    let (own, other) = (manifest(), manifest().replace("application/octet-stream", "application/other"));
    let [first, second] = [&own, &other].map(|text| format!("sha256:{}", sha256(text.as_bytes())));
    let files = with_manifest(index(&[entry(&first, "linux"), entry(&first, "darwin"), entry(&second, "darwin")]));
    files.put(&format!("{REPOSITORY}/manifests/{first}"), own);
    let (tree, server) = (tree(), files.serve());
    require(&tree, &format!("{{app: {{source: h.io/acme/app, from: 'oci://{server}/acme/app'}}}}"));
    tree.run(&["plugin", "lock"]).ok();
}
