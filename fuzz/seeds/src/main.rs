//! Writes what each target begins with, from the project's testdata: `seeds FOLDER`.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::HashMap;
use std::fs;
use std::io::{self, Cursor, Write};
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;

#[path = "../../src/txtar.rs"]
mod txtar;

/// As in the targets.
const BETWEEN: &str = "\n=====\n";

fn main() -> io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1) else {
        return Err(io::Error::other("say where: seeds FOLDER"));
    };
    let mut seeds = Seeds { folder: PathBuf::from(folder), count: HashMap::new() };
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    trees(&testdata, &mut seeds)?;
    lines(&testdata, &mut seeds)?;
    references(&mut seeds)?;
    records(&mut seeds)?;
    exports(&mut seeds)?;
    frames(&mut seeds)?;
    archives(&mut seeds)
}

struct Seeds {
    folder: PathBuf,
    count: HashMap<&'static str, usize>,
}

impl Seeds {
    fn add(&mut self, target: &'static str, content: impl AsRef<[u8]>) -> io::Result<()> {
        let count = self.count.entry(target).or_default();
        *count += 1;
        let folder = self.folder.join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("seed-{count:04}")), content)
    }
}

/// Every case is a tree; its files are documents; two of them are a resource and a patch.
fn trees(directory: &Path, seeds: &mut Seeds) -> io::Result<()> {
    let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::path);
    for path in entries.iter().map(fs::DirEntry::path) {
        if path.is_dir() {
            trees(&path, seeds)?;
        } else if path.extension().is_some_and(|extension| extension == "txtar") {
            let case = fs::read_to_string(&path)?;
            let mut files = txtar::files(&case);
            files.retain(|(name, _)| !matches!(*name, "args" | "env" | "stdout" | "stderr" | "want"));
            seeds.add("tree", files.iter().map(|(name, text)| format!("-- {name} --\n{text}")).collect::<String>())?;
            let tree: String = files.iter().map(|(name, text)| format!("-- {name} --\n{text}")).collect();
            seeds.add("command", format!("--lint{BETWEEN}{tree}"))?;
            seeds.add("editor", conversation(&files))?;
            files.iter().try_for_each(|(_, text)| seeds.add("reader", text))?;
            for pair in files.windows(2) {
                seeds.add("patch", [pair[0].1, pair[1].1].join(BETWEEN))?;
            }
        }
    }
    Ok(())
}

/// Recorded patterns and documents, a JSON object in each line.
fn lines(testdata: &Path, seeds: &mut Seeds) -> io::Result<()> {
    let objects = |path: &str| -> io::Result<Vec<serde_json::Value>> {
        fs::read_to_string(testdata.join(path))?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
    };
    for object in objects("go_regexp/matches.jsonl")? {
        let subject = object["yes"].as_array().and_then(|texts| texts.first()).and_then(|text| text.as_str());
        let pattern = object["pattern"].as_str().unwrap_or_default();
        seeds.add("pattern", format!("{pattern}\n{}", subject.unwrap_or("web")))?;
    }
    for object in objects("yaml/experiments.jsonl")? {
        for text in object.as_object().into_iter().flatten().filter_map(|(_, value)| value.as_str()) {
            seeds.add("reader", text)?;
        }
    }
    Ok(())
}

fn references(seeds: &mut Seeds) -> io::Result<()> {
    [
        "https://github.com/acme/app//base?ref=v1.2.3&timeout=90s&submodules=false",
        "git@github.com:acme/app.git//deploy/base?ref=main",
        "git::ssh://git@example.com:2222/acme/app.git?ref=0123456789012345678901234567890123456789",
        "file:///srv/app.git//base?ref=refs/heads/main",
        "https://dev.azure.com/acme/project/_git/app//base?version=main",
        "github.com/acme/app/base",
        "../base",
        "example.com/acme/app",
        "example.com/acme/**",
        "*.example.com/acme/*",
        "https://example.com/{name}_v{version}_{os}_{arch}.tar.gz",
        "oci://example.com/acme/app",
        "git::https://example.com/acme/app.git",
        "file:///srv/plugins",
        "./plugins/app",
        ">=1.2.0, <2.0.0",
        "~>1.2.3-rc.1",
        "=1.2.3",
        "rustomize-plugin-app_v1.2.3_x1.0_linux_amd64",
    ]
    .iter()
    .try_for_each(|text| seeds.add("reference", text))
}

fn records(seeds: &mut Seeds) -> io::Result<()> {
    let head = "apiVersion: rustomize.dev/v1\n";
    let hex = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    let sum = format!("sha256:{hex}");
    [
        format!("r{head}kind: PluginRequirements\nrequires:\n  app:\n    source: example.com/acme/app\n    version: ~>1.2\n  b:\n    source: example.com/b/b\n    version: 1.0.0\n    from: ./b\n"),
        format!("t{head}kind: TrustPolicy\nrules:\n- {{source: 'example.com/acme/*', permissions: {{network: true, read: [/etc/hosts]}}}}\n- source: '**'\n  deny: true\n"),
        format!("m{head}kind: Plugin\nversion: 1.0.0\nruntime: python\ngenerators: [{{apiVersion: ex.io/v1, kind: Made}}]\n"),
        "pruntime:\n  name: nodejs\n  options: {typescript: true}\nversion: 1.0.0\n".to_owned(),
        format!("c{{\"type\": \"object\", \"required\": [\"spec\"], \"properties\": {{\"spec\": {{\"oneOf\": [{{\"type\": \"integer\", \"minimum\": 1}}, {{\"type\": \"string\", \"pattern\": \"^a+$\"}}]}}}}}}{BETWEEN}apiVersion: v1\nkind: A\nmetadata:\n  name: a\nspec: aa\n"),
        format!("f[{{\"path\": \"v1/a/A\", \"sha256\": \"{hex}\", \"size\": 3, \"mode\": 493, \"uid\": 0, \"gid\": 0}}]"),
        format!("g{{\"lockVersion\": 1, \"git\": {{\"https://example.com/a\": {{\"version\": \"{}\", \"content\": \"{sum}\"}}}}, \"files\": {{\"https://example.com/b.yaml\": {{\"content\": \"{sum}\"}}}}}}", &hex[..40]),
        "i{\"source\": \"example.com/acme/app\", \"origin\": \"https://example.com/x\", \"signer\": \"RWQ\", \"version\": \"1.0.0\", \"sum\": \"00\", \"askedBy\": \"project\", \"download\": {\"platform\": \"any_any\", \"url\": \"https://example.com/x\", \"size\": 3}}".to_owned(),
        format!("nrequests[socks]==2.0; python_version > '3' \\\n  --hash=sha256:{hex} # why\n"),
        "n{\"lockfileVersion\": 3, \"packages\": {\"\": {\"dependencies\": {\"a\": \"1.0.0\"}}, \"node_modules/a\": {\"version\": \"1.0.0\", \"resolved\": \"https://example.com/a.tgz\", \"integrity\": \"sha256-ASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze8=\"}}}".to_owned(),
        format!("n{{\"version\": \"4\", \"jsr\": {{\"@std/a@1.0.0\": {{\"integrity\": \"{hex}\"}}}}, \"remote\": {{\"https://example.com/a.ts\": \"{hex}\"}}}}"),
        format!("oexample.com:5000/acme/app:v1@{sum}"),
        format!("srustomize-plugin source=example.com/acme/app version=1.0.0 platform=linux_amd64 sha256={hex}"),
        "d{\"version\": \"1.0.0\", \"apiVersion\": \"x1.0\", \"sdkVersion\": \"1\", \"generators\": [{\"name\": \"a\", \"apiVersion\": \"ex.io/v1\", \"kind\": \"A\"}], \"permissions\": {\"network\": true}}".to_owned(),
        format!("l{{\"lockVersion\": 1, \"plugins\": {{\"example.com/acme/app\": {{\"version\": \"1.0.0\", \"constraint\": \"\", \"platforms\": {{\"linux_amd64\": {{\"url\": \"https://example.com/a\", \"size\": 3, \"content\": \"{sum}\"}}}}}}}}}}"),
    ]
    .iter()
    .try_for_each(|text| seeds.add("record", text))
}

/// Lists of exported plugins, with launchers.
fn exports(seeds: &mut Seeds) -> io::Result<()> {
    let launcher = "#!/bin/sh\n# example.com/acme/app v1.0.0, written by 'rustomize plugin export'.\nexec app \"$@\"\n";
    for path in ["v1/app/App", "link/v1/app/App", "../outside/v1/app/App"] {
        let list = format!("{{\"files\": {{\"{path}\": \"SUM-0\", \"v1/b/B\": \"SUM-1\"}}}}");
        seeds.add("exported", format!("{list}{BETWEEN}-- v1/app/App --\n{launcher}-- v1/b/B --\n#!/bin/sh\n"))?;
    }
    Ok(())
}

/// The bytes of a frame: kind, length, content.
fn frame(kind: u8, content: &str) -> Vec<u8> {
    [&[kind][..], &(content.len() as u64).to_le_bytes(), content.as_bytes()].concat()
}

fn frames(seeds: &mut Seeds) -> io::Result<()> {
    let resource = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations:\n    kustomize.config.k8s.io/needs-hash: \"true\"\n";
    let list = format!("apiVersion: v1\nkind: List\nitems:\n- {}", resource.replace('\n', "\n  "));
    seeds.add("frame", [frame(0, resource), frame(0, &list), frame(1, "it failed")].concat())?;
    let mut request = String::new();
    for text in [resource, "/root", resource, "{}"] {
        // A length below 128 is text.
        let text = &text[..text.len().min(100)];
        request.push(char::from(text.len() as u8));
        request.push_str("\0\0\0\0\0\0\0");
        request.push_str(text);
    }
    seeds.add("frame", frame(1, &request))
}

fn archives(seeds: &mut Seeds) -> io::Result<()> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, kind) in [("app/", tar::EntryType::Directory), ("app/run", tar::EntryType::Regular)] {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(0o755);
        header.set_size(if kind == tar::EntryType::Regular { 9 } else { 0 });
        let content: &[u8] = if kind == tar::EntryType::Regular { b"#!/bin/sh" } else { b"" };
        builder.append_data(&mut header, name, content)?;
    }
    let mut header = tar::Header::new_gnu();
    header.set_size(1);
    builder.append_data(&mut header, format!("{}/x", "long-name".repeat(20)), &b"x"[..])?;
    let bytes = builder.into_inner()?;
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&bytes)?;
    seeds.add("archive", gzip.finish()?)?;
    seeds.add("archive", bytes)?;
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    zip.add_directory("app/", SimpleFileOptions::default())?;
    zip.start_file("app/run", SimpleFileOptions::default().unix_permissions(0o755))?;
    zip.write_all(b"#!/bin/sh")?;
    seeds.add("archive", zip.finish()?.into_inner())?;
    seeds.add("archive", "#!/bin/sh\n")
}

/// Messages of an editor that opens, changes and asks about the files of a case.
fn conversation(files: &[(&str, &str)]) -> String {
    let quoted = |text: &str| {
        let escaped = text.chars().map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            c if c.is_control() => format!("\\u{:04x}", c as u32),
            c => c.to_string(),
        });
        format!("\"{}\"", escaped.collect::<String>())
    };
    let mut messages = Vec::new();
    for (name, text) in files.iter().take(4) {
        let uri = quoted(&format!("file:///fuzz/{name}"));
        let item = format!(r#"{{"uri":{uri},"languageId":"yaml","version":1,"text":{}}}"#, quoted(text));
        messages
            .push(format!(r#"{{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{{"textDocument":{item}}}}}"#));
        let at = format!(r#""textDocument":{{"uri":{uri}}},"position":{{"line":1,"character":4}}"#);
        for (id, method) in ["completion", "hover", "definition"].iter().enumerate() {
            messages
                .push(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"textDocument/{method}","params":{{{at}}}}}"#));
        }
        messages.push(format!(
            r#"{{"jsonrpc":"2.0","id":9,"method":"textDocument/rename","params":{{{at},"newName":"x.yaml"}}}}"#
        ));
        let range = r#"{"start":{"line":0,"character":1},"end":{"line":2,"character":0}}"#;
        messages.push(format!(
            r#"{{"jsonrpc":"2.0","method":"textDocument/didChange","params":{{"textDocument":{{"uri":{uri},"version":2}},"contentChanges":[{{"range":{range},"text":"a: b\n"}}]}}}}"#
        ));
    }
    messages.push(r#"{"jsonrpc":"2.0","id":10,"method":"shutdown"}"#.to_owned());
    messages.push(r#"{"jsonrpc":"2.0","method":"exit"}"#.to_owned());
    messages.join(BETWEEN)
}
