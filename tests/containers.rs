//! KRM functions in containers of a real engine: podman with runc, beside kustomize where that is
//! there. Without podman the tests say that they are skipped.
//!
//! The images are made here, of a static busybox, without a registry. The engine has storage and
//! settings of its own: it sees no image and no container of this machine.

use crate::support::{Run, Tree, in_path, run, skip};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// podman with settings of its own and the images of these tests.
struct Engine {
    directory: TempDir,
}

/// The image of all tests: what its function does, the configuration says.
const IMAGE: &str = "localhost/fn:1";

/// Reads the field `do` of the configuration, and does that.
const FUNCTION: &str = "#!/bin/sh
cat > /tmp/in
read_do() { sed -n '/^  do: /{s///p;q}' /tmp/in; }
config_map() {
  echo 'apiVersion: config.kubernetes.io/v1'
  echo 'kind: ResourceList'
  echo 'items:'
  echo '- apiVersion: v1'
  echo '  kind: ConfigMap'
  echo '  metadata: {name: made}'
  echo '  data:'
}
case $(read_do) in
  transform) sed 's/x: one/x: two/' /tmp/in ;;
  generate) config_map; echo '    x: made' ;;
  show)
    config_map
    echo \"    user: '$(id -u)'\"
    echo \"    variable: '$SHOWN'\"
    echo \"    mounted: '$(cat /mounted/file 2>/dev/null)'\"
    touch /mounted/new 2>/dev/null && echo '    writable: yes-it-is'
    echo \"    interfaces: '$(ls /sys/class/net | tr '\\n' ' ')'\" ;;
  fail) echo 'the function says no' >&2; exit 3 ;;
  hang) sleep 600 ;;
esac
";

#[expect(clippy::disallowed_methods, reason = "a real engine")]
fn podman(directory: &Path, args: &[&str]) -> Output {
    Command::new("podman").args(args).envs(settings(directory)).stdin(Stdio::null()).output().unwrap()
}

/// The variables that lead podman to settings of its own.
fn settings(directory: &Path) -> [(&'static str, PathBuf); 2] {
    [
        ("CONTAINERS_STORAGE_CONF", directory.join("storage.conf")),
        ("CONTAINERS_CONF", directory.join("containers.conf")),
    ]
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Layers belong to other users where this one is not the superuser: podman removes them.
        for args in [["rm", "--all", "--force"], ["rmi", "--all", "--force"]] {
            let _ = podman(self.directory.path(), &args);
        }
    }
}

impl Engine {
    /// Makes the images.
    ///
    /// # Errors
    /// The reason for a missing engine.
    fn make() -> Result<Engine, String> {
        for program in ["podman", "runc"] {
            in_path(program).ok_or_else(|| format!("no '{program}' in PATH"))?;
        }
        let busybox = ["/bin/busybox", "/usr/bin/busybox"].map(Path::new).into_iter().find(|path| path.is_file());
        let busybox = busybox.ok_or("no static busybox for an image")?;
        let engine = Engine { directory: TempDir::new().unwrap() };
        let place = engine.directory.path();
        let storage =
            format!("[storage]\ndriver = \"vfs\"\nrunroot = \"{0}/run\"\ngraphroot = \"{0}/graph\"\n", place.display());
        fs::write(place.join("storage.conf"), storage).unwrap();
        // A machine that is a container itself may raise no limit, and has control groups of both
        // forms. Locks, networks and volumes are not this machine's either.
        let settings = format!(
            "[containers]\ndefault_ulimits = [\"nofile=512:512\", \"nproc=100:100\"]\n\
             [network]\nnetwork_config_dir = \"{0}/networks\"\n\
             [engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\nlock_type = \"file\"\n\
             tmp_dir = \"{0}/libpod\"\nvolume_path = \"{0}/volumes\"\n",
            place.display()
        );
        fs::write(place.join("containers.conf"), settings).unwrap();
        let image = place.join("image");
        for folder in ["bin", "etc", "tmp", "mounted"] {
            fs::create_dir_all(image.join(folder)).unwrap();
        }
        fs::set_permissions(image.join("tmp"), fs::Permissions::from_mode(0o1777)).unwrap();
        fs::copy(busybox, image.join("bin/busybox")).unwrap();
        for name in ["sh", "cat", "sed", "sleep", "id", "ls", "tr", "touch"] {
            symlink("busybox", image.join("bin").join(name)).unwrap();
        }
        fs::write(image.join("etc/passwd"), "root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n").unwrap();
        fs::write(image.join("etc/group"), "root:x:0:\nnobody:x:65534:\n").unwrap();
        fs::write(image.join("bin/fn"), FUNCTION).unwrap();
        fs::set_permissions(image.join("bin/fn"), fs::Permissions::from_mode(0o755)).unwrap();
        let archive = place.join("image.tar");
        #[expect(clippy::disallowed_methods, reason = "an archive for podman")]
        let made = Command::new("tar").arg("-C").arg(&image).arg("-cf").arg(&archive).arg(".").status().unwrap();
        assert!(made.success());
        let entry = "ENTRYPOINT [\"/bin/fn\"]";
        let args = ["import", "--change", entry, &archive.to_string_lossy(), IMAGE];
        let imported = podman(place, &args);
        if !imported.status.success() {
            return Err(format!("podman cannot import an image: {}", String::from_utf8_lossy(&imported.stderr)));
        }
        let args = ["run", "--rm", "--network", "none", "--entrypoint", "/bin/id", IMAGE];
        let works = podman(place, &args);
        if !works.status.success() {
            return Err(format!("podman cannot run a container: {}", String::from_utf8_lossy(&works.stderr)));
        }
        Ok(engine)
    }

    /// The containers that there are, running or not.
    fn containers(&self) -> String {
        let args = ["ps", "-a", "--format", "{{.ID}} {{.Image}} {{.Command}} {{.Status}}"];
        String::from_utf8(podman(self.directory.path(), &args).stdout).unwrap()
    }
}

/// An engine for a test; `None` without one.
fn engine() -> Option<Engine> {
    Engine::make().map_err(|why| skip(&why)).ok()
}

/// A kustomization with a function in the field `role`, whose annotation has `more` beside the
/// image.
fn tree(engine: &Engine, role: &str, what: &str, more: &str) -> Tree {
    let mut tree = Tree::new("");
    tree.write("kustomization.yaml", &format!("resources: [a.yaml]\n{role}: [f.yaml]\n"));
    tree.write("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: one\n");
    let annotation = format!("container: {{image: '{IMAGE}'{more}}}");
    tree.write(
        "f.yaml",
        &format!(
            "apiVersion: ex.io/v1\nkind: F\nmetadata:\n  name: f\n  annotations:\n    config.kubernetes.io/function: |\n      {annotation}\ndo: {what}\n"
        ),
    );
    tree.write("data/file", "of-the-tree");
    for (name, path) in settings(engine.directory.path()) {
        tree.variables.insert(name, path.to_string_lossy().into_owned());
    }
    tree
}

/// Builds with ours, which finds podman by itself, and with kustomize, which calls podman as
/// docker: both print the same. Gives what ours said.
#[track_caller]
fn build(tree: &Tree, args: &[&str]) -> Run {
    // A docker client without its daemon, which must not be taken.
    tree.write("../home/ours/docker", "#!/bin/sh\necho 'Cannot connect to the Docker daemon.' >&2\nexit 1\n");
    let others = std::env::var_os("PATH").unwrap().into_string().unwrap();
    let path = |first: &str| format!("{}:{others}", tree.home().join(first).display());
    let all = [&["build", "--enable-alpha-plugins"], args].concat();
    let ours = run(tree.command(&all).env("PATH", path("ours")));
    tree.assert_nothing_left();
    let Some(kustomize) = in_path("kustomize") else {
        println!("not compared: no kustomize in PATH");
        return ours;
    };
    fs::create_dir_all(tree.home().join("theirs")).unwrap();
    let _ = symlink(in_path("podman").unwrap(), tree.home().join("theirs/docker"));
    #[expect(clippy::disallowed_methods, reason = "the real kustomize")]
    let mut command = Command::new(kustomize);
    command.args(&all).current_dir(tree.path()).env_clear().stdin(Stdio::null()).envs(&tree.variables);
    command.env("PATH", path("theirs")).env("HOME", tree.home()).env("TMPDIR", tree.tmp());
    let theirs = run(&mut command);
    assert_eq!(ours.status == Some(0), theirs.status == Some(0), "ours: {}\ntheirs: {}", ours.stderr, theirs.stderr);
    assert_eq!(ours.stdout, theirs.stdout);
    ours
}

#[test]
fn a_transformer_and_a_generator_run_in_a_real_engine() {
    let Some(engine) = engine() else { return };
    let printed = build(&tree(&engine, "transformers", "transform", ""), &[]).ok();
    assert_eq!(printed, "apiVersion: v1\ndata:\n  x: two\nkind: ConfigMap\nmetadata:\n  name: a\n");
    let printed = build(&tree(&engine, "generators", "generate", ""), &[]).ok();
    assert!(printed.contains("data:\n  x: made\nkind: ConfigMap\nmetadata:\n  name: made\n"), "{printed}");
}

#[test]
fn a_locked_image_runs_by_its_digest() {
    let Some(engine) = engine() else { return };
    let args = ["image", "inspect", "--format", "{{.Digest}}", IMAGE];
    let digest = String::from_utf8(podman(engine.directory.path(), &args).stdout).unwrap();
    let lock = |digest: &str| format!(r#"{{"lockVersion": 1, "plugins": {{}}, "images": {{"{IMAGE}": "{digest}"}}}}"#);
    let here = tree(&engine, "transformers", "transform", "");
    here.write("plugins.lock", &lock(digest.trim()));
    assert!(build(&here, &[]).ok().contains("x: two"));
    // Another image than the locked one does not run, though the tag has one.
    here.write("plugins.lock", &lock(&format!("sha256:{}", "0".repeat(64))));
    here.build(&[]).fails_with(&["'podman' failed: exit status: 125", "localhost/fn@sha256:0000"]);
}

#[test]
fn a_container_has_no_network_and_no_rights_and_what_it_is_granted() {
    let Some(engine) = engine() else { return };
    let printed = build(&tree(&engine, "generators", "show", ""), &[]).ok();
    for shown in ["user: \"65534\"", "variable: \"\"", "mounted: \"\"", "interfaces: 'lo '"] {
        assert!(printed.contains(shown), "'{shown}' is not in:\n{printed}");
    }
    assert!(!printed.contains("writable"), "{printed}");
    let more = ", mounts: [{type: bind, src: ./data, dst: /mounted}], envs: [SHOWN=shown]";
    let printed = build(&tree(&engine, "generators", "show", more), &[]).ok();
    assert!(printed.contains("variable: shown\n") && printed.contains("mounted: of-the-tree\n"), "{printed}");
    assert!(!printed.contains("writable"), "{printed}");
    let more = ", mounts: [{type: bind, src: ./data, dst: /mounted, rw: true}]";
    let here = tree(&engine, "generators", "show", more);
    let printed = build(&here, &["--as-current-user", "-e", "SHOWN=more"]).ok();
    let user = rustix::process::getuid().as_raw();
    assert!(printed.contains(&format!("user: \"{user}\"")) && printed.contains("variable: more\n"), "{printed}");
    assert!(printed.contains("writable: yes-it-is\n") && here.path().join("data/new").is_file(), "{printed}");
    let here = tree(&engine, "generators", "show", ", network: true");
    here.build(&[]).fails_with(&["network required but not enabled with --network"]);
}

#[test]
fn a_container_that_fails_fails_the_build_and_leaves_nothing() {
    let Some(engine) = engine() else { return };
    let said = build(&tree(&engine, "transformers", "fail", ""), &[])
        .fails_with(&["function ex.io/v1 F f: 'podman' failed: exit status: 3", "f.yaml:1:1"]);
    assert_eq!(said.matches("the function says no").count(), 1, "{said}");
    let here = tree(&engine, "transformers", "transform", "");
    here.write("f.yaml", &fs::read_to_string(here.path().join("f.yaml")).unwrap().replace(IMAGE, "localhost/none:1"));
    build(&here, &[]).fails_with(&["'podman' failed: exit status: 125", "localhost/none:1"]);
    assert_eq!(engine.containers(), "");
}

#[test]
fn a_container_that_hangs_ends_with_the_time_limit_and_is_gone() {
    let Some(engine) = engine() else { return };
    let here = tree(&engine, "transformers", "hang", "");
    here.build(&["--plugin-timeout", "4s"]).fails_with(&["'podman' took longer than 4 s"]);
    assert_eq!(engine.containers(), "");
}
