//! A report as Markdown.
//!
//! Text that others wrote stands in code spans and fenced blocks only: there no link, image, HTML
//! tag, table or mention is read. Tables hold our own words.

use std::fmt::Write as _;

use stopgate_core::RulingWord;

use crate::report::{DiffStat, LoopReport, ReportedLoop};
use crate::shown::{shown, shown_short};
use crate::story::{CriterionMark, LoopStory, StopStory, model_lines};
use crate::when::{span, utc_clock, utc_minute};

/// Stops shown of one loop, the newest.
const STOPS_MAX: usize = 40;
/// Files shown of one diff.
const FILES_MAX: usize = 30;
const TEXT_LETTERS_MAX: usize = 400;

/// The report as Markdown.
pub fn markdown(report: &LoopReport) -> String {
    let mut text = String::from("# stopgate report\n\n");
    let _ = writeln!(text, "{}\n", report.heading());
    if report.loops.is_empty() {
        text.push_str("Nothing happened.\n");
        return text;
    }
    needs(&mut text, report);
    outcomes(&mut text, report);
    for told in report.in_order() {
        told_loop(&mut text, told);
    }
    text
}

/// Foreign text as a code span that nothing in it can end.
pub(crate) fn code(text: &str) -> String {
    let text = shown_short(text, TEXT_LETTERS_MAX);
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let text = if text.trim().is_empty() { "(empty)".into() } else { text };
    if longest > 0 || text.starts_with(' ') || text.ends_with(' ') {
        return format!("{fence} {text} {fence}");
    }
    format!("{fence}{text}{fence}")
}

fn needs(text: &mut String, report: &LoopReport) {
    text.push_str("## Needs a person\n\n");
    let mut any = false;
    for told in report.in_order() {
        let Some(advice) = told.advice() else { continue };
        any = true;
        let why = told.story.why.as_deref().map(|why| format!(": {}", code(why)));
        let _ = writeln!(
            text,
            "- **{}** {} ({}){}: {advice}",
            told.word(),
            code(&told.story.goal),
            told.story.id,
            why.unwrap_or_default()
        );
    }
    if !any {
        text.push_str("Nothing.\n");
    }
    text.push('\n');
}

fn outcomes(text: &mut String, report: &LoopReport) {
    if report.loops.len() < 2 {
        return;
    }
    text.push_str("## Outcomes\n\n| outcome | loops |\n|---|---:|\n");
    for (word, count) in report.outcomes() {
        let _ = writeln!(text, "| {word} | {count} |");
    }
    text.push('\n');
}

fn told_loop(text: &mut String, told: &ReportedLoop) {
    let story = &told.story;
    let (used, max) = story.iterations();
    let limit = if max == 0 { "no limit".into() } else { max.to_string() };
    let _ = writeln!(text, "## {}: {}\n", story.id, told.word());
    let _ = writeln!(text, "- goal: {}", code(&story.goal));
    let _ = writeln!(text, "- project: {}", code(&story.project));
    if let Some(why) = &story.why {
        let _ = writeln!(text, "- why: {}", code(why));
    }
    let _ = writeln!(text, "- continuations: {used} of {limit}");
    let _ = writeln!(text, "- work: {}", span(story.used_ms));
    spend(text, story);
    let _ = writeln!(
        text,
        "- from {} to {} UTC",
        utc_minute(story.started_at),
        utc_minute(story.updated_at)
    );
    let _ = writeln!(text, "- {}\n", told.soundness());
    criteria(text, story);
    timeline(text, story);
    if !story.changed_judges.is_empty() {
        text.push_str("### Changed judges\n\n");
        for change in &story.changed_judges {
            let _ = writeln!(text, "- {}", code(change));
        }
        text.push('\n');
    }
    if let Some(diff) = &told.diff {
        diff_stat(text, diff);
    }
}

/// What was used, and by model where there were several.
fn spend(text: &mut String, story: &LoopStory) {
    let Some(words) = &story.spend else { return };
    let _ = writeln!(text, "- spend: {}", code(words));
    for line in model_lines(story) {
        let _ = writeln!(text, "  - {}", code(&line));
    }
}

fn criteria(text: &mut String, story: &LoopStory) {
    if story.criteria.is_empty() {
        return;
    }
    text.push_str("### Criteria\n\n");
    for (at, criterion) in story.criteria.iter().enumerate() {
        let advisory = if criterion.is_required { "" } else { ", advisory" };
        let strength = criterion.strength.map(|strength| format!(", {strength}"));
        let took = match criterion.took_ms {
            0 => String::new(),
            short @ 1..1000 => format!(", {short} ms in all"),
            ms => format!(", {} in all", span(i64::try_from(ms).unwrap_or(i64::MAX))),
        };
        let _ = writeln!(
            text,
            "- C{}: {} ({}{advisory}{}{took}) {}",
            at + 1,
            criterion.now.word(),
            criterion.kind,
            strength.unwrap_or_default(),
            code(&criterion.name)
        );
    }
    text.push('\n');
}

fn timeline(text: &mut String, story: &LoopStory) {
    if story.stops.is_empty() {
        return;
    }
    let churn = story.knows_churn();
    text.push_str("### Stops\n\n| stop | UTC | answer | rule |");
    text.push_str(if churn { " files changed |" } else { "" });
    for at in 1..=story.criteria.len() {
        let _ = write!(text, " C{at} |");
    }
    text.push_str("\n|---:|---|---|---|");
    text.push_str(if churn { "---:|" } else { "" });
    text.push_str(&":-:|".repeat(story.criteria.len()));
    text.push('\n');
    let skipped = story.stops.len().saturating_sub(STOPS_MAX);
    for stop in story.stops.iter().skip(skipped) {
        let _ = write!(
            text,
            "| {} | {} | {} | {} |",
            stop.number,
            utc_clock(stop.at),
            answer(stop),
            stop.rule
        );
        if churn {
            let _ = write!(text, " {} |", changed_files(stop));
        }
        for criterion in &story.criteria {
            let mark =
                criterion.marks.get(stop.number - 1).copied().unwrap_or(CriterionMark::Unseen);
            let _ = write!(text, " {} |", mark.sign());
        }
        text.push('\n');
    }
    text.push('\n');
    if skipped > 0 {
        let _ = writeln!(text, "{skipped} earlier stops are left out.\n");
    }
    for stop in story.stops.iter().skip(skipped).filter(|stop| !stop.why.is_empty()) {
        let _ = writeln!(text, "- stop {}: {}", stop.number, code(&stop.why));
    }
    for moment in &story.moments {
        let at = utc_clock(moment.at);
        let _ = writeln!(text, "- {at} {}: {}", moment.kind, code(&moment.what));
    }
    text.push('\n');
}

/// How many files had changed at a stop, where that is known.
pub(crate) fn changed_files(stop: &StopStory) -> String {
    stop.changed_files.map_or_else(String::new, |files| files.to_string())
}

/// What was answered at a stop, in few words.
pub(crate) fn answer(stop: &StopStory) -> String {
    match stop.outcome {
        Some(outcome) => format!("ended: {outcome}"),
        None if stop.verdict == RulingWord::Continue => format!("sent back ({})", stop.iteration),
        None => "let go".into(),
    }
}

fn diff_stat(text: &mut String, diff: &DiffStat) {
    let commit: String = shown(&diff.commit).chars().take(12).collect();
    if diff.files.is_empty() && diff.new_files.is_empty() {
        let _ = writeln!(text, "No file differs from commit {}.\n", code(&commit));
        return;
    }
    let _ = writeln!(
        text,
        "### Files changed since the start\n\n{}, from commit {}\n",
        diff.sentence(),
        code(&commit)
    );
    for (path, lines) in diff.files.iter().take(FILES_MAX) {
        let lines = lines.map_or_else(|| "binary".into(), |(a, r)| format!("+{a} -{r}"));
        let _ = writeln!(text, "- {lines} {}", code(path));
    }
    for path in diff.new_files.iter().take(FILES_MAX) {
        let _ = writeln!(text, "- new {}", code(path));
    }
    let more =
        diff.files.len().saturating_sub(FILES_MAX) + diff.new_files.len().saturating_sub(FILES_MAX);
    if more > 0 {
        let _ = writeln!(text, "- and {more} more");
    }
    text.push('\n');
}
