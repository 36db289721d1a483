//! Packages of plugins: archives, signatures, and the names of this platform.

use super::servers::sha256;
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
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    archive.start_file(name, zip::write::SimpleFileOptions::default().unix_permissions(0o755)).unwrap();
    archive.write_all(content.as_bytes()).unwrap();
    archive.finish().unwrap().into_inner()
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
