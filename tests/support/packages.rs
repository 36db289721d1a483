//! Packages of plugins: archives, signatures, and the names of this platform.

use super::servers::{Files, Reply, serve, sha256};
use std::io::Write;

pub fn host() -> (&'static str, &'static str) {
    let arch = if cfg!(target_arch = "x86_64") { "amd64" } else { "arm64" };
    (if cfg!(target_os = "macos") { "darwin" } else { "linux" }, arch)
}

/// A gzipped tar archive of files; files that begin with `#!` are executable.
pub fn tar_gz(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for (name, content) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(if content.starts_with("#!") { 0o755 } else { 0o644 });
        archive.append_data(&mut header, name, content.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

pub fn zip(name: &str, content: &str) -> Vec<u8> {
    zip_of(&[(name, content)])
}

/// A zip archive of files, all of them executable.
pub fn zip_of(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().unix_permissions(0o755);
    for (name, content) in files {
        archive.start_file(*name, options).unwrap();
        archive.write_all(content.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// The wheel of version 1.0 of a package of Python with one module.
pub fn wheel(name: &str, module: &str) -> Vec<u8> {
    let (file, about) = (format!("{name}.py"), format!("{name}-1.0.dist-info"));
    let [metadata, wheel, record] = ["METADATA", "WHEEL", "RECORD"].map(|file| format!("{about}/{file}"));
    let lines = format!("{file},,\n{metadata},,\n{wheel},,\n{record},,\n");
    zip_of(&[
        (&file, module),
        (&metadata, &format!("Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")),
        (&wheel, "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
        (&record, &lines),
    ])
}

/// Serves one file of one package to pip. Gives the address of the index.
pub fn pip_index(package: &'static str, file: &'static str, content: Vec<u8>) -> String {
    let page = format!("<!DOCTYPE html><a href=\"/{file}\">{file}</a>").into_bytes();
    let server = serve(move |request| match request.path.trim_matches('/') {
        path if path == file => Reply::ok(content.clone()),
        path if path == format!("simple/{package}") => {
            Reply("200 OK", vec![("Content-Type".to_owned(), "text/html".to_owned())], page.clone())
        }
        _ => Reply::not_found(),
    });
    format!("http://{server}/simple")
}

/// A registry of npm with version 1.0.0 of the package `dep`.
pub struct NpmRegistry {
    /// Its address, without a slash at the end.
    pub url: String,
    /// The checksum of the package, as a lock has it.
    pub integrity: String,
}

impl NpmRegistry {
    /// The path of the package's archive.
    pub const ARCHIVE: &str = "/dep/-/dep-1.0.0.tgz";

    /// Serves the package, with a script that npm would run when it installs the package.
    pub fn start(script: &str) -> NpmRegistry {
        use base64::Engine;
        use sha2::Digest;
        let package =
            format!("{{\"name\": \"dep\", \"version\": \"1.0.0\", \"scripts\": {{\"preinstall\": \"{script}\"}}}}");
        let archive =
            tar_gz(&[("package/package.json", &package), ("package/index.js", "module.exports = 'of the package'\n")]);
        let sum = base64::engine::general_purpose::STANDARD.encode(sha2::Sha512::digest(&archive));
        let integrity = format!("sha512-{sum}");
        let files = Files::default();
        files.put(Self::ARCHIVE, archive);
        let url = format!("http://{}", files.serve());
        let archive = format!("{url}{}", Self::ARCHIVE);
        files.put(
            "/dep",
            format!(
                "{{\"name\": \"dep\", \"dist-tags\": {{\"latest\": \"1.0.0\"}}, \"versions\": {{\"1.0.0\": {{\"name\": \"dep\", \
                 \"version\": \"1.0.0\", \"hasInstallScript\": true, \
                 \"dist\": {{\"tarball\": \"{archive}\", \"integrity\": \"{integrity}\"}}}}}}}}"
            ),
        );
        NpmRegistry { url, integrity }
    }

    /// A lock of npm for a plugin `app` that needs the package, whose entry has these members, too.
    pub fn npm_lock(&self, members: &str) -> String {
        let (needs, resolved) = (Self::NEEDS, format!("{}{}", self.url, Self::ARCHIVE));
        format!(
            "{{\"name\": \"app\", \"version\": \"1.0.0\", \"lockfileVersion\": 3, \"requires\": true, \"packages\": {{\"\": {{{needs}}},\n\
             \"node_modules/dep\": {{\"version\": \"1.0.0\", \"resolved\": \"{resolved}\", {members}\"hasInstallScript\": true}}}}}}"
        )
    }

    /// The members of the `package.json` of that plugin.
    pub const NEEDS: &str = "\"name\": \"app\", \"version\": \"1.0.0\", \"dependencies\": {\"dep\": \"^1.0.0\"}";

    /// A lock of deno that has the package.
    pub fn deno_lock(&self) -> String {
        let integrity = &self.integrity;
        format!(
            "{{\"version\": \"5\", \"specifiers\": {{\"npm:dep@1.0.0\": \"1.0.0\"}}, \
             \"npm\": {{\"dep@1.0.0\": {{\"integrity\": \"{integrity}\", \"scripts\": true}}}}}}"
        )
    }
}

/// A key, and a function that signs with it: the content, and the trusted comment.
pub fn signer() -> (String, impl Fn(&[u8], Option<&str>) -> String) {
    let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
    let key = pair.pk.to_base64();
    let sign = move |content: &[u8], comment: Option<&str>| {
        minisign::sign(Some(&pair.pk), &pair.sk, content, comment, None).unwrap().into_string()
    };
    (key, sign)
}

/// What the signature of a plugin for this machine says.
pub fn statement(source: &str, version: &str, platform: &str, content: &[u8]) -> String {
    format!("rustomize-plugin source={source} version={version} platform={platform} sha256={}", sha256(content))
}
