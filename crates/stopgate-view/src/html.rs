//! A report as one HTML file: no script, no request, light, dark and print.
//!
//! Every piece of text that others wrote goes through [`text`], which shows what it must not obey
//! and escapes the rest; attributes hold our own words only.

use std::fmt::Write as _;

use crate::markdown::{answer, changed_files};
use crate::report::{DiffStat, LoopReport, ReportedLoop};
use crate::shown::{shown_lines, shown_short};
use crate::story::{CriterionMark, LoopStory, StopStory, model_lines};
use crate::timeline::svg;
use crate::when::{span, utc_clock, utc_minute};

const STYLE: &str = include_str!("report.css");
/// Stops shown of one loop, the newest.
const STOPS_MAX: usize = 60;
const FILES_MAX: usize = 100;
const TEXT_LETTERS_MAX: usize = 1000;
/// What the shapes of the timeline mean.
const LEGEND: &str =
    "Stops over time: ● sent back, ❙ let go, ■ ended as proven or attested, ▲ ended otherwise";
const SENT_BYTES_MAX: usize = 8 * 1024;

/// The report as one HTML file.
pub fn html(report: &LoopReport) -> String {
    let mut page = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>stopgate report</title>\n<style>\n",
    );
    page.push_str(STYLE);
    page.push_str("</style>\n</head>\n<body>\n<header>\n<h1>stopgate report</h1>\n");
    let _ = writeln!(page, "<p>{}</p>\n</header>\n<main>", report.heading());
    needs(&mut page, report);
    outcomes(&mut page, report);
    for told in report.in_order() {
        told_loop(&mut page, told);
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

/// Foreign text on one line, dead.
pub(crate) fn text(foreign: &str) -> String {
    escape(&shown_short(foreign, TEXT_LETTERS_MAX))
}

/// Foreign text with its lines, dead.
fn lines(foreign: &str) -> String {
    let mut end = foreign.len().min(SENT_BYTES_MAX);
    while !foreign.is_char_boundary(end) {
        end -= 1;
    }
    let cut = if end < foreign.len() { "\n…" } else { "" };
    // The parser drops a line break that follows the tag.
    format!("\n{}{cut}", escape(&shown_lines(&foreign[..end])))
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

fn needs(page: &mut String, report: &LoopReport) {
    page.push_str("<section class=\"needs\">\n<h2>Needs a person</h2>\n");
    let waiting: Vec<&ReportedLoop> =
        report.in_order().into_iter().filter(|told| told.needs_person()).collect();
    if waiting.is_empty() {
        page.push_str("<p>Nothing.</p>\n</section>\n");
        return;
    }
    page.push_str("<ul>\n");
    for told in waiting {
        let story = &told.story;
        let why = story.why.as_deref().map(|why| format!(": {}", text(why)));
        let _ = writeln!(
            page,
            "<li><strong>{}</strong> <a href=\"#{}\">{}</a>{}<br>{}</li>",
            told.word(),
            anchor(story),
            text(&story.goal),
            why.unwrap_or_default(),
            text(&told.advice().unwrap_or_default())
        );
    }
    page.push_str("</ul>\n</section>\n");
}

/// A name for links; a loop's own name has letters and digits only.
fn anchor(story: &LoopStory) -> String {
    let plain = story.id.chars().filter(char::is_ascii_alphanumeric);
    format!("loop-{}", plain.collect::<String>())
}

fn outcomes(page: &mut String, report: &LoopReport) {
    if report.loops.len() < 2 {
        return;
    }
    page.push_str(
        "<section>\n<h2>Outcomes</h2>\n<table>\n<caption>How loops ended or stand</caption>\n\
         <thead><tr><th scope=\"col\">outcome</th><th scope=\"col\">loops</th></tr></thead>\n<tbody>\n",
    );
    for (word, count) in report.outcomes() {
        let _ = writeln!(page, "<tr><th scope=\"row\">{word}</th><td>{count}</td></tr>");
    }
    page.push_str("</tbody>\n</table>\n</section>\n");
}

fn told_loop(page: &mut String, told: &ReportedLoop) {
    let story = &told.story;
    let (used, max) = story.iterations();
    let limit = if max == 0 { "no limit".into() } else { max.to_string() };
    let _ = writeln!(
        page,
        "<section id=\"{}\">\n<h2><span class=\"id\">{}</span> {}</h2>\n<p class=\"goal\">{}</p>\n<dl>",
        anchor(story),
        text(&story.id),
        told.word(),
        text(&story.goal)
    );
    let mut row = |label: &str, value: String| {
        let _ = writeln!(page, "<dt>{label}</dt><dd>{value}</dd>");
    };
    if let Some(why) = &story.why {
        row("why", text(why));
    }
    row("project", text(&story.project));
    row("continuations", format!("{used} of {limit}"));
    row("work", span(story.used_ms));
    if let Some(words) = &story.spend {
        let lines: Vec<String> = model_lines(story).iter().map(|line| text(line)).collect();
        let models =
            if lines.is_empty() { String::new() } else { format!("<br>{}", lines.join("<br>")) };
        row("spend", format!("{}{models}", text(words)));
    }
    row(
        "time",
        format!("{} to {} UTC", utc_minute(story.started_at), utc_minute(story.updated_at)),
    );
    row("receipts", text(&told.soundness()));
    page.push_str("</dl>\n");
    if let Some(drawn) = svg(story) {
        let _ = writeln!(page, "<figure>\n{drawn}<figcaption>{LEGEND}</figcaption>\n</figure>");
    }
    criteria(page, story);
    stops(page, story);
    rest(page, told);
    page.push_str("</section>\n");
}

fn criteria(page: &mut String, story: &LoopStory) {
    if story.criteria.is_empty() {
        return;
    }
    let _ = writeln!(
        page,
        "<h3>Criteria</h3>\n<table>\n<caption>Criteria of loop {}</caption>\n<thead><tr>\
         <th scope=\"col\">no.</th><th scope=\"col\">criterion</th><th scope=\"col\">kind</th>\
         <th scope=\"col\">now</th><th scope=\"col\">strength</th><th scope=\"col\">time</th>\
         </tr></thead>\n<tbody>",
        text(&story.id)
    );
    for (at, criterion) in story.criteria.iter().enumerate() {
        let advisory = if criterion.is_required { "" } else { " (advisory)" };
        let _ = writeln!(
            page,
            "<tr><td>C{}</td><th scope=\"row\">{}{advisory}</th><td>{}</td><td class=\"{}\">{} {}</td>\
             <td>{}</td><td>{}</td></tr>",
            at + 1,
            text(&criterion.name),
            criterion.kind,
            class(criterion.now),
            criterion.now.sign(),
            criterion.now.word(),
            criterion.strength.map_or("none", stopgate_core::Strength::word),
            span(i64::try_from(criterion.took_ms).unwrap_or(i64::MAX))
        );
    }
    page.push_str("</tbody>\n</table>\n");
}

const fn class(mark: CriterionMark) -> &'static str {
    match mark {
        CriterionMark::Unseen => "unseen",
        CriterionMark::Pass => "pass",
        CriterionMark::Fail => "fail",
        CriterionMark::Broken => "broken",
        CriterionMark::Waits => "waits",
    }
}

fn stops(page: &mut String, story: &LoopStory) {
    if story.stops.is_empty() {
        return;
    }
    let _ = write!(
        page,
        "<h3>Stops</h3>\n<table>\n<caption>Stops of loop {}</caption>\n<thead><tr>\
         <th scope=\"col\">stop</th><th scope=\"col\">UTC</th><th scope=\"col\">answer</th>\
         <th scope=\"col\">rule</th><th scope=\"col\">why</th>",
        text(&story.id)
    );
    if story.knows_churn() {
        page.push_str("<th scope=\"col\">files changed</th>");
    }
    for at in 1..=story.criteria.len() {
        let _ = write!(page, "<th scope=\"col\">C{at}</th>");
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    let skipped = story.stops.len().saturating_sub(STOPS_MAX);
    for stop in story.stops.iter().skip(skipped) {
        row(page, story, stop);
    }
    page.push_str("</tbody>\n</table>\n");
    if skipped > 0 {
        let _ = writeln!(page, "<p>{skipped} earlier stops are left out.</p>");
    }
}

fn row(page: &mut String, story: &LoopStory, stop: &StopStory) {
    let _ = write!(
        page,
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td class=\"why\">{}{}</td>",
        stop.number,
        utc_clock(stop.at),
        answer(stop),
        stop.rule,
        text(&stop.why),
        sent(stop)
    );
    if story.knows_churn() {
        let _ = write!(page, "<td>{}</td>", changed_files(stop));
    }
    for criterion in &story.criteria {
        let mark = criterion.marks.get(stop.number - 1).copied().unwrap_or(CriterionMark::Unseen);
        let _ = write!(page, "<td class=\"{}\">{}</td>", class(mark), mark.sign());
    }
    page.push_str("</tr>\n");
}

fn sent(stop: &StopStory) -> String {
    if stop.text.is_empty() {
        return String::new();
    }
    let first = stop.text.lines().next().unwrap_or_default();
    format!(
        "<details><summary>{}</summary><pre>{}</pre></details>",
        text(if first.trim().is_empty() { "the text sent" } else { first }),
        lines(&stop.text)
    )
}

fn rest(page: &mut String, told: &ReportedLoop) {
    let story = &told.story;
    if !story.moments.is_empty() {
        page.push_str("<h3>What else happened</h3>\n<ul>\n");
        for moment in &story.moments {
            let (at, kind) = (utc_clock(moment.at), moment.kind);
            let _ = writeln!(page, "<li>{at} {kind}: {}</li>", text(&moment.what));
        }
        page.push_str("</ul>\n");
    }
    if !story.changed_judges.is_empty() {
        page.push_str("<h3>Changed judges</h3>\n<ul>\n");
        for change in &story.changed_judges {
            let _ = writeln!(page, "<li>{}</li>", text(change));
        }
        page.push_str("</ul>\n");
    }
    if let Some(diff) = &told.diff {
        diff_stat(page, diff);
    }
}

fn diff_stat(page: &mut String, diff: &DiffStat) {
    let commit: String = diff.commit.chars().take(12).collect();
    let _ = writeln!(
        page,
        "<h3>Files changed since the start</h3>\n<p>{}, from commit {}</p>",
        diff.sentence(),
        text(&commit)
    );
    if diff.files.is_empty() && diff.new_files.is_empty() {
        return;
    }
    page.push_str("<ul>\n");
    for (path, lines) in diff.files.iter().take(FILES_MAX) {
        let lines = lines.map_or_else(|| "binary".into(), |(a, r)| format!("+{a} -{r}"));
        let _ = writeln!(page, "<li>{lines} <code>{}</code></li>", text(path));
    }
    for path in diff.new_files.iter().take(FILES_MAX) {
        let _ = writeln!(page, "<li>new <code>{}</code></li>", text(path));
    }
    let more =
        diff.files.len().saturating_sub(FILES_MAX) + diff.new_files.len().saturating_sub(FILES_MAX);
    if more > 0 {
        let _ = writeln!(page, "<li>and {more} more</li>");
    }
    page.push_str("</ul>\n");
}
