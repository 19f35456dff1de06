//! Programs for other platforms, built on this one: Linux arm64 and Windows.
//!
//! The release workflow uses the same chore, so what is released is built as it was tried here.
//! The C in them is compiled by zig, or by Debian's compiler for Windows. What a machine lacks is
//! said, and that program is left out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::tools::{self, Tool};
use crate::{Verdict, platforms};

const ARM64: &str = "aarch64-unknown-linux-musl";
const WINDOWS: &str = "x86_64-pc-windows-gnu";
const MINGW: &str = "x86_64-w64-mingw32-gcc";
/// Static, at a fixed address, linked by Rust's own linker and C library.
const ARM64_FLAGS: [&str; 4] = [
    "-Ctarget-feature=+crt-static",
    "-Crelocation-model=static",
    "-Clinker-flavor=ld.lld",
    "-Clink-self-contained=yes",
];
/// Atomics that ask the processor at run time belong to a library that is not linked.
const ARM64_COMPILER: &str =
    "cc -O2 -fno-sanitize=all -mno-outline-atomics -target aarch64-linux-musl";

/// Builds each, or the one that is named; fails where the named one can't be built here.
pub(crate) fn run(only: Option<&str>) -> Result<Verdict> {
    let built = build(only)?;
    for program in &built {
        println!("{}  {} bytes", program.display(), fs::metadata(program)?.len());
    }
    Ok(Verdict::from(only.is_none() || !built.is_empty()))
}

/// Builds what can be built here, and says where it is.
pub(crate) fn build(only: Option<&str>) -> Result<Vec<PathBuf>> {
    let root = tools::root()?;
    let is_wanted = |target: &str| only.is_none_or(|word| target.contains(word));
    let mut built = Vec::new();
    if is_wanted(ARM64) {
        built.extend(arm64(&root)?);
    }
    if is_wanted(WINDOWS) {
        built.extend(windows(&root)?);
    }
    Ok(built)
}

fn arm64(root: &Path) -> Result<Option<PathBuf>> {
    if tools::get("python3", "python3") == Tool::Missing {
        println!("not built: {ARM64} needs python3");
        return Ok(None);
    }
    platforms::add_target(root, ARM64)?;
    let python = platforms::compiler()?;
    let compile = platforms::wrapper(root, &python, "aarch64-linux-musl", ARM64_COMPILER)?;
    let archive = platforms::wrapper(root, &python, "ar", "ar")?;
    let mut cargo = cargo(root, ARM64);
    cargo.env("CC_aarch64_unknown_linux_musl", compile);
    cargo.env("AR_aarch64_unknown_linux_musl", archive);
    // zig knows the system by its own option.
    cargo.env("CRATE_CC_NO_DEFAULTS", "1");
    cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER", "rust-lld");
    cargo.env("CARGO_ENCODED_RUSTFLAGS", ARM64_FLAGS.join("\u{1f}"));
    tools::run(&mut cargo)?;
    Ok(Some(root.join("target").join(ARM64).join("dist/stopgate")))
}

fn windows(root: &Path) -> Result<Option<PathBuf>> {
    if tools::get(MINGW, "gcc-mingw-w64-x86-64") == Tool::Missing {
        println!("not built: {WINDOWS} needs {MINGW}");
        return Ok(None);
    }
    platforms::add_target(root, WINDOWS)?;
    tools::run(&mut cargo(root, WINDOWS))?;
    Ok(Some(root.join("target").join(WINDOWS).join("dist/stopgate.exe")))
}

fn cargo(root: &Path, target: &str) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root).args(["build", "--locked", "--quiet", "--profile", "dist"]);
    cargo.args(["--package", "stopgate", "--target", target]).env_remove("RUSTFLAGS");
    cargo
}
