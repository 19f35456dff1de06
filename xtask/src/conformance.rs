//! The black-box suite for stop hooks: ours, and beside it a hook of ten lines and the plugin's.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use stopgate_conformance::{
    ConformanceReport, HookCase, HookUnderTest, Mark, Selection, run as suite,
};

use crate::{Verdict, tools};

/// Where the table for readers is.
const PAGE: &str = "docs/conformance.md";
const BEGIN: &str = "<!-- made by `cargo xtask conformance --write` -->";
const END: &str = "<!-- end -->";

const TEN_LINES: &str = "crates/stopgate-conformance/tests/data/ten-lines.sh";

/// The state that the plugin's own command writes; a session, no limit, a promise.
const ARM_PEER: &str = "mkdir -p .claude && printf '%s\\n' --- 'active: true' 'iteration: 1' \
\"session_id: $CONFORMANCE_SESSION\" 'max_iterations: 0' 'completion_promise: \"DONE\"' \
'started_at: \"2026-01-01T00:00:00Z\"' --- '' 'finish the work' > .claude/ralph-loop.local.md";

/// It ends when the agent promises, in its transcript.
const FINISH_PEER: &str = "printf '%s\\n' '{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\",\
\"content\":[{\"type\":\"text\",\"text\":\"<promise>DONE</promise>\"}]}}' >> \"$CONFORMANCE_TRANSCRIPT\"";

/// What was asked for.
#[derive(Default)]
struct Plan {
    program: Option<PathBuf>,
    peer: Option<PathBuf>,
    writes: bool,
}

/// Runs the suite; broken only where our own hook fails.
pub(crate) fn run(options: &[&str]) -> Result<Verdict> {
    let plan = read(options)?;
    let program = match &plan.program {
        Some(file) => file.canonicalize().context("find the program")?,
        None => tools::program()?,
    };
    let mut reports = vec![suite(&ours(&program), &Selection::default())];
    for peer in peers(&plan)? {
        reports.push(suite(&peer, &Selection::default()));
    }
    for report in &reports {
        println!("{}", report.table());
    }
    if plan.writes {
        write(&page(&reports))?;
    }
    let failed = reports.first().map_or(0, |ours| ours.count(Mark::Fail));
    Ok(if failed == 0 { Verdict::Fine } else { Verdict::Broken })
}

fn read(options: &[&str]) -> Result<Plan> {
    let mut plan = Plan::default();
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match (*option, options.as_slice().first()) {
            ("--write", _) => plan.writes = true,
            ("--program", Some(file)) => plan.program = Some(file.into()),
            ("--peer", Some(file)) => plan.peer = Some(file.into()),
            (other, _) => bail!("understand {other:?}: see cargo xtask --help"),
        }
        if *option != "--write" {
            options.next();
        }
    }
    Ok(plan)
}

fn ours(program: &Path) -> HookUnderTest {
    HookUnderTest::stopgate(&program.display().to_string())
}

/// The hooks beside ours, as far as this machine can run them.
fn peers(plan: &Plan) -> Result<Vec<HookUnderTest>> {
    let mut peers = Vec::new();
    if !["bash", "jq"].iter().all(|tool| tools::has(tool)) {
        println!("Peers not run: they need bash and jq.");
        return Ok(peers);
    }
    let script = tools::root()?.join(TEN_LINES);
    peers.push(HookUnderTest {
        line: Some(format!("bash '{}'", script.display())),
        arm: Some("echo 'test -f finished' > check.sh".into()),
        finish: Some("touch finished".into()),
        ..HookUnderTest::named("ten lines of bash")
    });
    let Some(script) = &plan.peer else {
        println!("ralph-loop not run: its script is not part of this repository; --peer FILE.");
        return Ok(peers);
    };
    let script = script.canonicalize().context("find the peer's script")?;
    peers.push(HookUnderTest {
        line: Some(format!("bash '{}'", script.display())),
        arm: Some(ARM_PEER.into()),
        finish: Some(FINISH_PEER.into()),
        ..HookUnderTest::named("ralph-loop")
    });
    Ok(peers)
}

/// The table of the page: a case a line, a hook a column, all clients of a hook together.
fn page(reports: &[ConformanceReport]) -> String {
    let mut text = String::from("| case | why |");
    for report in reports {
        let _ = write!(text, " {} |", report.hook);
    }
    text.push_str("\n|---|---|");
    text.push_str(&"---|".repeat(reports.len()));
    text.push('\n');
    for case in HookCase::all() {
        let _ = write!(text, "| {} | {} |", case.name, case.why);
        for report in reports {
            let _ = write!(text, " {} |", word(report.mark_of(case.name)));
        }
        text.push('\n');
    }
    text.push_str("| **cases with clients: passed, failed, not applicable** | |");
    for report in reports {
        let [passed, failed, not] =
            [Mark::Pass, Mark::Fail, Mark::NotApplicable].map(|mark| report.count(mark));
        let _ = write!(text, " {passed}, {failed}, {not} |");
    }
    text.push('\n');
    text
}

const fn word(mark: Mark) -> &'static str {
    match mark {
        Mark::Pass => "✓",
        Mark::Fail => "✗",
        Mark::NotApplicable => "–",
    }
}

/// Puts the table between the marks of the page.
fn write(table: &str) -> Result<()> {
    let path = tools::root()?.join(PAGE);
    let text = fs::read_to_string(&path).with_context(|| format!("read {PAGE}"))?;
    let (before, rest) = text.split_once(BEGIN).with_context(|| format!("find {BEGIN}"))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("find {END}"))?;
    fs::write(&path, format!("{before}{BEGIN}\n\n{table}\n{END}{after}"))?;
    println!("wrote {PAGE}");
    Ok(())
}
