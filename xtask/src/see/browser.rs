//! The HTML report as browsers and people with other senses meet it.
//!
//! html-validate reads its text; axe looks at it in Chromium, in light, dark, on a narrow window and
//! in print. The tools come from npm, pinned, into the target directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::scene::Scene;
use crate::table::{Gates, Table};
use crate::tools::{self, Tool};

const PACKAGES: [&str; 3] = ["html-validate@10.17.0", "axe-core@4.14.0", "puppeteer-core@24.43.1"];
const LOOK: &str = include_str!("look.mjs");
const PICTURES: [&str; 4] = ["light", "dark", "narrow", "print"];
/// The most bytes of a picture in the repository.
const PICTURE_BYTES_MAX: u64 = 150_000;

/// What becomes of the pictures.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pictures {
    Drop,
    Keep,
}

/// Makes a report and has it judged.
pub(super) fn check(program: &Path, pictures: Pictures, gates: &mut Gates) -> Result<()> {
    let directory = install()?;
    let scene = Scene::of(program.to_path_buf())?;
    play(&scene)?;
    let view = scene.status("a")?;
    let proven = view["id"].as_str().context("find a loop")?;
    let reports = [
        ("since", &["report", "--since", "12h", "--html"][..]),
        ("one", &["report", proven, "--html"]),
    ];
    let mut table = Table::new("The HTML report", &["look", "rules that hold", "found", ""]);
    for (name, words) in reports {
        let file = scene.path(&format!("{name}.html"));
        let ran = scene.command(words)?;
        if !ran.status.success() {
            bail!("make a report: {}", ran.status);
        }
        fs::write(&file, &ran.stdout)?;
        let wrong = validate(&directory, &file)?;
        let count = wrong.lines().count();
        let word = gates.ask((count > 0).then(|| format!("html-validate: {wrong}")));
        table.row([format!("{name}: html-validate"), String::new(), count.to_string(), word]);
        for look in look(&directory, &file, &scene.path(""))? {
            let troubles = troubles(&look);
            let shown = format!("{name}: {}", look["look"].as_str().unwrap_or_default());
            let count = troubles.len().to_string();
            let word = gates.ask((!troubles.is_empty()).then(|| troubles.join("; ")));
            table.row([shown, look["passes"].to_string(), count, word]);
        }
        if pictures == Pictures::Keep && name == "since" {
            keep(&scene)?;
        }
    }
    table.print();
    Ok(())
}

fn install() -> Result<PathBuf> {
    let directory = tools::root()?.join("target/browser-tools");
    if tools::get("chromium", "chromium") == Tool::Missing {
        bail!("find chromium: install the package chromium and try again");
    }
    if tools::get("npm", "npm") == Tool::Missing {
        bail!("find npm: install the package npm and try again");
    }
    let is_there = |name: &&str| {
        let name = name.split('@').next().unwrap_or_default();
        directory.join("node_modules").join(name).join("package.json").exists()
    };
    if !PACKAGES.iter().all(is_there) {
        println!("installing {} with npm", PACKAGES.join(", "));
        fs::create_dir_all(&directory)?;
        fs::write(directory.join("package.json"), "{\"private\": true}\n")?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error"]).args(PACKAGES);
        tools::run(npm.current_dir(&directory))?;
    }
    fs::write(directory.join("look.mjs"), LOOK)?;
    Ok(directory)
}

/// Loops of every kind: proven, asking, blocked, and one whose text wants to be obeyed.
fn play(scene: &Scene) -> Result<()> {
    let begin = |session: &str, goal: &str, options: &[&str]| -> Result<()> {
        let mut words = vec!["start", goal, "--session", session, "--no-preflight"];
        words.extend(options);
        let ran = scene.command(&words)?;
        if ran.status.success() { Ok(()) } else { bail!("begin a loop: {}", ran.status) }
    };
    let stop = |session: &str, message: &str| -> Result<()> {
        let mut payload = scene.payload(session, "Stop", &scene.path("transcript.jsonl"));
        payload["last_assistant_message"] = message.into();
        scene.hook_with(session, &payload)?.run().map(|_| ())
    };
    begin(
        "a",
        "The parser accepts every date of the old files, and all tests pass",
        &[
            "--check",
            "tests=test -f parsed || { echo 'FAILED tests/test_dates.py::test_leap_day'; exit 1; }",
            "--check",
            "types=test -f typed",
            "--check",
            "lint=true",
        ],
    )?;
    stop("a", "I looked at the dates.")?;
    stop("a", "Most of them work now.")?;
    fs::write(scene.project().join("typed"), "")?;
    stop("a", "<promise>COMPLETE</promise>")?;
    fs::write(scene.project().join("parsed"), "")?;
    stop("a", "All dates are read.")?;
    begin("b", "Move the images to the new bucket", &["--check", "images=false"])?;
    stop("b", "I need to know where.")?;
    stop("b", "<promise>ASK: Which bucket is the new one?</promise>")?;
    begin(
        "c",
        "Publish 2.0 <script>alert(1)</script> \u{1b}[2J\u{202e}evil",
        &["--max-iterations", "3"],
    )?;
    stop("c", "Trying.")?;
    stop("c", "<promise>BLOCKED: no key for the registry & no \"account\"</promise>")?;
    begin(
        "d",
        "größere Bilder 日本語の説明",
        &["--check", "build=false", "--max-iterations", "9"],
    )?;
    stop("d", "Noch nicht.")
}

/// What html-validate complains about.
fn validate(directory: &Path, file: &Path) -> Result<String> {
    let mut command = Command::new(directory.join("node_modules/.bin/html-validate"));
    command.args(["--formatter", "text"]).arg(file).current_dir(directory);
    let ran = command.output().context("start html-validate")?;
    let said = [ran.stdout, ran.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let wrong = said.concat();
    if ran.status.success() || !wrong.trim().is_empty() {
        return Ok(if ran.status.success() { String::new() } else { wrong });
    }
    bail!("run html-validate: {}", ran.status)
}

/// What axe and the browser say, for each way of looking.
fn look(directory: &Path, file: &Path, pictures: &Path) -> Result<Vec<Value>> {
    let mut node = Command::new("node");
    node.arg("look.mjs").args(["/usr/bin/chromium".as_ref(), file, pictures]);
    let ran = node.current_dir(directory).output().context("start node")?;
    let text = String::from_utf8_lossy(&ran.stdout);
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).with_context(|| {
        format!("look at the report: {text}{}", String::from_utf8_lossy(&ran.stderr))
    })
}

fn troubles(look: &Value) -> Vec<String> {
    let list = |name: &str| look[name].as_array().cloned().unwrap_or_default();
    let violated = list("violations").into_iter().map(|found| found.to_string());
    let asked = list("asked").into_iter().map(|url| format!("asked for {url}"));
    let said = list("complaints").into_iter().map(|text| format!("the browser says {text}"));
    let wide = look["overflow"].as_i64().filter(|overflow| *overflow > 0);
    let wide = wide.map(|overflow| format!("{overflow} columns of pixels too wide"));
    violated.chain(asked).chain(said).chain(wide).collect()
}

/// Keeps the pictures with the documentation.
fn keep(scene: &Scene) -> Result<()> {
    let screens = tools::root()?.join("docs/screens");
    for name in PICTURES {
        let name = format!("report-{name}.png");
        let made = scene.path(&name);
        let length = fs::metadata(&made)?.len();
        if length > PICTURE_BYTES_MAX {
            bail!("keep {name}: {length} bytes are too many for a picture");
        }
        fs::copy(made, screens.join(name))?;
    }
    Ok(())
}
