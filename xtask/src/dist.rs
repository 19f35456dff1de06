//! The program that is released and timed: static, at a fixed address.
//!
//! And beside it a program that does nothing, built the same way: what every
//! timing is compared with.

mod order;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::elf::{self, Kind};
use crate::platforms;
use crate::tools::{self, Tool};
use order::{Learned, Order};

const MUSL: &str = "x86_64-unknown-linux-musl";
const GNU: &str = "x86_64-unknown-linux-gnu";
/// Static, at a fixed address, and few segments: a cold process pays for each one that is mapped.
const FLAGS: [&str; 4] = [
    "-Ctarget-feature=+crt-static",
    "-Crelocation-model=static",
    "-Clink-arg=-Wl,-z,noseparate-code",
    "-Clink-arg=-Wl,-z,norelro",
];

/// How both programs are built.
struct Way {
    target: &'static str,
    order: Option<Order>,
}

/// Builds both programs and says what they are.
pub(crate) fn run() -> Result<()> {
    let root = tools::root()?;
    let target = choose(&root)?;
    let way = Way { target, order: Order::kept_in(&root.join("target/dist-order"))? };
    for (name, built) in [("stopgate", program(&root, &way)?), ("noop", noop(&root, &way)?)] {
        let path = root.join("target/dist").join(name);
        place(&built, &path)?;
        let kind = elf::kind(&path)?;
        let bytes = fs::metadata(&path)?.len();
        println!("target/dist/{name}  {}  {target}  {bytes} bytes", kind.word());
        if kind != Kind::StaticFixed {
            bail!("build target/dist/{name} as a static, non-PIE program");
        }
    }
    Ok(())
}

/// The small C library where it is to be had, else the system's.
fn choose(root: &Path) -> Result<&'static str> {
    if has_musl(root) && tools::get("musl-gcc", "musl-tools") == Tool::Here {
        return Ok(MUSL);
    }
    eprintln!("no musl here: the program is linked with glibc, and is slower to start");
    if !cfg!(target_os = "linux") {
        bail!("build a static program: this is not Linux");
    }
    Ok(GNU)
}

fn has_musl(root: &Path) -> bool {
    if platforms::has_library(root, MUSL) {
        return true;
    }
    if tools::has("rustup") {
        let mut add = Command::new("rustup");
        let _ = add.current_dir(root).args(["target", "add", MUSL]).status();
    }
    platforms::has_library(root, MUSL)
}

/// Ours; linked once more where a look at it taught a better order.
fn program(root: &Path, way: &Way) -> Result<PathBuf> {
    let directory = root.join("target");
    let built = directory.join(way.target).join("dist/stopgate");
    build(root, &directory, way, &["--package", "stopgate"])?;
    let learned = way.order.as_ref().map(|order| order.learn(&built)).transpose()?;
    if learned == Some(Learned::Order) {
        forget(&directory.join(way.target).join("dist/.fingerprint"))?;
        build(root, &directory, way, &["--package", "stopgate"])?;
    }
    Ok(built)
}

/// Makes the build forget that it linked the program: it does not see that the order changed.
fn forget(fingerprints: &Path) -> Result<()> {
    for entry in fs::read_dir(fingerprints)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let rest = name.strip_prefix("stopgate-").unwrap_or_default();
        if rest.len() == 16 && rest.chars().all(|c| c.is_ascii_hexdigit()) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// A crate of one empty function, with the workspace's own profiles.
fn noop(root: &Path, way: &Way) -> Result<PathBuf> {
    let directory = root.join("target/dist-noop");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).context("read Cargo.toml")?;
    let about =
        "[package]\nname = \"noop\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n";
    fs::create_dir_all(directory.join("src"))?;
    fs::write(directory.join("Cargo.toml"), format!("{about}\n{}", profiles(&manifest)))?;
    fs::write(directory.join("src/main.rs"), "fn main() {}\n")?;
    let output = directory.join("target");
    build(&directory, &output, way, &[])?;
    Ok(output.join(way.target).join("dist/noop"))
}

fn build(directory: &Path, output: &Path, way: &Way, options: &[&str]) -> Result<()> {
    let mut flags: Vec<String> = FLAGS.map(String::from).into();
    let mut cargo = Command::new("cargo");
    cargo.current_dir(directory).args(["build", "--quiet", "--profile", "dist"]);
    cargo.args(["--target", way.target]).args(options).arg("--target-dir").arg(output);
    if let Some(order) = &way.order {
        // Symbols are needed to look at the program; they go when it is placed.
        cargo.args(["--config", "profile.dist.strip=false"]);
        flags.extend(order.flags());
    }
    // Flags are divided by this character, so that a path may hold a blank.
    cargo.env_remove("RUSTFLAGS").env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    tools::run(&mut cargo)
}

/// Replaces the program at `path` in one step: somebody may be running it.
fn place(built: &Path, path: &Path) -> Result<()> {
    let fresh = path.with_extension("fresh");
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::copy(built, &fresh).with_context(|| format!("copy {}", built.display()))?;
    if tools::has("strip") {
        tools::run(Command::new("strip").arg("--strip-all").arg(&fresh))?;
    }
    fs::rename(&fresh, path).with_context(|| format!("place {}", path.display()))
}

/// The profiles of a manifest, as they stand there.
fn profiles(manifest: &str) -> String {
    let mut kept = String::new();
    let mut inside = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.starts_with("[profile.");
        }
        if inside {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[cfg(test)]
mod tests;
