//! The black-box suite for stop hooks: ours, and beside it a hook of ten lines and the plugin's.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use stopgate_conformance::{
    ConformanceReport, HookCase, HookUnderTest, Mark, Selection, run as suite,
};

use crate::Verdict;
use crate::tools::{self, ProgramOption};

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

/// Which programs, and whether the page is made.
#[derive(Args)]
pub(crate) struct ConformanceOptions {
    #[command(flatten)]
    program: ProgramOption,
    /// The stop hook of the ralph-loop plugin
    #[arg(long, value_name = "FILE")]
    peer: Option<PathBuf>,
    /// Puts the table into docs/conformance.md
    #[arg(long)]
    write: bool,
}

/// Runs the suite; broken only where our own hook fails.
pub(crate) fn run(plan: &ConformanceOptions) -> Result<Verdict> {
    let ours = HookUnderTest::stopgate(&plan.program.find()?.display().to_string());
    let mut reports = vec![suite(&ours, &Selection::default())];
    for peer in peers(plan)? {
        reports.push(suite(&peer, &Selection::default()));
    }
    for report in &reports {
        println!("{}", report.table());
    }
    if plan.write {
        write(&page(&reports))?;
    }
    let failed = reports.first().map_or(0, |ours| ours.count(Mark::Fail));
    Ok(Verdict::from(failed == 0))
}

/// The hooks beside ours, as far as this machine can run them.
fn peers(plan: &ConformanceOptions) -> Result<Vec<HookUnderTest>> {
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
