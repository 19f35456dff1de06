//! Lays the code of a stop side by side.
//!
//! A cold process pays for every piece of the program's file that it touches. So a
//! stop is watched once, and the program is linked again with what it called in one
//! place: fewer pages to map, less memory, less time.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::scene::{ENDLESS, Scene};
use crate::tools::{self, Tool};
use crate::trace;

/// A linker that can put functions in an order, and the order.
#[derive(Debug)]
pub(super) struct Order {
    linkers: PathBuf,
    file: PathBuf,
}

/// What a look at the program taught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Learned {
    /// It is linked as it should be.
    Nothing,
    /// It must be linked again.
    Order,
}

impl Order {
    /// The order kept in `directory`; nothing where a tool for it is missing.
    pub(super) fn kept_in(directory: &Path) -> Result<Option<Self>> {
        let linkers = linkers();
        let tools = [tools::get("valgrind", "valgrind"), tools::get("strip", "binutils")];
        let (Some(linkers), [Tool::Here, Tool::Here]) = (linkers, tools) else {
            eprintln!("no lld, valgrind or strip here: the program's code is left as it falls");
            return Ok(None);
        };
        fs::create_dir_all(directory)?;
        let file = directory.join("order.txt");
        if !file.exists() {
            fs::write(&file, "")?;
        }
        Ok(Some(Self { linkers, file }))
    }

    /// What the compiler is told.
    pub(super) fn flags(&self) -> Vec<String> {
        let words = [
            format!("-B{}", self.linkers.display()),
            "-fuse-ld=lld".into(),
            format!("-Wl,--symbol-ordering-file={}", self.file.display()),
            "-Wl,--no-warn-symbol-ordering".into(),
            // Functions that came out the same are kept once: nothing here compares their addresses.
            "-Wl,--icf=all".into(),
        ];
        words.into_iter().map(|word| format!("-Clink-arg={word}")).collect()
    }

    /// Watches `program`, which must have its symbols, through the stops that matter.
    pub(super) fn learn(&self, program: &Path) -> Result<Learned> {
        let scene = Scene::of(program.to_path_buf())?;
        scene.start("held", &ENDLESS)?;
        let held = scene.hook("held", "Stop")?;
        held.run()?;
        let mut names: Vec<String> = Vec::new();
        for call in [scene.hook("nobody", "Stop")?, scene.hook("held", "PostToolBatch")?, held] {
            // Sorted, so that the same program always teaches the same order.
            let called: BTreeSet<_> =
                trace::functions(&call, &scene.path("notes"))?.into_iter().collect();
            let known: BTreeSet<_> = names.iter().cloned().collect();
            names.extend(called.difference(&known).cloned());
        }
        let order = names.join("\n");
        if fs::read_to_string(&self.file).is_ok_and(|known| known == order) {
            return Ok(Learned::Nothing);
        }
        fs::write(&self.file, order).context("keep the order of the program's code")?;
        Ok(Learned::Order)
    }
}

/// Where the toolchain keeps lld under the names that a C compiler looks for.
fn linkers() -> Option<PathBuf> {
    let ask = |arguments: &[&str]| {
        let said = Command::new("rustc").args(arguments).output().ok()?;
        String::from_utf8(said.stdout).ok()
    };
    let root = ask(&["--print", "sysroot"])?;
    let about = ask(&["-vV"])?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "))?;
    let directory = Path::new(root.trim()).join("lib/rustlib").join(host).join("bin/gcc-ld");
    directory.join("ld.lld").is_file().then_some(directory)
}
