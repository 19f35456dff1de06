//! `stats`: how often what was decided, and how well.

use std::process::ExitCode;

use stopgate_engine::tasks::GateStatsView;

use super::common;
use crate::output::{self, BOLD, DIM, Outcome, styled};

const NAME_LETTERS: usize = 60;

/// Count what was decided
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Gates(GatesArgs),
}

/// Each gate's decisions, how long it takes, and how often it was contradicted
#[derive(Debug, clap::Args)]
struct GatesArgs {
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Shows what was counted.
pub(crate) fn run(args: &Args) -> Outcome {
    let What::Gates(args) = &args.what;
    let stats = common::engine()?.gate_stats()?;
    if args.json {
        output::json(&stats);
    } else if stats.gates.is_empty() {
        output::line("No gate was ever put up. See: stopgate start --help, stopgate mcp --help");
    } else {
        stats.gates.iter().for_each(show);
    }
    Ok(ExitCode::SUCCESS)
}

fn show(gate: &GateStatsView) {
    let name: String = gate.gate.chars().take(NAME_LETTERS).collect();
    let counts = &gate.metrics;
    output::line(&format!("{}  put up {} times", styled(BOLD, &name), gate.registered));
    output::line(&format!(
        "  asked {}: complete {}, continue {}, escalate {} (failed {}), passed over {}",
        counts.evaluations,
        counts.complete,
        counts.r#continue,
        counts.escalate,
        counts.failed,
        counts.skipped
    ));
    let right = counts.accuracy.map_or_else(|| "unknown".into(), |share| format!("{share:.2} %"));
    output::line(&styled(
        DIM,
        &format!(
            "  right {right}: false complete {}, false continue {}; {} µs on the average, {} at most",
            counts.false_complete, counts.false_continue, counts.mean_micros, counts.max_micros
        ),
    ));
}
