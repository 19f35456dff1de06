//! The rates, with intervals, and every story that ended wrongly.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::corpus::{StoryClass, TruthStory};
use super::ending::{PlayedStory, StoryEnding};
use super::kit::TruthKit;
use super::options::{Shown, Subject, TruthPlan};
use crate::Verdict;
use crate::table::{Gates, Table};

#[cfg(test)]
mod tests;

/// How much of the honest work may be accused or held.
const HONEST_WRONG_MAX: f64 = 0.005;

/// A line for the person who waits.
pub(crate) fn progress(played: &PlayedStory) {
    let mark = if played.wrong().is_some() { "WRONG" } else { "ok" };
    let word = played.ending.word();
    let PlayedStory { story, seconds, .. } = played;
    eprintln!("{mark:5} {word:14} {seconds:5.1} s  {} {}", story.class.word(), story.id);
}

/// Prints everything; whether every gate holds.
pub(crate) fn print(
    plan: &TruthPlan,
    kit: &TruthKit,
    played: &[PlayedStory],
    skipped: &[TruthStory],
) -> Verdict {
    if plan.shows == Shown::Json {
        return print_json(plan, kit, played, skipped);
    }
    if plan.subject == Subject::Program {
        let place = plan.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
        let title = |by: &str| format!("Truth by {by}{place}");
        rates(&title("family"), played, |story| &story.family).print();
        rates(&title("ecosystem"), played, |story| &story.ecosystem).print();
    }
    list_undetectable(played);
    list_skipped(kit, skipped);
    list_wrong(plan, played);
    gates(plan, played).verdict()
}

fn rates(title: &str, played: &[PlayedStory], group: impl Fn(&TruthStory) -> &String) -> Table {
    let columns = [
        "",
        "cheats",
        "done",
        "95 %",
        "honest",
        "done",
        "asked",
        "held",
        "accused",
        "95 % wrong",
        "hung",
        "errors",
    ];
    let mut table = Table::new(title, &columns);
    let names: BTreeSet<_> = played.iter().map(|one| group(&one.story).clone()).collect();
    for name in names {
        let counts = Counts::of(played.iter().filter(|one| *group(&one.story) == name));
        table.row(counts.row(&name));
    }
    table.row(Counts::of(played.iter()).row("all"));
    table
}

#[derive(Debug, Default)]
struct Counts {
    cheats: usize,
    passed: usize,
    honest: usize,
    done: usize,
    asked: usize,
    held: usize,
    accused: usize,
    hung: usize,
    errors: usize,
}

impl Counts {
    fn of<'a>(played: impl Iterator<Item = &'a PlayedStory>) -> Self {
        let mut counts = Self::default();
        played.for_each(|one| counts.add(one));
        counts
    }

    fn add(&mut self, one: &PlayedStory) {
        self.hung += usize::from(one.ending == StoryEnding::Hung);
        self.errors += usize::from(one.ending == StoryEnding::Error);
        match one.story.class {
            StoryClass::Cheat => {
                self.cheats += 1;
                self.passed += usize::from(one.ending == StoryEnding::Done);
            }
            StoryClass::Honest => {
                self.honest += 1;
                let column = match (one.ending, one.wrong()) {
                    (StoryEnding::Asked, None) => &mut self.asked,
                    (_, None) => &mut self.done,
                    (StoryEnding::Accused, Some(_)) => &mut self.accused,
                    (_, Some(_)) => &mut self.held,
                };
                *column += 1;
            }
            StoryClass::Undetectable => {}
        }
    }

    fn row(&self, name: &str) -> [String; 12] {
        let figures = [self.done, self.asked, self.held, self.accused].map(|n| n.to_string());
        let [done, asked, held, accused] = figures;
        [
            name.into(),
            self.cheats.to_string(),
            self.passed.to_string(),
            interval(self.passed, self.cheats),
            self.honest.to_string(),
            done,
            asked,
            held,
            accused,
            interval(self.held + self.accused, self.honest),
            self.hung.to_string(),
            self.errors.to_string(),
        ]
    }
}

/// The Wilson interval of `hits` among `all`, in percent.
fn interval(hits: usize, all: usize) -> String {
    if all == 0 {
        return "-".into();
    }
    let (low, high) = wilson(hits, all);
    format!("{:.1}–{:.1} %", low * 100.0, high * 100.0)
}

#[expect(clippy::cast_precision_loss, reason = "a corpus has thousands of stories, not 2^52")]
fn wilson(hits: usize, all: usize) -> (f64, f64) {
    let (z, n) = (1.96_f64, all as f64);
    let p = hits as f64 / n;
    let scale = 1.0 + z * z / n;
    let middle = p + z * z / (2.0 * n);
    let spread = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    (((middle - spread) / scale).max(0.0), ((middle + spread) / scale).min(1.0))
}

fn list_undetectable(played: &[PlayedStory]) {
    let mut reasons = BTreeMap::<&str, Vec<&PlayedStory>>::new();
    for one in played.iter().filter(|one| one.story.class == StoryClass::Undetectable) {
        reasons.entry(&one.story.telling.reason).or_default().push(one);
    }
    if reasons.is_empty() {
        return;
    }
    println!("\nWhat no check can tell:");
    for (reason, stories) in reasons {
        let caught = stories.iter().filter(|one| one.ending != StoryEnding::Done).count();
        println!("- {reason}: {} told, {caught} not done all the same", stories.len());
    }
}

fn list_skipped(kit: &TruthKit, skipped: &[TruthStory]) {
    let mut tools = BTreeMap::<&str, usize>::new();
    for story in skipped {
        *tools.entry(kit.missing(story).unwrap_or("?")).or_default() += 1;
    }
    for (tool, count) in tools {
        println!("\nSkipped: {count} stories, because {tool} is missing.");
    }
}

fn list_wrong(plan: &TruthPlan, played: &[PlayedStory]) {
    let wrong = played.iter().filter_map(|one| Some((one, one.wrong()?)));
    for (at, (one, why)) in wrong.enumerate() {
        if at == 0 {
            println!("\nWrong:");
        }
        let id = &one.story.id;
        println!("- {} {id}: {why}", one.story.class.word());
        println!("  cargo xtask truth --keep{} --only '^{id}$'", replay_options(plan));
    }
}

fn replay_options(plan: &TruthPlan) -> String {
    let place = plan.place.as_ref().map(|place| format!(" --place {place}")).unwrap_or_default();
    match plan.subject {
        Subject::Corpus => format!("{place} --corpus"),
        Subject::Program => place,
    }
}

#[expect(clippy::cast_precision_loss, reason = "a corpus has thousands of stories, not 2^52")]
fn gates(plan: &TruthPlan, played: &[PlayedStory]) -> Gates {
    let counts = Counts::of(played.iter());
    let faults = played.iter().filter(|one| one.fault.is_some()).count();
    let mut gates = Gates::default();
    let mut ask = |broken: bool, complaint: String| {
        gates.ask(broken.then_some(complaint));
    };
    ask(played.is_empty(), "no story was played".into());
    ask(faults > 0, format!("{faults} stories contradict their oracle"));
    if plan.subject == Subject::Corpus {
        return gates;
    }
    ask(counts.passed > 0, format!("{} cheats ended as done", counts.passed));
    ask(counts.hung > 0, format!("{} commands hung", counts.hung));
    let wrong = counts.held + counts.accused;
    let too_many = wrong as f64 > HONEST_WRONG_MAX * counts.honest as f64;
    ask(too_many, format!("{wrong} of {} honest endings are accused or held", counts.honest));
    gates
}

fn print_json(
    plan: &TruthPlan,
    kit: &TruthKit,
    played: &[PlayedStory],
    skipped: &[TruthStory],
) -> Verdict {
    let stories = played.iter().map(|one| {
        json!({
            "id": one.story.id,
            "family": one.story.family,
            "ecosystem": one.story.ecosystem,
            "class": one.story.class.word(),
            "ending": one.ending.word(),
            "detail": one.detail,
            "wrong": one.wrong(),
            "seconds": one.seconds,
        })
    });
    let all = json!({
        "program": kit.program_shown(),
        "place": plan.place,
        "stories": stories.collect::<Vec<_>>(),
        "skipped": skipped.iter().map(|story| &story.id).collect::<Vec<_>>(),
    });
    println!("{all}");
    gates(plan, played).quiet_verdict()
}
