//! Directories in OCI registries, from a stand-in for a registry on the loopback address.

use crate::support::servers::{Files, Reply, serve, sha256};
use crate::support::{Run, Tree};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const FLUX: &str = "application/vnd.cncf.flux.content.v1.tar+gzip";

/// The media type of oras and docker for a layer that is an archive.
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// An archive of files.
fn archive(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, content) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        // The library's own function would refuse some names.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        builder.append(&header, content.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

/// Puts a manifest of layers behind a tag, and returns its digest.
fn put(files: &Files, repository: &str, tag: &str, layers: &[(&str, Vec<u8>)]) -> String {
    let layer = |(media_type, content): &(&str, Vec<u8>)| {
        let digest = sha256(content);
        files.put(&format!("/v2/{repository}/blobs/sha256:{digest}"), content.clone());
        format!(r#"{{"mediaType": "{media_type}", "digest": "sha256:{digest}", "size": {}}}"#, content.len())
    };
    let layers: Vec<String> = layers.iter().map(layer).collect();
    let manifest = format!(r#"{{"schemaVersion": 2, "layers": [{}]}}"#, layers.join(", "));
    let digest = format!("sha256:{}", sha256(manifest.as_bytes()));
    for name in [tag, &digest] {
        files.put(&format!("/v2/{repository}/manifests/{name}"), manifest.clone());
    }
    digest
}

/// Pushes a directory as Flux does, and returns the digest of its manifest.
pub fn push(files: &Files, repository: &str, tag: &str, entries: &[(&str, &str)]) -> String {
    put(files, repository, tag, &[(FLUX, archive(entries))])
}

const OBJECT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

fn build(tree: &Tree, entry: &str, args: &[&str]) -> Run {
    tree.write("app/kustomization.yaml", &format!("namePrefix: my-\nresources: ['{entry}']\n"));
    let run = tree.run(&[&["build", "app"], args].concat());
    tree.assert_nothing_left();
    run
}

#[test]
fn a_directory_that_flux_has_pushed_is_a_base() {
    let (tree, files) = (Tree::new(""), Files::default());
    let server = files.serve();
    let digest = push(&files, "a/b", "v1", &[("kustomization.yaml", "resources: [a.yaml]\n"), ("a.yaml", OBJECT)]);
    let by_tag = format!("oci://{server}/a/b:v1");
    assert!(build(&tree, &by_tag, &[]).ok().contains("name: my-a"));
    assert_eq!(files.paths().len(), 3, "the tag, the manifest by its digest, the layer");
    assert!(build(&tree, &by_tag, &[]).ok().contains("name: my-a"));
    assert_eq!(files.paths(), ["/v2/a/b/manifests/v1"], "what the tag stands for is asked, and the cache has it");
    // A digest that the cache has needs no registry; one with a tag beside it counts alone.
    for entry in [format!("oci://{server}/a/b@{digest}"), format!("oci://{server}/a/b:other@{digest}")] {
        assert!(build(&tree, &entry, &[]).ok().contains("name: my-a"));
        assert_eq!(files.asked(), 0);
    }
    // A tag that moved is seen.
    push(&files, "a/b", "v1", &[("kustomization.yaml", "namePrefix: new-\nresources: [a.yaml]\n"), ("a.yaml", OBJECT)]);
    assert!(build(&tree, &by_tag, &["--offline"]).ok().contains("name: my-a"));
    assert!(build(&tree, &by_tag, &[]).ok().contains("name: my-new-a"));
    assert!(build(&tree, &by_tag, &["--offline"]).ok().contains("name: my-new-a"));
    // It is a root of its own, too.
    assert!(tree.run(&["build", &by_tag]).ok().contains("name: new-a"));
    // In a cache that others may write to, nothing is kept and nothing is used.
    let shared = tree.path().join("shared");
    std::fs::create_dir(&shared).unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o777)).unwrap();
    let cache = shared.display().to_string();
    assert!(build(&tree, &by_tag, &["--remote-cache", &cache]).ok().contains("name: my-new-a"));
    assert_eq!(std::fs::read_dir(&shared).unwrap().count(), 0);
}

#[test]
fn directory_pushed_by_oras_is_below_its_name() {
    let (tree, files) = (Tree::new(""), Files::default());
    let server = files.serve();
    let entries = [
        ("deploy/kustomization.yaml", "resources: [../shared]\n"),
        ("shared/kustomization.yaml", "resources: [a.yaml]\n"),
        ("shared/a.yaml", OBJECT),
    ];
    put(&files, "a", "1", &[(LAYER, archive(&entries))]);
    assert!(build(&tree, &format!("oci://{server}/a:1//deploy"), &[]).ok().contains("name: my-a"));
    build(&tree, &format!("oci://{server}/a:1"), &[]).fails_with(&["unable to find one of 'kustomization.yaml'"]);
    build(&tree, &format!("oci://{server}/a:1//no"), &[]).fails_with(&["'no': no such file or directory"]);
}

#[test]
fn artifact_may_not_reach_files_outside() {
    let (tree, files) = (Tree::new(""), Files::default());
    let server = files.serve();
    tree.write("secret.yaml", OBJECT);
    let here = tree.path().display().to_string();
    for (tag, resource, words) in [
        ("file", format!("{here}/secret.yaml"), "security"),
        ("base", "../../../../../../../../../../tmp".to_owned(), "must be within the repo"),
        ("git", format!("file://{here}/repo"), "must not name repositories of this machine"),
    ] {
        push(&files, "a", tag, &[("kustomization.yaml", &format!("resources: ['{resource}']\n"))]);
        build(&tree, &format!("oci://{server}/a:{tag}"), &["--load-restrictor", "LoadRestrictionsNone"])
            .fails_with(&[words]);
    }
    push(&files, "a", "cycle", &[("kustomization.yaml", &format!("resources: ['oci://{server}/a:cycle']\n"))]);
    build(&tree, &format!("oci://{server}/a:cycle"), &[]).fails_with(&["cycle detected"]);
}

#[test]
fn vendored_copy_contains_artifacts() {
    let (tree, files) = (Tree::new(""), Files::default());
    let server = files.serve();
    let kustomization = "resources: [a.yaml]\nnamePrefix: far-\n";
    push(
        &files,
        "a/b",
        "v1",
        &[
            ("kustomization.yaml", "resources: [below]\n"),
            ("below/a.yaml", OBJECT),
            ("below/kustomization.yaml", kustomization),
        ],
    );
    tree.write("app/kustomization.yaml", &format!("resources: ['oci://{server}/a/b:v1']\n"));
    tree.run(&["localize", "app", "copy"]).ok();
    let below = format!("localized-files/oci-schemed/{}/a/b/v1", server.replace(':', "-"));
    assert!(std::fs::read_to_string(tree.path().join("copy/kustomization.yaml")).unwrap().contains(&below));
    files.asked();
    assert!(tree.run(&["build", "copy"]).ok().contains("name: far-a"));
    assert_eq!(files.asked(), 0, "the copy needs no registry");
    // An artifact can be the target. Its name and its version name the copy.
    tree.run(&["localize", &format!("oci://{server}/a/b:v1//below")]).ok();
    assert!(tree.run(&["build", "localized-below-v1/below"]).ok().contains("name: far-a"));
    tree.run(&["localize", &format!("oci://{server}/a/b:v1")]).ok();
    assert!(tree.run(&["build", "localized-b-v1"]).ok().contains("name: far-a"));
    tree.write("app/kustomization.yaml", &format!("resources: ['oci://{server}/a/b']\n"));
    tree.run(&["localize", "app", "other"]).fails_with(&["it has neither a tag nor a digest"]);
    assert!(!tree.path().join("other").exists());
}

#[test]
fn nothing_is_fetched_after_an_error() {
    let (tree, files) = (Tree::new(""), Files::default());
    let server = files.serve();
    let far = format!("'http://{server}/a.yaml', 'oci://{server}/a/b:v1'");
    tree.write("kustomization.yaml", &format!("resources: [gone.yaml, {far}, lost.yaml]\n"));
    tree.run(&["build"]).fails_with(&["'gone.yaml'", "'lost.yaml'"]);
    let text =
        format!("configMapGenerator:\n- {{name: a, files: [gone]}}\n- {{name: b, files: ['k=http://{server}/k']}}\n");
    tree.write("kustomization.yaml", &text);
    tree.run(&["build"]).fails_with(&["'gone'"]);
    assert_eq!(files.asked(), 0);
}

#[test]
fn refused_artifact_leaves_nothing() {
    let (tree, files) = (Tree::new(""), Files::default());
    let server = files.serve();
    let fails = |tag: &str, words: &[&str]| {
        build(&tree, &format!("oci://{server}/a:{tag}"), &[])
            .fails_with(&[words, &["app/kustomization.yaml:2:13"]].concat())
    };
    put(&files, "a", "plain", &[(LAYER, OBJECT.into())]);
    fails("plain", &["its layer is not an archive", "flux push artifact"]);
    put(&files, "a", "two", &[(LAYER, archive(&[])), (LAYER, archive(&[]))]);
    fails("two", &["it has 2 layers"]);
    put(&files, "a", "none", &[]);
    fails("none", &["it has 0 layers"]);
    files.put("/v2/a/manifests/page", "<html>");
    fails("page", &["unexpected answer"]);
    let index = r#"{"manifests": [{"digest": "sha256:0"}]}"#;
    files.put("/v2/a/manifests/index", index);
    files.put(&format!("/v2/a/manifests/sha256:{}", sha256(index.as_bytes())), index);
    fails("index", &["an index of several artifacts"]);
    push(&files, "a", "out", &[("../../x", "x")]);
    fails("out", &["leads out of the archive"]);
    // A link, in each form of an archive.
    let mut tar = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    header.set_mode(0o644);
    tar.append_link(&mut header, "link.yaml", "/etc/passwd").unwrap();
    put(&files, "a", "tar", &[(LAYER, tar.into_inner().unwrap())]);
    fails("tar", &["'link.yaml' is a link"]);
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.add_symlink("link.yaml", "/etc/passwd", zip::write::SimpleFileOptions::default()).unwrap();
    put(&files, "a", "zip", &[(LAYER, zip.finish().unwrap().into_inner())]);
    fails("zip", &["'link.yaml' is a link"]);
    push(&files, "a", "git", &[(".git/config", "x")]);
    fails("git", &["'.git'"]);
    let whole = archive(&[("kustomization.yaml", &"#".repeat(5000))]);
    put(&files, "a", "half", &[(FLUX, whole[..whole.len() / 2].to_vec())]);
    fails("half", &["oci://"]);
    // A layer that is not the one that the manifest names.
    let digest = sha256(&archive(&[("x", "y")]));
    put(&files, "a", "other", &[(FLUX, archive(&[("x", "y")]))]);
    files.put(&format!("/v2/a/blobs/sha256:{digest}"), archive(&[("x", "z")]));
    fails("other", &["is not what was announced", &digest]);
    // A manifest that is not the one of its digest.
    let digest = push(&files, "a", "swapped", &[("x", "y")]);
    files.put(&format!("/v2/a/manifests/{digest}"), r#"{"layers": []}"#);
    fails("swapped", &["is not what was announced", &digest]);
    fails("missing", &["404"]);
    build(&tree, &format!("oci://{server}/a"), &[]).fails_with(&["neither a tag nor a digest"]);
    build(&tree, &format!("oci://{server}/a:plain"), &["--remote-size-limit", "10B"])
        .fails_with(&["larger than 10 bytes"]);
    let cache = tree.home().join(".cache/rustomize/artifacts");
    assert_eq!(std::fs::read_dir(cache).map(|all| all.count()).unwrap_or(0), 0);
}

/// A registry that gives tokens to one user alone.
fn private(files: &Files) -> String {
    let files = files.clone();
    serve(move |request| {
        let given = request.headers.get("authorization").map(String::as_str);
        let host = &request.headers["host"];
        match (request.path.as_str(), given) {
            ("/token?service=s&scope=repository:a:pull", Some("Basic dTpodW50ZXIy")) => {
                Reply::ok(r#"{"token": "open"}"#)
            }
            (path, Some("Bearer open")) => files.get(path),
            _ => {
                let wants = format!("Bearer realm=\"http://{host}/token\",service=\"s\",scope=\"repository:a:pull\"");
                Reply("401 Unauthorized", vec![("WWW-Authenticate".to_owned(), wants)], Vec::new())
            }
        }
    })
}

#[test]
fn credentials_are_sent_to_private_registry() {
    let (mut tree, files) = (Tree::new(""), Files::default());
    let server = private(&files);
    push(&files, "a", "v1", &[("kustomization.yaml", "resources: [a.yaml]\n"), ("a.yaml", OBJECT)]);
    let entry = format!("oci://{server}/a:v1");
    let variable = format!("RUSTOMIZE_TOKEN_{}", server.replace(['.', ':'], "_"));
    build(&tree, &entry, &[]).fails_with(&["401", &variable]);
    tree.variables.insert(Box::leak(variable.into_boxed_str()), "u:hunter2".to_owned());
    assert!(build(&tree, &entry, &[]).ok().contains("name: my-a"));
    let mut log = Vec::new();
    for file in crate::support::files(&tree.home(), "") {
        log.write_all(&std::fs::read(file).unwrap()).unwrap();
    }
    assert!(!String::from_utf8_lossy(&log).contains("hunter2"));
}

#[test]
fn builds_that_run_side_by_side_share_an_artifact() {
    let (tree, files) = (Tree::new(""), Files::default());
    let server = files.serve();
    push(&files, "a", "v1", &[("kustomization.yaml", "resources: [a.yaml]\n"), ("a.yaml", OBJECT)]);
    tree.write("app/kustomization.yaml", &format!("resources: ['oci://{server}/a:v1']\n"));
    let start = |_| tree.command(&["build", "app"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let running: Vec<_> = (0..6).map(start).collect();
    for child in running {
        let out = child.wait_with_output().unwrap();
        assert!(out.status.success() && String::from_utf8_lossy(&out.stdout).contains("name: a"));
    }
    let partial = |path: &Path| path.file_name().unwrap().to_string_lossy().starts_with("partial");
    let cache = tree.home().join(".cache/rustomize/artifacts");
    let left = std::fs::read_dir(cache).unwrap().filter(|entry| partial(&entry.as_ref().unwrap().path())).count();
    assert_eq!(left, 0);
}
