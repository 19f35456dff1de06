//! `stats`: how often what was decided, and how well.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;

use stopgate_core::{tokens_text, usd_text};
use stopgate_engine::span_ms;
use stopgate_engine::tasks::GateStatsView;
use stopgate_view::{CheckStats, GroupStats, LoopStats, ModelStats, shown_short, span};

use super::common;
use crate::output::{self, BOLD, CommandResult, DIM, styled};

const NAME_LETTERS: usize = 60;
/// Groups and checks shown to people; JSON has all.
const ROWS_MAX: usize = 12;

/// Count outcomes, rules and checks by project, agent and week
///
/// Says also what shadow loops would have held, caught and saved.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// Only loops that were touched in this time, such as 30d
    #[arg(long, value_name = "TIME", value_parser = span_ms)]
    since: Option<u64>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
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
pub(crate) fn run(args: &Args) -> CommandResult {
    let Some(What::Gates(args)) = &args.what else { return loops(args) };
    let stats = common::engine()?.task_records().gate_stats()?;
    if args.json {
        output::json(&stats);
    } else if stats.gates.is_empty() {
        output::line(
            "No gate was ever registered. See: stopgate start --help, stopgate mcp --help",
        );
    } else {
        stats.gates.iter().for_each(show);
    }
    Ok(ExitCode::SUCCESS)
}

fn show(gate: &GateStatsView) {
    let name: String = gate.gate.chars().take(NAME_LETTERS).collect();
    let counts = &gate.metrics;
    output::line(&format!("{}  registered {} times", styled(BOLD, &name), gate.registered));
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
            "  right {right}: false complete {}, false continue {}; {} µs on average, {} at most",
            counts.false_complete, counts.false_continue, counts.mean_micros, counts.max_micros
        ),
    ));
}

fn loops(args: &Args) -> CommandResult {
    let view = common::engine()?.records().loop_stats(args.since)?;
    if args.json {
        output::json(&view);
    } else if view.loops == 0 {
        output::line("No loops. Begin one with: stopgate start \"GOAL\"");
    } else {
        show_loops(&view);
    }
    Ok(ExitCode::SUCCESS)
}

fn show_models(models: &BTreeMap<String, ModelStats>) {
    if models.is_empty() {
        return;
    }
    output::line(&styled(BOLD, "By model"));
    for (name, model) in models.iter().take(ROWS_MAX) {
        let name = if name.is_empty() { "unnamed".into() } else { shown_short(name, NAME_LETTERS) };
        let cost = match (model.unpriced_tokens, model.cost_micros) {
            (0, micros) => usd_text(micros.saturating_mul(1000)),
            (_some, 0) => "price unknown".into(),
            (_some, micros) => format!("at least {}", usd_text(micros.saturating_mul(1000))),
        };
        let calls = counted(model.calls, "call");
        let tokens = tokens_text(model.tokens);
        output::line(&format!("  {name}  {calls}, {tokens} tokens, {cost}"));
    }
    show_more(models.len());
}

fn show_loops(stats: &LoopStats) {
    output::line(&format!(
        "{}, {} running; {}, {} of them sent back",
        counted(stats.loops, "loop"),
        stats.running,
        counted(stats.stops, "stop"),
        stats.continuations
    ));
    output::line(&format!("  outcomes: {}", counts(&stats.outcomes)));
    output::line(&format!("  rules: {}", counts(&stats.rules)));
    show_groups("By project", &stats.by_project);
    show_groups("By agent", &stats.by_agent);
    show_groups("By week", &stats.by_week);
    show_models(&stats.by_model);
    if !stats.checks.is_empty() {
        output::line(&styled(BOLD, "Checks"));
        stats.checks.iter().take(ROWS_MAX).for_each(show_check);
        show_more(stats.checks.len());
    }
    let shadow = &stats.shadow;
    if shadow.loops > 0 {
        output::line(&styled(BOLD, "In shadow mode"));
        output::line(&format!(
            "  {} would have held {}, {} of them with a claim to be done while a check failed; a \
             limit would have let {} go",
            counted(shadow.loops, "loop"),
            counted(shadow.would_hold, "stop"),
            shadow.would_catch,
            shadow.would_end
        ));
    }
}

/// The counts, the largest first.
fn counts(counts: &BTreeMap<&'static str, u64>) -> String {
    let mut all: Vec<(&str, u64)> = counts.iter().map(|(word, count)| (*word, *count)).collect();
    all.sort_by_key(|(word, count)| (std::cmp::Reverse(*count), *word));
    let words: Vec<String> = all.iter().map(|(word, count)| format!("{word} {count}")).collect();
    if words.is_empty() { "none yet".into() } else { words.join(", ") }
}

/// Groups, where there are several: one alone says what was said above.
fn show_groups(title: &str, groups: &BTreeMap<String, GroupStats>) {
    if groups.len() < 2 {
        return;
    }
    output::line(&styled(BOLD, title));
    let mut all: Vec<(&String, &GroupStats)> = groups.iter().collect();
    all.sort_by_key(|(name, group)| (std::cmp::Reverse(group.loops), *name));
    for (name, group) in all.iter().take(ROWS_MAX) {
        output::line(&format!(
            "  {}: {}, {}, {} of work; {}; rules: {}",
            shown_short(name, NAME_LETTERS),
            counted(group.loops, "loop"),
            counted(group.stops, "stop"),
            span(group.used_ms),
            counts(&group.outcomes),
            counts(&group.rules)
        ));
    }
    show_more(all.len());
}

fn show_more(count: usize) {
    if count > ROWS_MAX {
        output::line(&styled(DIM, &format!("  and {} more: --json has all", count - ROWS_MAX)));
    }
}

fn show_check(check: &CheckStats) {
    let mean = check.total_ms / check.runs.max(1);
    let parts = [
        (check.failed, "failed"),
        (check.errors, "could not run"),
        (check.flaky, "flaky"),
        (check.caught_alone, "caught by it alone"),
    ];
    let mut told = counted(check.runs, "run");
    for (count, what) in parts.iter().filter(|(count, _)| *count > 0) {
        let _ = write!(told, ", {count} {what}");
    }
    output::line(&format!(
        "  {}: {told}; {mean} ms on average, {} ms at most",
        shown_short(&check.name, NAME_LETTERS),
        check.max_ms
    ));
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
