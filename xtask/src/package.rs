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
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::{Verdict, foreign, supply, tools};
use about::PackageFacts;
use archive::{Directories, PackedFile, tar_gz};
use platform::BuiltProgram;
use sums::ReleaseKey;
use trial::Trial;

/// Makes packages, plugins, or both.
pub(crate) fn run(options: &[&str]) -> Result<Verdict> {
    if options == ["--plugins"] {
        plugins::write_plugins(&PackageFacts::read()?)?;
        return Ok(Verdict::Fine);
    }
    let wanted = PackageOptions::read(options)?;
    let made = make(&wanted)?;
    println!("{}", wanted.out.display());
    for file in &made {
        println!("  {:>10} bytes  {}", file.bytes.len(), file.path);
    }
    match wanted.trial {
        Some(trial) => trial::run(&wanted.out, trial),
        None => Ok(Verdict::Fine),
    }
}

/// What is packed, and where it goes.
struct PackageOptions {
    facts: PackageFacts,
    programs: Vec<BuiltProgram>,
    out: PathBuf,
    key: ReleaseKey,
    trial: Option<Trial>,
}

impl PackageOptions {
    fn read(options: &[&str]) -> Result<Self> {
        let mut facts = PackageFacts::read()?;
        let (mut programs, mut key, mut trial) = (Vec::new(), None, None);
        let mut foreign = Vec::new();
        let mut out = tools::root()?.join("target/package");
        let mut options = options.iter();
        while let Some(option) = options.next() {
            let mut value =
                || options.next().with_context(|| format!("find the value of {option}"));
            match *option {
                "--program" => programs.push(BuiltProgram::read(value()?)?),
                "--out" => out = std::path::absolute(value()?)?,
                "--key" => key = Some(ReleaseKey::read(Path::new(value()?))?),
                "--repository" => facts.repository = value()?.trim_end_matches('/').into(),
                "--foreign" => foreign = foreign::build(None)?,
                "--test" => trial = trial.or(Some(Trial::Local)),
                "--fresh-root" => trial = Some(Trial::FreshRoot),
                _ => bail!("understand {option}"),
            }
        }
        if programs.is_empty() {
            programs.push(BuiltProgram::read(&tools::program()?.to_string_lossy())?);
        }
        for path in foreign {
            programs.push(BuiltProgram::read(&path.to_string_lossy())?);
        }
        let key = key.map_or_else(ReleaseKey::for_this_run, Ok)?;
        Ok(Self { facts, programs, out, key, trial })
    }
}

/// Writes every package anew.
fn make(wanted: &PackageOptions) -> Result<Vec<PackedFile>> {
    let PackageOptions { facts, programs, out, key, .. } = wanted;
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
