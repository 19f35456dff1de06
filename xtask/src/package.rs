//! Packages for people without Rust, and plugins for agents, all from one source.
//!
//! `packages/` and the workspace's manifest say what they are called; the program is given, and
//! is the same in each of them. Nothing is published from here.

mod about;
mod archive;
mod deb;
mod npm;
mod platform;
mod plugins;
mod release;
mod sums;
mod trial;
mod wheel;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use crate::{Verdict, foreign, supply, tools};
use about::PackageFacts;
use archive::{Directories, PackedFile, tar_gz};
use platform::BuiltProgram;
use sums::ReleaseKey;
use trial::Trial;

/// Makes packages, plugins, or both.
pub(crate) fn run(options: PackageOptions) -> Result<Verdict> {
    let PackageOptions { test, fresh_root, plugins, .. } = options;
    if plugins {
        plugins::write_plugins(&PackageFacts::read()?)?;
        return Ok(Verdict::Fine);
    }
    let wanted = PackagePlan::new(options)?;
    let made = make(&wanted)?;
    println!("{}", wanted.out.display());
    for file in &made {
        println!("  {:>10} bytes  {}", file.bytes.len(), file.path);
    }
    match (test, fresh_root) {
        (_, true) => trial::run(&wanted.out, Trial::FreshRoot),
        (true, false) => trial::run(&wanted.out, Trial::Local),
        (false, false) => Ok(Verdict::Fine),
    }
}

/// What is packed, where it goes, and how it is tried.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct PackageOptions {
    /// Another program than target/dist/stopgate; may be given for each platform
    #[arg(long, value_name = "[PLATFORM=]FILE")]
    program: Vec<String>,
    /// Another directory than target/package
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Signs with this key instead of one of this run
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    #[arg(long, value_name = "URL")]
    repository: Option<String>,
    /// Also builds and packs the programs for Linux arm64 and Windows, where the tools are there
    #[arg(long)]
    foreign: bool,
    /// Installs each package from there and uses it; foreign programs run under qemu-aarch64 and wine
    #[arg(long)]
    test: bool,
    /// The same, and also in a fresh Debian (debootstrap)
    #[arg(long)]
    fresh_root: bool,
    /// Only writes plugins/ and the marketplace files anew
    #[arg(long)]
    plugins: bool,
}

/// What is packed, and where it goes.
struct PackagePlan {
    facts: PackageFacts,
    programs: Vec<BuiltProgram>,
    out: PathBuf,
    key: ReleaseKey,
}

impl PackagePlan {
    fn new(options: PackageOptions) -> Result<Self> {
        let mut facts = PackageFacts::read()?;
        if let Some(address) = &options.repository {
            facts.repository = address.trim_end_matches('/').into();
        }
        let mut named = options.program;
        if named.is_empty() {
            named.push(tools::program()?.to_string_lossy().into_owned());
        }
        if options.foreign {
            let built = foreign::build(None)?;
            named.extend(built.iter().map(|path| path.to_string_lossy().into_owned()));
        }
        let programs = named.iter().map(|name| BuiltProgram::read(name)).collect::<Result<_>>()?;
        let out = options.out.unwrap_or(tools::root()?.join("target/package"));
        let key = options.key.as_deref().map_or_else(ReleaseKey::for_this_run, ReleaseKey::read)?;
        Ok(Self { facts, programs, out: std::path::absolute(out)?, key })
    }
}

/// Writes every package anew.
fn make(wanted: &PackagePlan) -> Result<Vec<PackedFile>> {
    let PackagePlan { facts, programs, out, key } = wanted;
    let mut files = vec![npm::npm_starter(facts)?, plugin_archive(facts)?];
    let mut archives = Vec::new();
    for program in programs {
        let archive = release::tarball(facts, program)?;
        archives.push((program.platform, archive.clone()));
        files.push(archive);
        files.push(npm::npm_program(facts, program)?);
        files.push(wheel::wheel(facts, program)?);
        files.extend(deb::deb(facts, program)?);
    }
    files.push(release::formula(facts, &archives));
    files.extend(release::installers(facts, &key.public()));
    files.push(PackedFile::text("stopgate.cdx.json", supply::bill_of_materials()?));
    files.push(PackedFile::text("minisign.pub", public_file(key)));
    let sums = sums::checksums(&files);
    files.push(key.sign(&sums)?);
    files.push(sums);
    for (_, archive) in &archives {
        files.push(key.sign(archive)?);
    }
    if out.exists() {
        fs::remove_dir_all(out).with_context(|| format!("remove {}", out.display()))?;
    }
    for file in &files {
        plugins::place(out, file)?;
    }
    Ok(files)
}

/// The plugins and marketplace files, for those who do not want a checkout.
fn plugin_archive(facts: &PackageFacts) -> Result<PackedFile> {
    let bytes = tar_gz(&plugins::plugin_files(facts)?, Directories::Named)?;
    Ok(PackedFile::text(format!("stopgate-plugins-{}.tar.gz", facts.version), bytes))
}

fn public_file(key: &ReleaseKey) -> String {
    format!("untrusted comment: minisign public key of stopgate's releases\n{}\n", key.public())
}
