//! Is `done` true? Stories with a known truth, played against the built program.
//!
//! A story is data below `truth/`: a small project, a loop, and what an agent does. An
//! oracle that does not use the program says whether the work was done. The program is a
//! black box: it is started, called as a hook, and asked for its status.

mod commits;
mod corpus;
mod ending;
mod kit;
mod options;
mod play;
mod report;
mod stage;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;

use crate::Verdict;
use corpus::TruthStory;
use ending::PlayedStory;
use kit::TruthKit;
use options::TruthPlan;

/// Plays what was asked for and prints the rates.
pub(crate) fn run(options: &[&str]) -> Result<Verdict> {
    let plan = options::read(options)?;
    if !plan.commits.is_empty() {
        return commits::run(&plan);
    }
    let stories = corpus::choose(corpus::load()?, &plan);
    if plan.shows == options::Shown::Names {
        stories.iter().for_each(|story| println!("{}\t{}", story.class.word(), story.id));
        return Ok(Verdict::Fine);
    }
    let kit = TruthKit::gather(&plan, stories.iter().flat_map(|story| &story.needs))?;
    let (stories, skipped): (Vec<_>, Vec<_>) =
        stories.into_iter().partition(|story| kit.missing(story).is_none());
    let played = play_all(&kit, &plan, &stories);
    Ok(report::print(&plan, &kit, &played, &skipped))
}

/// Plays every story, some at a time; in the order of the corpus.
fn play_all(kit: &TruthKit, plan: &TruthPlan, stories: &[TruthStory]) -> Vec<PlayedStory> {
    let next = AtomicUsize::new(0);
    let played = Mutex::new(Vec::with_capacity(stories.len()));
    std::thread::scope(|scope| {
        for _ in 0..plan.jobs {
            scope.spawn(|| {
                while let Some(story) = stories.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let one = play::story(kit, plan, story);
                    report::progress(&one);
                    played.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(one);
                }
            });
        }
    });
    let mut played = played.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    played.sort_by(|one, other| one.story.id.cmp(&other.story.id));
    played
}
