//! README and docs: the walks of docs/tour.md, docs/fleet.md and docs/plugin/use.md run word for
//! word, links lead to files, the repository has one address, flags and variables exist, pictures
//! are those of their scripts, words are those of docs/glossary.md, and the documented JSON fields
//! are those that are printed.

use crate::support::reference::kustomize;
use crate::support::{Run, Tree, files, in_path, run, skip};
use regex::Regex;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// A block of a page between fences: the words behind the opening fence, the file that the line
/// above the fence names, the line of the first line in it, and its text.
struct Block {
    info: String,
    file: Option<String>,
    line: usize,
    text: String,
}

/// The file that a line names for the block below it, as in "In `a/b.yaml`:".
fn named_file(line: &str) -> Option<String> {
    let (_, file) = line.strip_suffix("`:")?.rsplit_once('`')?;
    (!file.contains(' ')).then(|| file.to_owned())
}

/// The blocks of a page.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let (mut open, mut above): (Option<Block>, &str) = (None, "");
    for (number, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), open.as_mut()) {
            (Some(info), None) => {
                let file = named_file(above);
                open = Some(Block { info: info.to_owned(), file, line: number + 2, text: String::new() });
            }
            (Some(_), Some(_)) => {
                blocks.extend(open.take());
                above = "";
            }
            (None, Some(block)) => block.text += &format!("{line}\n"),
            (None, None) if line.is_empty() => {}
            (None, None) => above = line,
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

/// A shell in an empty home, with the built tool first in PATH.
pub struct Shell {
    pub tree: Tree,
    pub directory: PathBuf,
    /// Further variables of the scripts.
    pub variables: Vec<(&'static str, PathBuf)>,
}

impl Shell {
    pub fn new() -> Shell {
        let tree = Tree::new("");
        let bin = tree.path().join("bin");
        fs::create_dir(&bin).unwrap();
        symlink(crate::support::program(), bin.join("rustomize")).unwrap();
        let settings = "[user]\nname = you\nemail = you@example.com\n[init]\ndefaultBranch = main\n";
        fs::write(tree.home().join(".gitconfig"), settings).unwrap();
        let directory = tree.home();
        Shell { tree, directory, variables: Vec::new() }
    }

    /// Writes a file below the directory where the last script ended. One that starts with `#!` can
    /// be run.
    fn write(&self, file: &str, text: &str) {
        let path = self.directory.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Runs a script in the directory where the last one ended. The first command that fails ends
    /// it.
    fn run(&mut self, script: &str) -> Run {
        let place = self.tree.tmp().join("pwd");
        #[expect(clippy::disallowed_methods, reason = "pages are written for a shell")]
        let mut command = Command::new("/bin/sh");
        command.args(["-euc", &format!("trap 'pwd > \"$PLACE\"' EXIT\n{script}")]).current_dir(&self.directory);
        command.env_clear().stdin(Stdio::null()).env("PLACE", &place).env("HOME", self.tree.home());
        command.env("PATH", format!("{}:/usr/bin:/bin", self.tree.path().join("bin").display()));
        command.env("TMPDIR", self.tree.tmp()).envs(self.variables.clone());
        let done = run(&mut command);
        self.directory = fs::read_to_string(&place).unwrap().trim_end().into();
        done
    }
}

/// Runs the `console` blocks of a page in order in one shell, as docs/testing.md says, and compares
/// what they print with the `text` blocks behind them.
fn walk(name: &str) {
    walk_in(name, Shell::new());
}

/// As [`walk`], in a shell whose directory has files.
pub fn walk_in(name: &str, mut shell: Shell) {
    let page = read(name);
    let blocks = blocks(&page);
    let home = shell.tree.home().display().to_string();
    for (i, block) in blocks.iter().enumerate() {
        let wanted_status = match block.info.as_str() {
            "console" => 0,
            "console fails" => 1,
            "text" => {
                let above = i.checked_sub(1).map(|above| blocks[above].info.as_str());
                assert!(above.is_some_and(|info| info.starts_with("console")), "{name}:{}: prints nothing", block.line);
                continue;
            }
            "yaml" | "sh" | "js" | "python" | "json" => {
                // Without a name: a file for a program that this machine lacks, or a command of that
                // program.
                if let Some(file) = &block.file {
                    shell.write(file, &block.text);
                }
                continue;
            }
            other => panic!("{name}:{}: unknown block '{other}'", block.line),
        };
        let at = format!("{name}:{}", block.line);
        let done = shell.run(&block.text);
        assert_eq!(done.status, Some(wanted_status), "{at}\n{}{}", done.stdout, done.stderr);
        let printed = if wanted_status == 0 { &done.stdout } else { &done.stderr };
        let printed = printed.replace(&home, "/home/you");
        if let Some(wanted) = blocks.get(i + 1).filter(|next| next.info == "text") {
            assert_eq!(printed, wanted.text, "{at}");
        }
    }
}

/// True if git and bash are in the PATH of the walk.
fn has_tools() -> bool {
    ["git", "bash"].iter().all(|name| ["/usr/bin", "/bin"].iter().any(|folder| Path::new(folder).join(name).exists()))
}

#[test]
fn commands_of_the_use_page_run_word_for_word() {
    if !has_tools() {
        return skip("the walk needs git and bash in /usr/bin");
    }
    walk("docs/plugin/use.md");
}

#[test]
fn the_page_about_a_fleet_runs_word_for_word() {
    if !has_tools() {
        return skip("the page needs git and bash in /usr/bin");
    }
    let mut shell = Shell::new();
    shell.directory = shell.tree.home().join("fleet");
    crate::support::fleet::make(&shell.directory);
    shell.run("git init -q\ngit add .\ngit commit -q -m 'The fleet'\n").ok();
    walk_in("docs/fleet.md", shell);
}

#[test]
fn the_pages_about_gitops_run_word_for_word() {
    if !has_tools() {
        return skip("the pages need git and bash in /usr/bin");
    }
    for page in files(&root().join("docs/gitops"), ".md") {
        walk(page.strip_prefix(root()).unwrap().to_str().unwrap());
    }
}

#[test]
fn the_page_about_the_mcp_server_runs_word_for_word() {
    if !Path::new("/usr/bin/python3").exists() {
        return skip("the page needs python3 in /usr/bin");
    }
    walk("docs/embed/mcp.md");
}

#[test]
fn the_page_about_python_runs_word_for_word() {
    if !Path::new("/usr/bin/python3").exists() {
        return skip("the page needs python3 in /usr/bin");
    }
    let mut shell = Shell::new();
    shell.variables =
        vec![("PYTHONPATH", root().join("bindings/python")), ("RUSTOMIZE", crate::support::program().into())];
    shell.variables.push(("PYTHONDONTWRITEBYTECODE", "1".into()));
    walk_in("docs/embed/python.md", shell);
}

/// The documents of the YAML blocks of a page.
fn yaml(name: &str) -> Vec<Value> {
    let blocks = blocks(&read(name)).into_iter().filter(|block| block.info.starts_with("yaml"));
    blocks.flat_map(|block| crate::support::edit::decoded_all(&block.text)).collect()
}

/// Files on the pages for other programs: the YAML can be read, and the commands in it run.
#[test]
fn commands_in_files_for_other_programs_run() {
    let tree = Tree::new(
        "-- base/kustomization.yaml --\nresources: [map.yaml]\n-- base/map.yaml --\napiVersion: v1\nkind: ConfigMap\n\
         metadata: {name: m}\n-- north/kustomization.yaml --\nresources: [../base]\nnamePrefix: n-\n",
    );
    let bin = tree.home().join("bin");
    fs::create_dir(&bin).unwrap();
    symlink(crate::support::program(), bin.join("rustomize")).unwrap();
    let call = |place: &str, words: &[&str], variables: &[(&str, &str)]| {
        #[expect(clippy::disallowed_methods, reason = "the caller's own process")]
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(tree.path().join(place)).env_clear().stdin(Stdio::null());
        command.env("PATH", format!("{}:/usr/bin:/bin", bin.display())).env("HOME", tree.home());
        command.env("TMPDIR", tree.tmp()).envs(variables.iter().copied());
        run(&mut command)
    };
    // Argo CD's plugin.
    let documents = yaml("docs/gitops/argocd.md");
    let plugin = documents.iter().find_map(|document| document["data"]["plugin.yaml"].as_str()).unwrap();
    let plugin = crate::support::edit::decoded_all(plugin).remove(0);
    let words: Vec<&str> =
        plugin["spec"]["generate"]["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!(call("north", &words, &[]).ok(), tree.run(&["build", "north"]).ok());
    // GitLab's jobs.
    crate::support::git(&tree.path(), &["init", "-q"]);
    crate::support::git(&tree.path(), &["add", "."]);
    crate::support::git(&tree.path(), &["commit", "-q", "-m", "a"]);
    let base = crate::support::git(&tree.path(), &["rev-parse", "HEAD"]);
    let jobs = yaml("docs/gitops/gitlab.md").into_iter().find(|file| file["render"].is_object()).unwrap();
    let script = |job: &str| {
        let lines = jobs[job]["script"].as_array().unwrap().iter().map(|line| line.as_str().unwrap());
        lines.collect::<Vec<_>>().join("\n")
    };
    let variables = [("CI_MERGE_REQUEST_DIFF_BASE_SHA", base.as_str())];
    call(".", &["sh", "-ec", &script("render")], &variables).ok();
    assert!(tree.path().join("rendered/north.yaml").exists());
    call(".", &["sh", "-ec", &script("check")], &variables).ok();
    tree.write("north/kustomization.yaml", "resources: [../base]\nnamePrefixx: n-\n");
    tree.write("other/kustomization.yaml", "resources: [gone.yaml]\n");
    crate::support::git(&tree.path(), &["commit", "-q", "-a", "-m", "b"]);
    let refused = call(".", &["sh", "-ec", &script("check")], &variables);
    assert!(refused.status == Some(1) && refused.stderr.contains("in north\n"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("gone.yaml"), "{}", refused.stderr);
    // GitHub's action: the step that builds, with its inputs. tests/shelves runs the others, too.
    let action = crate::support::edit::decoded_all(&read(".github/actions/build/action.yml")).remove(0);
    let steps = action["runs"]["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["run"].as_str().is_some_and(|run| run.contains("/run\""))).unwrap();
    let folder = root().join(".github/actions/build").to_string_lossy().into_owned();
    let act = |inputs: &[(&str, &str)]| {
        let mut variables = vec![("GITHUB_ACTION_PATH", folder.as_str())];
        for (variable, value) in step["env"].as_object().unwrap() {
            let input = value.as_str().unwrap().trim_start_matches("${{ inputs.").trim_end_matches(" }}");
            assert!(action["inputs"][input]["default"].is_string(), "{input}");
            let given = inputs.iter().find(|(name, _)| *name == input).map(|(_, value)| *value);
            variables.push((variable.as_str(), given.or(action["inputs"][input]["default"].as_str()).unwrap()));
        }
        call(".", &["bash", "-c", step["run"].as_str().unwrap()], &variables)
    };
    let annotation =
        "::error file=north/kustomization.yaml,line=2,col=1,title=unknown-field::unknown field \"namePrefixx\"%0A";
    let since = act(&[("changed-since", &base)]);
    assert_eq!((since.status, since.stdout.as_str()), (Some(1), ""), "{}", since.stderr);
    assert!(since.stderr.contains(annotation) && !since.stderr.contains("gone.yaml"), "{}", since.stderr);
    let all = act(&[]);
    assert!(all.status == Some(1) && all.stderr.contains(annotation), "{}", all.stderr);
    assert!(all.stderr.contains("file=other/kustomization.yaml,line=1,col=13,title="), "{}", all.stderr);
    assert_eq!(act(&[("directory", "base"), ("output", "made"), ("flags", "--enable-helm")]).ok(), "");
    assert!(tree.path().join("made/base.yaml").exists());
}

#[test]
fn the_tour_runs_word_for_word() {
    walk("docs/tour.md");
}

/// All pages of the project.
fn pages() -> Vec<PathBuf> {
    let mut pages = files(&root().join("docs"), ".md");
    let others =
        ["README.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md", "plugin/README.md"];
    pages.extend(others.map(|name| root().join(name)));
    pages.extend(files(&root().join(".github"), ".md"));
    pages
}

/// The address of the repository, of which Cargo.toml is the only source.
const ADDRESS: &str = env!("CARGO_PKG_REPOSITORY");

/// A text in which every address of the repository is [`ADDRESS`]: as a URL, and without the host
/// before `/.github/`, where a workflow names an action, and where mise and gh name a project.
fn with_address(text: &str) -> String {
    // Most pages have none. The expressions are slow in a debug build.
    if !text.contains("/rustomize") {
        return text.to_owned();
    }
    let own = ADDRESS.splitn(4, '/').nth(3).unwrap();
    let url = Regex::new(r"https?://[\w.:-]+/[\w.-]+/rustomize([^\w-]|$)").unwrap();
    let action = Regex::new(r"[\w.-]+/rustomize(/\.github/)").unwrap();
    let project = Regex::new(r"(github:|--repo )[\w.-]+/rustomize").unwrap();
    let text = url.replace_all(text, format!("{ADDRESS}${{1}}"));
    let text = action.replace_all(&text, format!("{own}${{1}}"));
    project.replace_all(&text, format!("${{1}}{own}")).into_owned()
}

#[test]
fn address_of_the_repository_is_that_of_cargo_toml() {
    let own = ADDRESS.splitn(4, '/').nth(3).unwrap();
    let other =
        "https://a.io:1/b/rustomize/c b/rustomize/.github/d https://a.io/b/rustomize-plugin-c github:b/rustomize";
    let wanted = format!("{ADDRESS}/c {own}/.github/d https://a.io/b/rustomize-plugin-c github:{own}");
    assert_eq!(with_address(other), wanted);
    let mut pages = pages();
    pages.extend(files(&root().join(".github"), ".yml"));
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        count += text.matches(ADDRESS).count();
        let wanted = with_address(&text);
        if text != wanted && std::env::var_os("UPDATE").is_some() {
            fs::write(&page, &wanted).unwrap();
        } else if text != wanted {
            wrong.push(format!("{} has another address: UPDATE=1 writes it", page.display()));
        }
        if !ADDRESS.contains("/OWNER/") && wanted.contains("OWNER") {
            wrong.push(format!("{} says that the owner is not known", page.display()));
        }
    }
    assert!(count > 3, "the pages name the address {count} times");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_book_has_every_page_once() {
    let summary = read("docs/SUMMARY.md");
    let listed = summary.split("](").skip(1).map(|after| after.split(')').next().unwrap().to_owned());
    let mut listed: Vec<String> = listed.collect();
    listed.sort();
    let docs = root().join("docs");
    let written = files(&docs, ".md").into_iter().map(|page| page.strip_prefix(&docs).unwrap().display().to_string());
    let mut written: Vec<String> = written.filter(|page| page != "SUMMARY.md").collect();
    written.sort();
    assert_eq!(listed, written);
}

/// The output of a program that runs in the directory of the project.
fn print_of(program: &Path, args: &[&str]) -> String {
    #[expect(clippy::disallowed_methods, reason = "the script that makes a picture, or the other tool")]
    let mut command = Command::new(program);
    run(command.args(args).current_dir(root())).ok()
}

#[test]
fn pictures_are_those_of_their_scripts() {
    if in_path("python3").is_none() {
        return skip("python3 is not in PATH");
    }
    let table = print_of(&root().join("docs/pictures/chart"), &["table"]);
    assert!(read("docs/how-fast.md").contains(&table), "the table is not that of docs/pictures/chart table");
    let drawn = print_of(&root().join("docs/pictures/chart"), &["draw"]);
    assert_eq!(drawn, read("docs/pictures/chart.svg"), "docs/pictures/chart draw > docs/pictures/chart.svg");
    let recorded = print_of(&root().join("docs/pictures/record"), &[crate::support::program()]);
    assert_eq!(recorded, read("docs/pictures/terminal.svg"), "docs/pictures/record TOOL > docs/pictures/terminal.svg");
}

/// The first set-up command of README: a tree with exec plugins.
#[test]
fn the_example_of_the_readme_is_the_same_in_kustomize() {
    let readme = read("README.md");
    let line = readme.lines().find(|line| line.starts_with("cargo build --release && ")).unwrap();
    let (home, args) = ("plugin/example/exec/home", ["build", "--enable-alpha-plugins", "plugin/example/exec/shop"]);
    assert!(line.ends_with(&args.join(" ")) && line.contains(&format!("KUSTOMIZE_PLUGIN_HOME=$PWD/{home} ")), "{line}");
    let build = |program: &Path| {
        #[expect(clippy::disallowed_methods, reason = "this tool and the other one")]
        let mut command = Command::new(program);
        run(command.args(args).current_dir(root()).env("KUSTOMIZE_PLUGIN_HOME", root().join(home))).ok()
    };
    let ours = build(Path::new(crate::support::program()));
    let built = Some(kustomize()).filter(|program| program.exists());
    let Some(kustomize) = built.or_else(|| in_path("kustomize")) else {
        return skip(".ci/oracle has not been run, and kustomize is not in PATH");
    };
    assert_eq!(ours, build(&kustomize));
}

/// The words of a text that begin with `start` and have only letters of `is_letter` then.
fn words_with(text: &str, start: &str, is_letter: impl Fn(char) -> bool) -> BTreeSet<String> {
    let after = text.split(start).skip(1);
    after
        .map(|after| after.chars().take_while(|c| is_letter(*c)).collect())
        .filter(|w: &String| !w.is_empty())
        .collect()
}

/// Flags of cargo, git, kustomize, container engines and benches in lines that also name the tool,
/// and `upgrade`, which help does not show.
const FLAGS_OF_OTHERS: [&str; 10] =
    ["cidfile", "exec", "fn-config", "git", "release", "runs", "shapes", "sizes", "timeout", "upgrade"];

#[test]
fn flags_that_pages_name_exist() {
    let tree = Tree::new("");
    tree.run(&["man", "man"]).ok();
    let manuals = files(&tree.path().join("man"), ".1").into_iter().map(|page| fs::read_to_string(page).unwrap());
    let help = manuals.collect::<String>().replace("\\-", "-");
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    let known = words_with(&help, "--", is_letter);
    assert!(known.len() > 60, "{known:?}");
    let mut wrong = Vec::new();
    // docs/compatibility.md lists the flags of kustomize.
    for page in pages().into_iter().filter(|page| !page.ends_with("compatibility.md")) {
        let text = fs::read_to_string(&page).unwrap();
        // A line without the tool's name may call another program.
        for line in text.lines().filter(|line| line.contains("rustomize ") || line.contains("`--")) {
            let named = words_with(line, "--", is_letter).into_iter().map(|flag| flag.replace('_', "-"));
            // `--plugin-allow-...` names several flags.
            let is_known = |flag: &str| match flag.strip_suffix('-') {
                Some(start) => known.iter().any(|known| known.starts_with(start)),
                None => known.contains(flag) || FLAGS_OF_OTHERS.contains(&flag),
            };
            let unknown = named.filter(|flag| !is_known(flag));
            wrong.extend(unknown.map(|flag| format!("{}: --{flag}", page.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn variables_that_pages_name_exist() {
    let mut sources = String::new();
    for folder in ["src", "tests", "plugin", "fuzz/src", "fuzz/targets", ".ci", "release"] {
        for path in files(&root().join(folder), "").into_iter().filter(|path| !path.ends_with("Cargo.lock")) {
            if !path.to_string_lossy().contains("/target/") {
                sources += &String::from_utf8_lossy(&fs::read(path).unwrap());
            }
        }
    }
    let mut wrong = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for start in ["RUSTOMIZE_", "KUSTOMIZE_"] {
            let named = words_with(&text, start, |c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
            let names = named.into_iter().map(|rest| format!("{start}{rest}"));
            // The rest of this name is a host.
            let unknown = names.filter(|name| !sources.contains(name) && !name.starts_with("RUSTOMIZE_TOKEN_"));
            wrong.extend(unknown.map(|name| format!("{}: {name}", page.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn links_of_pages_lead_to_files() {
    let pages = pages();
    let mut wrong = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|after| after.split(')').next()) {
            let path = link.split('#').next().unwrap();
            let is_elsewhere = path.is_empty() || path.contains("://");
            if !is_elsewhere && !page.parent().unwrap().join(path).exists() {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The rows of the first table of a text: the cells of each, without the head.
fn rows(text: &str) -> Vec<Vec<String>> {
    let table = text.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells = |line: &str| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
    table.skip(2).map(cells).collect()
}

#[test]
fn the_glossary_is_short_and_says_where_each_word_occurs() {
    let words = rows(&read("docs/glossary.md"));
    assert!((10..=20).contains(&words.len()), "{} words", words.len());
    for word in words {
        assert_eq!(word.len(), 3, "{word:?}");
        assert!(word.iter().all(|cell| !cell.is_empty()) && word[2].contains('`'), "{word:?}");
        assert!(word[1].ends_with('.') && !word[1].contains(". "), "one sentence: {word:?}");
    }
}

/// Words that docs/glossary.md has replaced.
const RETIRED: [&str; 10] = [
    "component",
    "components",
    "mode",
    "placement",
    "placements",
    "plugin home",
    "plugin homes",
    "candidate",
    "candidates",
    "ambient",
];

/// The retired words of a text, but for names in backticks and names with an underscore.
fn retired(text: &str) -> Vec<&'static str> {
    let prose: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ").to_lowercase();
    let words: Vec<&str> = prose.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').collect();
    let words = format!(" {} ", words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "));
    RETIRED.into_iter().filter(|word| words.contains(&format!(" {word} "))).collect()
}

/// The commands of `plugin`, as its help lists them.
fn commands(tree: &Tree) -> Vec<String> {
    let help = tree.run(&["plugin", "--help"]).ok();
    let groups = help.split("\nOptions:").next().unwrap();
    let named = groups.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let mut names: Vec<String> = named.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect();
    names.push("help".to_owned());
    assert!(names.len() > 15, "{names:?}");
    names
}

#[test]
fn retired_words_are_in_no_help_and_no_page() {
    assert_eq!(retired("the component of a `mode`, KUSTOMIZE_PLUGIN_MODE"), ["component"]);
    let tree = Tree::new("");
    let mut texts = Vec::new();
    for command in commands(&tree) {
        let help = if command == "help" { "plugin --help".to_owned() } else { format!("plugin {command} --help") };
        let args: Vec<&str> = help.split(' ').collect();
        texts.push((help.clone(), tree.run(&args).ok()));
    }
    for page in files(&root().join("docs/plugin"), ".md") {
        texts.push((page.display().to_string(), fs::read_to_string(&page).unwrap()));
    }
    let wrong: Vec<_> = texts.iter().map(|(name, text)| (name, retired(text))).filter(|(_, w)| !w.is_empty()).collect();
    assert!(wrong.is_empty(), "docs/glossary.md has other words: {wrong:?}");
}

/// The names of the fields of a JSON value and of the objects in it, with dots between them.
fn fields(value: &Value, prefix: &str, into: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| fields(item, prefix, into)),
        Value::Object(entries) => {
            for (name, value) in entries {
                let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                fields(value, &name, into);
                into.insert(name);
            }
        }
        _ => {}
    }
}

/// A tree that requires the plugin `app` of its own directory, and a bundle on a server.
const SHOP: &str = "\
-- app/plugin.yaml --
apiVersion: rustomize.dev/v1
kind: Plugin
name: app
version: 1.0.0
runtime: bash
entry: main.sh
generators: [{apiVersion: ex.io/v1, kind: Made}]
-- app/main.sh --
#!/bin/bash
printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\n'
-- made.yaml --
apiVersion: ex.io/v1
kind: Made
metadata: {name: made}
-- kustomization.yaml --
generators: [made.yaml]
";

#[test]
fn documented_json_fields_are_those_that_are_printed() {
    let tree = Tree::new(SHOP);
    let source = "h.io/acme/app";
    let mut printed: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut call = |args: &[&'static str]| {
        let run = tree.run(&[&["plugin"], args, &["-o", "json"]].concat());
        assert!(run.stdout.starts_with('['), "{args:?}: {}{}", run.stdout, run.stderr);
        fields(&serde_json::from_str(&run.stdout).unwrap(), "", printed.entry(args[0]).or_default());
    };
    call(&["add", source, "--from", "./app"]);
    call(&["install"]);
    call(&["lock"]);
    call(&["update"]);
    call(&["list"]);
    call(&["why", "ex.io/v1/Made"]);
    call(&["export", "laid"]);
    // A version that nothing needs, a version whose installation did not finish, a changed version,
    // and a required plugin that is not installed.
    let manifest = tree.path().join("app/plugin.yaml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("1.0.0", "1.1.0")).unwrap();
    tree.run(&["plugin", "install", "--no-project", "--path", "app", source]).ok();
    fs::write(&manifest, text.replace("1.0.0", "1.2.0")).unwrap();
    tree.run(&["plugin", "install", "--no-project", "--path", "app", source]).ok();
    call(&["prune", "--dry-run"]);
    let folder = tree.home().join(".config/rustomize/plugins/h.io/acme/app");
    tree.run(&["plugin", "install", "--no-project", "--path", "app", "h.io/acme/other/app"]).ok();
    let other = folder.parent().unwrap().join("other/app/rustomize-plugin-app_v1.2.0_x1.0_any_any");
    fs::write(other.join("main.sh"), "changed").unwrap();
    fs::write(folder.join("rustomize-plugin-app_v1.1.0_x1.0_any_any.partial"), "ended").unwrap();
    let requirements = fs::read_to_string(tree.path().join("plugins.yaml")).unwrap();
    tree.write("plugins.yaml", &format!("{requirements}  gone: {{source: h.io/acme/gone, from: ./gone}}\n"));
    fs::remove_file(tree.path().join("plugins.lock")).unwrap();
    call(&["list"]);
    call(&["verify"]);
    call(&["remove", source]);
    let page = read("docs/plugin/operate.md");
    let section = page.split_once("\n## JSON output\n").unwrap().1;
    for row in rows(section) {
        let documented: BTreeSet<String> = row[1].split(' ').map(|name| name.trim_matches('`').to_owned()).collect();
        for command in row[0].split(", ").map(|name| name.trim_matches('`').trim_start_matches("plugin ")) {
            // tests/environment.rs runs servers.
            if command == "sync" {
                continue;
            }
            assert_eq!(printed.get(command), Some(&documented), "plugin {command}");
        }
    }
    assert!(printed.len() >= 10, "{:?}", printed.keys());
}
