//! What every package says about itself, from one place.

use std::fs;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::tools;

/// The facts of all packages.
#[derive(Clone, Debug)]
pub(crate) struct PackageFacts {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) description: String,
    pub(crate) license: String,
    pub(crate) author: String,
    /// Where releases are, without a slash at its end.
    pub(crate) repository: String,
    pub(crate) keywords: Vec<String>,
    /// The licence's text.
    pub(crate) license_text: String,
}

#[derive(Deserialize)]
struct FactsFile {
    name: String,
    author: String,
    repository: String,
    keywords: Vec<String>,
}

#[derive(Deserialize)]
struct ManifestFile {
    workspace: ManifestWorkspace,
}

#[derive(Deserialize)]
struct ManifestWorkspace {
    package: ManifestPackage,
}

#[derive(Deserialize)]
struct ManifestPackage {
    version: String,
    license: String,
    description: String,
}

impl PackageFacts {
    /// Reads `packages/package.toml` and the workspace's manifest.
    pub(crate) fn read() -> Result<Self> {
        let root = tools::root()?;
        let read = |name: &str| {
            fs::read_to_string(root.join(name)).with_context(|| format!("read {name}"))
        };
        let facts: FactsFile = toml::from_str(&read("packages/package.toml")?)?;
        let manifest: ManifestFile = toml::from_str(&read("Cargo.toml")?)?;
        let ManifestPackage { version, license, description } = manifest.workspace.package;
        let FactsFile { name, author, repository, keywords } = facts;
        let license_text = read("LICENSE")?;
        Ok(Self { name, version, description, license, author, repository, keywords, license_text })
    }

    /// Where the files of this version's release are.
    pub(crate) fn release_url(&self) -> String {
        format!("{}/releases/download/v{}", self.repository, self.version)
    }
}
