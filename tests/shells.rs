//! Completion in real shells, and man pages under real readers. Each shell loads the script as its
//! users do, and the words are those that the shell offers or writes.

use crate::support::{Tree, in_path, run, skip};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

const TREE: &str = "-- base/kustomization.yml --\nresources: []\n\
    -- overlays/dev/kustomization.yaml --\nresources: [../../base]\n\
    -- overlays/prod/kustomization.yaml --\nresources: [../../base]\n\
    -- .git/kustomization.yaml --\nresources: []\n\
    -- docs/readme.txt --\nx\n";

/// A tree, and a directory that a shell has in front of its PATH, with the tool under both names.
fn tree() -> Tree {
    let tree = Tree::new(TREE);
    fs::create_dir(tree.home().join("bin")).unwrap();
    for name in ["rustomize", "kustomize"] {
        symlink(crate::support::program(), tree.home().join("bin").join(name)).unwrap();
    }
    tree
}

/// The lines that a script of a shell prints.
#[track_caller]
fn lines(tree: &Tree, shell: &[&str], script: &str) -> Vec<String> {
    #[expect(clippy::disallowed_methods, reason = "the shell is the user's")]
    let mut command = Command::new(shell[0]);
    #[expect(clippy::disallowed_methods, reason = "where the programs of this machine are")]
    let path = format!("{}:{}", tree.home().join("bin").display(), std::env::var("PATH").unwrap());
    command.args(&shell[1..]).arg(script).current_dir(tree.path()).env("PATH", path).env("HOME", tree.home());
    let run = run(command.env("XDG_CONFIG_HOME", tree.home()).env("TERM", "dumb").env_remove("RUSTOMIZE_COMPLETE"));
    assert_eq!(run.stderr, "", "{script}");
    run.stdout.lines().map(str::to_owned).collect()
}

/// Lines, and some of the words that each shell has to offer for them.
const OFFERS: &[(&str, &[&str])] = &[
    ("build ", &["base", "overlays/dev", "overlays/prod"]),
    ("build overlays/p", &["overlays/prod"]),
    ("build --load-restrictor ", &["LoadRestrictionsRootOnly", "LoadRestrictionsNone"]),
    ("build --enable-alpha-plugins overlays/d", &["overlays/dev"]),
    ("build --enable-al", &["--enable-alpha-plugins"]),
    ("edit ", &["add", "set", "remove", "fix"]),
    ("edit set ", &["image", "replicas", "namespace", "nameprefix", "namesuffix"]),
    ("edit add patch --kind Depl", &["Deployment"]),
    ("edit remove patch --kind Cron", &["CronJob"]),
    ("edit set buildmetadata m", &["managedByLabel"]),
    ("plugin ins", &["install"]),
    ("completion ", &["bash", "zsh", "fish", "powershell"]),
    ("version -o ", &["yaml", "json"]),
];

/// Checks the offers of a shell under both names. `offers` gives the words for a line.
#[track_caller]
fn check(offers: impl Fn(&str, &str) -> Vec<String>) {
    for program in ["rustomize", "kustomize"] {
        for (line, words) in OFFERS {
            let found = offers(program, line);
            for word in *words {
                assert!(found.iter().any(|offer| offer == word), "{program} {line}: {word} is not in {found:?}");
            }
        }
        assert!(offers(program, "build ").iter().all(|word| !word.contains("git") && !word.starts_with('-')));
    }
}

#[test]
fn bash_completes() {
    if in_path("bash").is_none() {
        return skip("no bash");
    }
    let tree = tree();
    check(|program, line| {
        let count = line.split(' ').count();
        let last = line.rsplit(' ').next().unwrap();
        let words: Vec<String> = line.split(' ').map(|word| format!("'{word}'")).collect();
        let script = format!(
            "source <({program} completion bash)
             function=$(complete -p {program} | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
             COMP_WORDS=({program} {}) COMP_CWORD={count} COMP_TYPE=9
             $function {program} '{last}' x
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words.join(" ")
        );
        lines(&tree, &["bash", "--norc", "--noprofile", "-c"], &script)
    });
}

#[test]
fn fish_completes() {
    if in_path("fish").is_none() {
        return skip("no fish");
    }
    let tree = tree();
    check(|program, line| {
        let script = format!("{program} completion fish | source; complete -C '{program} {line}'");
        let offers = lines(&tree, &["fish", "--no-config", "-c"], &script);
        offers.iter().map(|offer| offer.split('\t').next().unwrap().to_owned()).collect()
    });
}

/// zsh completes only in its editor, so it gets a terminal, and a key that lists what it offers.
#[test]
fn zsh_completes() {
    if in_path("zsh").is_none() {
        return skip("no zsh");
    }
    let tree = tree();
    let script = |program: &str, line: &str| {
        format!(
            "zmodload zsh/zpty
             zpty shell zsh -f -i
             zpty -w shell 'PS1= PS2=; unsetopt zle_bracketed_paste prompt_cr prompt_sp; autoload -Uz compinit; compinit -u -D; source <({program} completion zsh); print RE''ADY'
             while zpty -r shell line; do [[ $line == *READY* ]] && break; done
             zpty -w -n shell $'{program} {line}\\t'$'\\x01'$'print -r -- \\'LINE \\x05 END\\'\\n'
             while zpty -r shell line; do [[ $line == LINE*END* ]] && break; done
             print -r -- \"$line\""
        )
    };
    for program in ["rustomize", "kustomize"] {
        for (line, word) in [
            ("build overlays/p", "overlays/prod"),
            ("build ba", "base"),
            ("edit add patch --kind Depl", "Deployment"),
            ("edit set namesp", "namespace"),
            ("build --enable-al", "--enable-alpha-plugins"),
            ("plugin ins", "install"),
        ] {
            let found = lines(&tree, &["zsh", "-f", "-c"], &script(program, line)).join("\n");
            assert!(found.split_whitespace().any(|part| part == word), "{program} {line}: {found:?}");
        }
    }
}

#[test]
fn powershell_completes() {
    if in_path("pwsh").is_none() {
        return skip("no PowerShell");
    }
    let tree = tree();
    check(|program, line| {
        let length = program.len() + 1 + line.len();
        let script = format!(
            "{program} completion powershell | Out-String | Invoke-Expression
             (TabExpansion2 '{program} {line}' {length}).CompletionMatches.CompletionText"
        );
        lines(&tree, &["pwsh", "-NoProfile", "-Command"], &script)
    });
}

#[test]
fn the_shell_has_to_be_known() {
    let tree = Tree::new("");
    tree.run(&["completion"]).fails_with(&["SHELL"]);
    tree.run(&["completion", "tcsh"]).fails_with(&["'tcsh'", "bash, zsh, fish, powershell"]);
    tree.run(&["completion", "bash", "x"]).fails_with(&["'x'"]);
    for shell in ["bash", "zsh", "fish", "powershell"] {
        assert!(tree.run(&["completion", shell]).ok().contains("RUSTOMIZE_COMPLETE"));
    }
}

/// A wrong call by a script is an error, and not a build.
#[test]
fn a_request_without_a_line_is_an_error() {
    let mut tree = Tree::new("");
    tree.variables.insert("RUSTOMIZE_COMPLETE", "bash".to_owned());
    tree.run(&["build"]).fails_with(&["no line to complete"]);
    tree.variables.insert("RUSTOMIZE_COMPLETE", "tcsh".to_owned());
    tree.run(&["--", "rustomize", ""]).fails_with(&["unknown shell, 'tcsh'"]);
}

#[test]
fn man_pages() {
    let tree = Tree::new("");
    tree.run(&["man", "pages/man1"]).ok();
    let pages = tree.path().join("pages/man1");
    let read = |name: &str| fs::read_to_string(pages.join(name)).unwrap();
    assert!(read("rustomize.1").contains("rustomize\\-build(1)"));
    let build = read("rustomize-build.1");
    for part in ["\\-\\-enable\\-helm", "How the results of several roots are split", "KRM FUNCTIONS", "Examples:"] {
        assert!(build.contains(part), "{part}");
    }
    assert!(read("rustomize-edit-set-image.1").contains("rustomize edit set image"));
    assert!(!pages.join("rustomize-man.1").exists(), "a hidden command has a page");
    // Twice the same bytes.
    tree.run(&["man", "again"]).ok();
    for entry in fs::read_dir(&pages).unwrap() {
        let name = entry.unwrap().file_name();
        assert_eq!(fs::read(pages.join(&name)).unwrap(), fs::read(tree.path().join("again").join(&name)).unwrap());
    }
    let mut readers = 0;
    for reader in [
        &["mandoc", "-Tlint", "-W", "error"][..],
        &["groff", "-ww", "-man", "-Tutf8", "-K", "utf8", "-z"],
        &["man", "--warnings", "--local-file", "--pager=true"],
    ] {
        if in_path(reader[0]).is_some() {
            readers += 1;
            check_pages(&pages, reader);
        }
    }
    if readers == 0 {
        skip("no mandoc, groff or man");
    }
}

/// A reader of man pages has nothing to say about any page.
#[track_caller]
fn check_pages(pages: &Path, reader: &[&str]) {
    let mut count = 0;
    for entry in fs::read_dir(pages).unwrap() {
        #[expect(clippy::disallowed_methods, reason = "the reader is the user's")]
        let mut command = Command::new(reader[0]);
        let run = run(command.args(&reader[1..]).arg(entry.unwrap().path()).env("LC_ALL", "C.UTF-8"));
        assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "{reader:?}: {}", run.stdout);
        count += 1;
    }
    assert!(count > 60, "{count} pages");
}
