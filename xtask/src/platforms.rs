//! Whether the program still compiles for the systems that this machine does not run.
//!
//! The whole program is checked for macOS and Windows; docs/platforms.md says what it lacks
//! there. The C compiler for both is zig, from a Python package, in a directory of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::Verdict;
use crate::tools;

/// The compiler's version; a newer one may refuse options of build scripts.
const ZIG: &str = "ziglang==0.15.1";

/// A system to check for.
struct Foreign {
    target: &'static str,
    /// The compiler's name for it.
    zig: &'static str,
    packages: &'static [&'static str],
}

const FOREIGN: [Foreign; 2] = [
    Foreign { target: "aarch64-apple-darwin", zig: "aarch64-macos", packages: &["stopgate"] },
    Foreign { target: "x86_64-pc-windows-gnu", zig: "x86_64-windows-gnu", packages: &["stopgate"] },
];

/// Checks for each, or for the one that is named.
pub(crate) fn run(options: &[&str]) -> Result<Verdict> {
    let only = match options {
        [] => None,
        ["--only", word] => Some(*word),
        _ => bail!("understand {options:?}: platforms takes --only WORD"),
    };
    let root = tools::root()?;
    let python = compiler(&root)?;
    let mut verdict = Verdict::Fine;
    for foreign in FOREIGN.iter().filter(|one| only.is_none_or(|word| one.target.contains(word))) {
        let fine = check(&root, &python, foreign)?;
        println!("{}: {}", foreign.target, if fine { "compiles" } else { "BROKEN" });
        if !fine {
            verdict = Verdict::Broken;
        }
    }
    Ok(verdict)
}

/// The Python that has the compiler, installed once below `target`.
pub(crate) fn compiler(root: &Path) -> Result<PathBuf> {
    let place = root.join("target/zig");
    let python = place.join("bin/python");
    if !place.join("ready").is_file() {
        tools::run(Command::new("python3").args(["-m", "venv"]).arg(&place))?;
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ZIG]);
        tools::run(&mut pip).context("install the compiler")?;
        fs::write(place.join("ready"), ZIG)?;
    }
    Ok(python)
}

fn check(root: &Path, python: &Path, foreign: &Foreign) -> Result<bool> {
    add_target(root, foreign.target)?;
    let target = foreign.target.replace('-', "_");
    let compile = wrapper(
        root,
        python,
        foreign.zig,
        &format!("cc -O1 -fno-sanitize=all -target {}", foreign.zig),
    )?;
    let archive = wrapper(root, python, "ar", "ar")?;
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root).args(["check", "--locked", "--quiet", "--target", foreign.target]);
    for package in foreign.packages {
        cargo.args(["--package", package]);
    }
    cargo.env(format!("CC_{target}"), compile).env(format!("AR_{target}"), archive);
    // zig knows the system by its own option.
    cargo.env("CRATE_CC_NO_DEFAULTS", "1");
    cargo.env("RUSTFLAGS", "-Dwarnings");
    Ok(cargo.status().context("start cargo")?.success())
}

/// Has Rust's library for a target, where rustup can fetch it.
pub(crate) fn add_target(root: &Path, target: &str) -> Result<()> {
    if !tools::has("rustup") {
        return Ok(());
    }
    let mut add = Command::new("rustup");
    tools::run(add.current_dir(root).args(["target", "add", target]))
}

/// A script that stands for the compiler, because build scripts want one word.
pub(crate) fn wrapper(root: &Path, python: &Path, name: &str, words: &str) -> Result<PathBuf> {
    let path = root.join("target/zig").join(name);
    fs::write(
        &path,
        format!("#!/bin/sh\nexec '{}' -m ziglang {words} \"$@\"\n", python.display()),
    )?;
    tools::run(Command::new("chmod").arg("755").arg(&path))?;
    Ok(path)
}
