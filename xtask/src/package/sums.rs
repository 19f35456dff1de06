//! Checksums and signatures of what is released.

use std::fmt::Write as _;
use std::io::Cursor;
use std::path::Path;

use anyhow::{Context, Result};
use minisign::{KeyPair, PublicKey, SecretKey, SecretKeyBox};
use ring::digest::{SHA256, digest};

use super::archive::PackedFile;

/// What signs a release: a key in the form of minisign.
pub(crate) struct ReleaseKey {
    secret: SecretKey,
    public: PublicKey,
}

impl ReleaseKey {
    /// A key for one run, where none was given: its signatures show the form, not the origin.
    pub(crate) fn for_this_run() -> Result<Self> {
        let KeyPair { pk, sk } = KeyPair::generate_unencrypted_keypair().map_err(told)?;
        Ok(Self { secret: sk, public: pk })
    }

    /// The key in a file, without a password: a pipeline has nobody to type one.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("read the key {}", path.display()))?;
        let kept = SecretKeyBox::from_string(&text).map_err(told)?;
        let secret = kept.into_unencrypted_secret_key().map_err(told)?;
        let public = PublicKey::from_secret_key(&secret).map_err(told)?;
        Ok(Self { secret, public })
    }

    /// The public half, as `minisign -V -P` takes it.
    pub(crate) fn public(&self) -> String {
        self.public.to_base64()
    }

    /// The signature of a file, as a file beside it.
    pub(crate) fn sign(&self, file: &PackedFile) -> Result<PackedFile> {
        let name = &file.path;
        let comment = format!("file:{name}");
        let signature = minisign::sign(
            Some(&self.public),
            &self.secret,
            Cursor::new(&file.bytes),
            Some(&comment),
            Some("signature of stopgate's release"),
        );
        let text = signature.map_err(told)?.into_string();
        Ok(PackedFile::text(format!("{name}.minisig"), text))
    }
}

fn told(error: minisign::PError) -> anyhow::Error {
    anyhow::Error::new(error).context("use the key")
}

/// The SHA-256 of bytes.
pub(crate) fn sha256(bytes: &[u8]) -> Vec<u8> {
    digest(&SHA256, bytes).as_ref().to_vec()
}

/// The SHA-256 of bytes, in hexadecimal.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    sha256(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The list that `sha256sum --check` reads.
pub(crate) fn checksums(files: &[PackedFile]) -> PackedFile {
    let line = |file: &PackedFile| format!("{}  {}\n", sha256_hex(&file.bytes), file.path);
    PackedFile::text("SHA256SUMS", files.iter().map(line).collect::<String>())
}
