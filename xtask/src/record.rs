//! What a terminal shows, as pictures: `stopgate try` as an animation, and kept screens as they are.
//!
//! Everything in them was printed by the program, on a terminal of its own (`script`). Only the pace is ours: a block of
//! lines at a time, so that it can be read.

mod ansi;
mod svg;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{Verdict, tools};
use ansi::Line;
use svg::{Animation, picture};

const COLUMNS: usize = 100;
const ROWS: usize = 30;

/// Draws the animation.
pub(crate) fn animate(program: Option<PathBuf>) -> Result<Verdict> {
    let root = tools::root()?;
    let program = program.unwrap_or_else(|| root.join("target/release/stopgate"));
    let printed = on_a_terminal(&program)?;
    let lines = ansi::lines(&printed);
    let animation = Animation { columns: COLUMNS, rows: ROWS, typed: "stopgate try" };
    let target = root.join("docs/try.svg");
    fs::write(&target, animation.draw(&lines)).context("write docs/try.svg")?;
    println!("docs/try.svg: {} lines", lines.len());
    Ok(Verdict::Fine)
}

/// Runs `try` on a terminal of its own, and gives what it printed.
fn on_a_terminal(program: &Path) -> Result<String> {
    let directory = tempfile::tempdir()?;
    let kept = directory.path().join("typescript");
    let command = format!("stty cols {COLUMNS} rows 100; '{}' try", program.display());
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &command]).arg(&kept);
    script.env("TERM", "xterm-256color").env_remove("NO_COLOR");
    let ran = script.output().context("run script (util-linux)")?;
    if !ran.status.success() {
        bail!("record `{command}`: it ended with {}", ran.status);
    }
    let text = String::from_utf8_lossy(&fs::read(&kept)?).into_owned();
    let inner: Vec<&str> = text.lines().filter(|line| !line.starts_with("Script ")).collect();
    Ok(inner.join("\n").trim_end().to_string())
}

/// Every `NAME.ansi` as `NAME.svg`, beside it.
pub(crate) fn screens() -> Result<Verdict> {
    for entry in fs::read_dir(tools::root()?.join("docs/screens")).context("read docs/screens")? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "ansi") {
            let lines = ansi::lines(&fs::read_to_string(&path)?);
            let columns = lines.iter().map(Line::width).max().unwrap_or(0).max(60);
            fs::write(path.with_extension("svg"), picture(&lines, columns))?;
            println!("{}", path.with_extension("svg").display());
        }
    }
    Ok(Verdict::Fine)
}
