//! [`SigningKey`]: the secret key of minisign that signs the files of a package.

use crate::diag::{Code, Error, Result};
use crate::load::FileLimit;
use minisign::{PublicKey, SecretKey, SecretKeyBox, SignatureBox};
use rustomize_base::host::Host;
use rustomize_sources::ReadFile;
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// Most bytes of a key's file.
const KEY_LIMIT: u64 = 1 << 16;

/// The variable with the password of a key.
pub const PASSWORD: &str = "RUSTOMIZE_MINISIGN_PASSWORD";

/// The password of a key.
fn password(host: &dyn Host) -> Result<String> {
    if let Some(password) = host.variable(PASSWORD) {
        return Ok(password.to_string_lossy().into_owned());
    }
    host.password("Password of the key: ").ok_or_else(|| {
        Error::new(Code::Usage, "the key has a password, and there is no terminal to ask for it")
            .hint(format!("put it into the variable {PASSWORD}"))
    })
}

/// A secret key that can sign, and the file that it is from.
pub struct SigningKey {
    /// The file.
    pub path: PathBuf,
    secret: SecretKey,
    public: PublicKey,
}

impl SigningKey {
    /// Reads a key. The password of a key that has one is that of the variable [`PASSWORD`], or the
    /// user types it.
    ///
    /// # Errors
    /// The file cannot be read or is not a secret key of minisign, or the password is not that of
    /// the key.
    pub fn read(path: &Path, host: &dyn Host) -> Result<SigningKey> {
        let shown = path.display();
        let text = FileLimit(KEY_LIMIT)
            .read_to_string(path)
            .map_err(|e| Error::io(&e, format!("cannot read the key '{shown}': {e}")))?;
        // The library's error is not shown: it may contain a part of the key.
        let wrong = |why: &str| {
            let error = Error::new(Code::Usage, format!("'{shown}' {why}"));
            error.hint("'minisign -G' makes a pair of keys; the secret one is for --key")
        };
        let is_key = text.lines().nth(1).is_some_and(|line| !line.trim().is_empty());
        if !text.starts_with("untrusted comment:") || !is_key {
            return Err(wrong("is not a secret key of minisign"));
        }
        let read = || SecretKeyBox::from_string(&text).map_err(|_| wrong("is not a secret key of minisign"));
        let secret = match read()?.into_unencrypted_secret_key() {
            Ok(secret) => secret,
            Err(e) if e.to_string().contains("encrypted") => {
                let opened = read()?.into_secret_key(Some(password(host)?));
                opened.map_err(|_| wrong("does not open with this password, or is damaged"))?
            }
            Err(_) => return Err(wrong("is not a secret key of minisign")),
        };
        let public = PublicKey::from_secret_key(&secret).map_err(|_| wrong("is not a secret key of minisign"))?;
        Ok(SigningKey { path: path.to_owned(), secret, public })
    }

    /// The key that checks the signatures, as rules of trust name it.
    pub fn public(&self) -> String {
        self.public.to_base64()
    }

    /// The signature of a file that is called `name`, with a trusted comment. It contains no time.
    /// A signature that exists and is right is kept: each new one has other random bytes.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub fn sign(&self, name: &str, content: &[u8], comment: &str, existing: Option<&str>) -> Result<String> {
        if let Some(known) = existing.filter(|known| self.has_signed(known, content, comment)) {
            return Ok(known.to_owned());
        }
        let untrusted = format!("signature of {name}");
        minisign::sign(Some(&self.public), &self.secret, Cursor::new(content), Some(comment), Some(&untrusted))
            .map(SignatureBox::into_string)
            .map_err(|e| Error::new(Code::Io, format!("cannot sign '{name}': {e}")))
    }

    fn has_signed(&self, signature: &str, content: &[u8], comment: &str) -> bool {
        let Ok(signature) = SignatureBox::from_string(signature) else { return false };
        signature.trusted_comment().is_ok_and(|known| known == comment)
            && minisign::verify(&self.public, &signature, Cursor::new(content), true, false, false).is_ok()
    }
}
