//! Whether the program still compiles for the systems that this machine does not run.
//!
//! The whole program is checked for macOS and Windows; docs/platforms.md says what it lacks
//! there. The C compiler for both is zig, from a Python package, in a directory of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

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
pub(crate) fn run(only: Option<&str>) -> Result<Verdict> {
    let root = tools::root()?;
    let python = compiler()?;
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

/// Windows only, where this machine can: what is Unix's own breaks that build unnoticed.
pub(crate) fn windows() -> Result<Verdict> {
    let [_, windows] = &FOREIGN;
    let root = tools::root()?;
    let added = add_target(&root, windows.target);
    if !has_library(&root, windows.target) {
        println!("not checked: Rust's library for {} is missing ({added:?})", windows.target);
        return Ok(Verdict::Fine);
    }
    run(Some(windows.target))
}

/// Whether Rust's library for a target is here.
pub(crate) fn has_library(root: &Path, target: &str) -> bool {
    let mut rustc = Command::new("rustc");
    rustc.current_dir(root).args(["--print", "target-libdir", "--target", target]);
    let said = rustc.stderr(Stdio::null()).output();
    said.is_ok_and(|said| Path::new(String::from_utf8_lossy(&said.stdout).trim()).is_dir())
}

/// The Python that has the compiler.
pub(crate) fn compiler() -> Result<PathBuf> {
    Ok(tools::python_package("zig", ZIG)?.join("bin/python"))
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
