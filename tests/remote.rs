//! Remote resources: real git repositories over file://, a real HTTP server on the loopback
//! address.

use crate::support::{Run, Tree, git, run};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\ndata: {v: \"VALUE\"}\n";

fn config_map(name: &str, value: &str) -> String {
    CONFIG_MAP.replace("NAME", name).replace("VALUE", value)
}

/// A tree beside a repository `repo` with two versions: tag v1, and branch main.
fn with_repository() -> (Tree, String, String) {
    let tree = Tree::new("");
    tree.write("repo/base/kustomization.yaml", "resources: [../shared, a.yaml]\n");
    tree.write("repo/base/a.yaml", &config_map("a", "1"));
    tree.write("repo/shared/kustomization.yaml", "resources: [s.yaml]\n");
    tree.write("repo/shared/s.yaml", &config_map("s", "1"));
    let repo = tree.path().join("repo");
    git(&repo, &["init", "-q", "-b", "main"]);
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "one"]);
    git(&repo, &["tag", "-a", "v1", "-m", "one"]);
    let first = git(&repo, &["rev-parse", "HEAD"]);
    tree.write("repo/base/a.yaml", &config_map("a", "2"));
    git(&repo, &["commit", "-qam", "two"]);
    let url = format!("file://{}", repo.display());
    (tree, url, first)
}

fn build(tree: &Tree, entry: &str, args: &[&str]) -> Run {
    tree.write("app/kustomization.yaml", &format!("resources: ['{entry}']\n"));
    let run = tree.run(&[&["build", "app"], args].concat());
    tree.assert_nothing_left();
    run
}

/// Entries of the cache that are not versions of a repository.
fn partial(tree: &Tree) -> usize {
    let Ok(entries) = fs::read_dir(tree.home().join(".cache/rustomize/git")) else { return 0 };
    entries.filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().starts_with("partial")).count()
}

#[test]
fn versions_are_tags_branches_and_commits() {
    let (tree, url, first) = with_repository();
    for (reference, value) in [("", "2"), ("?ref=main", "2"), ("?ref=v1", "1"), (&*format!("?ref={first}"), "1")] {
        let out = build(&tree, &format!("{url}//base{reference}"), &[]).ok();
        assert!(out.contains(&format!("v: \"{value}\"\nkind: ConfigMap\nmetadata:\n  name: a")), "{reference}: {out}");
        assert!(out.contains("name: s"), "a base beside it in the repository: {out}");
    }
    assert_eq!(partial(&tree), 0);
}

#[test]
fn a_moved_branch_is_seen_and_a_commit_in_the_cache_needs_no_repository() {
    let (tree, url, first) = with_repository();
    let by_branch = format!("{url}//base?ref=main");
    let by_commit = format!("{url}//base?ref={first}");
    build(&tree, &by_commit, &["--offline"]).fails_with(&["offline", "app/kustomization.yaml", "without --offline"]);
    build(&tree, &by_branch, &[]).ok();
    build(&tree, &by_commit, &[]).ok();
    tree.write("repo/base/a.yaml", &config_map("a", "3"));
    git(&tree.path().join("repo"), &["commit", "-qam", "three"]);
    assert!(build(&tree, &by_branch, &["--offline"]).ok().contains("v: \"2\""), "offline: the last one seen");
    assert!(build(&tree, &by_branch, &[]).ok().contains("v: \"3\""));
    fs::rename(tree.path().join("repo"), tree.path().join("gone")).unwrap();
    assert!(build(&tree, &by_commit, &[]).ok().contains("v: \"1\""));
    build(&tree, &by_branch, &[]).fails_with(&["git ls-remote", "app/kustomization.yaml", &url]);
}

#[test]
fn without_a_cache_nothing_is_kept() {
    let (mut tree, url, _) = with_repository();
    tree.variables.insert("HOME", String::new());
    assert!(build(&tree, &format!("{url}//base"), &[]).ok().contains("name: a"));
    assert!(!tree.home().join(".cache").exists());
}

#[test]
fn several_repositories_are_fetched_in_one_build() {
    let (tree, url, first) = with_repository();
    for (layer, reference) in [("one", "main".to_owned()), ("two", "v1".to_owned()), ("three", first)] {
        let text = format!("namePrefix: {layer}-\nresources: ['{url}//base?ref={reference}']\n");
        tree.write(&format!("{layer}/kustomization.yaml"), &text);
    }
    tree.write(
        "app/kustomization.yaml",
        &format!("resources: [../one, ../two, ../three, '{url}//shared', '{url}//base?ref=main']\nsortOptions: {{order: fifo}}\n"),
    );
    tree.run(&["build", "app"]).fails_with(&["already registered id"]);
    tree.write("app/kustomization.yaml", &format!("resources: [../one, ../two, ../three, '{url}//shared']\n"));
    let out = tree.run(&["build", "app"]).ok();
    for name in ["one-a", "one-s", "two-a", "two-s", "three-a", "three-s", "name: s"] {
        assert!(out.contains(name), "{name}: {out}");
    }
    assert_eq!(partial(&tree), 0);
}

#[test]
fn submodules_come_along_unless_they_are_not_wanted() {
    let (mut tree, url, _) = with_repository();
    tree.write("outer/kustomization.yaml", "resources: [inner/base]\n");
    let outer = tree.path().join("outer");
    git(&outer, &["init", "-q", "-b", "main"]);
    git(&outer, &["submodule", "--quiet", "add", &url, "inner"]);
    git(&outer, &["add", "."]);
    git(&outer, &["commit", "-qm", "outer"]);
    for (name, value) in
        [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "protocol.file.allow"), ("GIT_CONFIG_VALUE_0", "always")]
    {
        tree.variables.insert(name, value.to_owned());
    }
    let outer = format!("file://{}", outer.display());
    assert!(build(&tree, &outer, &[]).ok().contains("name: a"));
    build(&tree, &format!("{outer}?submodules=false"), &[]).fails_with(&["inner/base"]);
}

#[test]
fn remote_base_cannot_reach_files_outside_its_clone() {
    let (tree, _, _) = with_repository();
    let repo = tree.path().join("repo");
    tree.write("secret.yaml", &config_map("secret", "x"));
    tree.write("elsewhere/kustomization.yaml", "resources: []\n");
    let here = tree.path();
    tree.write("repo/bad-file/kustomization.yaml", &format!("resources: ['{}/secret.yaml']\n", here.display()));
    tree.write("repo/bad-base/kustomization.yaml", "resources: [../../../../../../../../../../../../tmp]\n");
    std::os::unix::fs::symlink(here.join("elsewhere"), repo.join("link")).unwrap();
    tree.write("repo/bad-link/kustomization.yaml", "resources: [../link]\n");
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "bad"]);
    let url = format!("file://{}", repo.display());
    let everything = ["--load-restrictor", "LoadRestrictionsNone"];
    build(&tree, &format!("{url}//bad-file"), &everything).fails_with(&["security", "secret.yaml"]);
    build(&tree, &format!("{url}//bad-base"), &everything).fails_with(&["must be within the repo"]);
    build(&tree, &format!("{url}//bad-link"), &everything).fails_with(&["must be within the repo"]);
    build(&tree, &format!("{url}//link"), &everything).fails_with(&["outside of repo"]);
    build(&tree, &format!("{url}//missing"), &[]).fails_with(&["'missing': no such file or directory"]);
}

#[test]
fn a_reference_that_cannot_be_fetched_is_named_with_its_file() {
    let (tree, url, _) = with_repository();
    let said = build(&tree, &format!("{url}//base?ref=nope"), &[]).fails_with(&[
        "git fetch",
        "nope",
        "app/kustomization.yaml",
    ]);
    assert!(said.contains("couldn't find remote ref"), "{said}");
    build(&tree, "file:///no/such/repo", &[]).fails_with(&["file:///no/such/repo", "git fetch"]);
    assert_eq!(partial(&tree), 0);
}

#[test]
fn a_git_that_hangs_is_ended() {
    let mut tree = Tree::new("-- bin/git --\n#!/bin/sh\ncase $1 in fetch) exec sleep 600;; esac\n");
    let path = format!("{}:/usr/bin:/bin", tree.path().join("bin").display());
    tree.variables.insert("PATH", path);
    build(&tree, "https://git.example.com/o/r?timeout=1", &[]).fails_with(&["hit 1 s timeout", "git fetch"]);
    build(&tree, "ssh://git@git.example.com/o/r", &["--remote-timeout", "500ms"]).fails_with(&["hit 0.5 s timeout"]);
    assert_eq!(partial(&tree), 0);
}

/// Serves one connection after the other until the test ends. The answer is a function of the path.
fn serve(answer: impl Fn(&str, &mut TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let request = lines.next().unwrap().unwrap();
            for line in lines.by_ref() {
                if line.unwrap().is_empty() {
                    break;
                }
            }
            answer(request.split(' ').nth(1).unwrap(), &mut stream);
        }
    });
    format!("http://{address}")
}

fn reply(stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) {
    let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n", body.len());
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(body);
}

#[test]
fn files_come_over_http() {
    let server = serve(|path, stream| match path {
        "/a.yaml" => reply(stream, "200 OK", "", config_map("a", "1").as_bytes()),
        "/moved.yaml" => reply(stream, "302 Found", "Location: /a.yaml\r\n", b""),
        "/settings.txt" => reply(stream, "200 OK", "", b"x=1\n"),
        _ => reply(stream, "404 Not Found", "", b"nothing here"),
    });
    let tree = Tree::new("");
    assert!(build(&tree, &format!("{server}/a.yaml"), &[]).ok().contains("name: a"));
    assert!(build(&tree, &format!("{server}/moved.yaml#top"), &[]).ok().contains("name: a"));
    build(&tree, &format!("{server}/b.yaml"), &[]).fails_with(&[
        "404 (Not Found)",
        "/b.yaml",
        "app/kustomization.yaml",
    ]);
    assert!(build(&tree, &format!("{server}/a.yaml"), &["--offline"]).ok().contains("name: a"), "the last one seen");
    build(&tree, &format!("{server}/b.yaml"), &["--offline"]).fails_with(&["offline", "/b.yaml"]);
    tree.write(
        "app/kustomization.yaml",
        &format!("configMapGenerator: [{{name: g, files: ['{server}/settings.txt']}}]\n"),
    );
    assert!(tree.run(&["build", "app"]).ok().contains("settings.txt: |\n    x=1"));
}

#[test]
fn a_server_cannot_hurt_the_build() {
    let server = serve(|path, stream| match path {
        "/hang.yaml" => std::thread::sleep(std::time::Duration::from_secs(600)),
        "/page.yaml" => reply(stream, "200 OK", "Content-Type: text/html\r\n", b"<!doctype html><html></html>"),
        "/binary.yaml" => reply(stream, "200 OK", "", b"\xff\xfe\x00"),
        "/huge.yaml" => reply(stream, "200 OK", "", &vec![b'#'; 70_000]),
        "/loop.yaml" => reply(stream, "302 Found", "Location: /loop.yaml\r\n", b""),
        "/other.yaml" => reply(stream, "302 Found", "Location: http://other.example.com/x.yaml\r\n", b""),
        "/file.yaml" => reply(stream, "302 Found", "Location: file:///etc/hostname\r\n", b""),
        "/cut.yaml" => drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\napiVersion: v1\n")),
        "/twice.yaml" => reply(stream, "200 OK", "Content-Length: 1\r\n", b"apiVersion: v1\n"),
        "/heads.yaml" => while stream.write_all(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n").is_ok() {},
        "/slow.yaml" => {
            let mut next: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n";
            while stream.write_all(next).is_ok() {
                std::thread::sleep(std::time::Duration::from_millis(20));
                next = b"#";
            }
        }
        _ => {}
    });
    let tree = Tree::new("");
    let fails = |path: &str, args: &[&str], words: &[&str]| {
        build(&tree, &format!("{server}/{path}"), args).fails_with(&[words, &["app/kustomization.yaml"]].concat());
    };
    fails("page.yaml", &[], &["expected a mapping"]);
    fails("binary.yaml", &[], &["not valid UTF-16 at byte 2"]);
    fails("huge.yaml", &["--remote-size-limit", "64KiB"], &["larger than 65536 bytes", "--remote-size-limit"]);
    fails("loop.yaml", &[], &["redirects more than 10 times"]);
    fails("other.yaml", &[], &["redirects to 'http://other.example.com/x.yaml'", "another host"]);
    fails("file.yaml", &[], &["redirects to 'file:///etc/hostname'", "the new address is not a URL"]);
    fails("cut.yaml", &[], &["cannot be read"]);
    fails("twice.yaml", &[], &["conflicting content-length headers"]);
    fails("heads.yaml", &[], &["response header is too big"]);
    fails("slow.yaml", &["--remote-timeout", "300ms"], &["did not answer in time", "timeout"]);
    fails("closes.yaml", &[], &["cannot be fetched"]);
    fails("hang.yaml", &["--remote-timeout", "300ms"], &["did not answer in time", "timeout"]);
}

/// A build of a remote base by a user whose home cannot be written to.
fn build_without_home(tree: &Tree, url: &str, variables: &[(&str, &str)]) -> Run {
    tree.write("app/kustomization.yaml", &format!("resources: ['{url}//base?ref=v1']\n"));
    tree.write("file", "");
    let mut command = tree.command(&["build", "app"]);
    command.env("HOME", tree.path().join("file/home")).envs(variables.iter().copied());
    run(&mut command)
}

#[test]
fn without_a_home_the_cache_is_private_among_temporary_files() {
    let (tree, url, _) = with_repository();
    assert!(build_without_home(&tree, &url, &[]).ok().contains("name: a"));
    let entries = || -> Vec<_> { fs::read_dir(tree.tmp()).unwrap().map(|e| e.unwrap().path()).collect() };
    let [cache] = &entries()[..] else { panic!("{:?}", entries()) };
    assert_eq!(fs::metadata(cache).unwrap().permissions().mode() & 0o777, 0o700);
    let clones = || fs::read_dir(cache.join("git")).unwrap().count();
    assert_eq!(clones(), 1);
    assert!(build_without_home(&tree, &url, &[]).ok().contains("name: a"), "the clone is used again");
    // Others may have put something there.
    fs::set_permissions(cache, fs::Permissions::from_mode(0o777)).unwrap();
    fs::remove_dir_all(cache.join("git")).unwrap();
    assert!(build_without_home(&tree, &url, &[]).ok().contains("name: a"));
    assert!(!cache.join("git").exists(), "a directory that others can write to is left alone");
    assert_eq!(entries().len(), 1, "the clone lasts for one build");
}

#[test]
fn the_cache_is_where_a_variable_says() {
    let (tree, url, _) = with_repository();
    let cache = tree.path().join("elsewhere");
    assert!(
        build_without_home(&tree, &url, &[("RUSTOMIZE_CACHE_DIR", cache.to_str().unwrap())]).ok().contains("name: a")
    );
    assert_eq!(fs::read_dir(cache.join("git")).unwrap().count(), 1);
    tree.assert_nothing_left();
    let nowhere = tree.path().join("file/nowhere");
    let nowhere = nowhere.to_str().unwrap();
    let says = ["no directory for a clone", "--remote-cache", "RUSTOMIZE_CACHE_DIR", "TMPDIR"];
    build_without_home(&tree, &url, &[("RUSTOMIZE_CACHE_DIR", nowhere)]).fails_with(&says);
    build_without_home(&tree, &url, &[("TMPDIR", nowhere)]).fails_with(&says);
}
