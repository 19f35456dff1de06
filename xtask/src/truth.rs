//! Is `done` true? Stories with a known truth, played against the built program.
//!
//! A story is data below `truth/`: a small project, a loop, and what an agent does. An
//! oracle that does not use the program says whether the work was done. The program is a
//! black box: it is started, called as a hook, and asked for its status.

mod commits;
mod corpus;
mod cost;
mod ending;
mod kit;
mod options;
mod play;
mod report;
mod stage;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::Result;

use crate::Verdict;
use corpus::TruthStory;
use ending::PlayedStory;
use kit::TruthKit;
use options::{PLACES, Reach, TruthPlan};

/// Plays what was asked for and prints the rates.
pub(crate) fn run(options: &[&str]) -> Result<Verdict> {
    let plan = options::read(options)?;
    if !plan.commits.is_empty() {
        return commits::run(&plan);
    }
    if plan.shows == options::Shown::Cost {
        return cost::run(&plan);
    }
    let stories = corpus::choose(corpus::load(plan.stories.as_deref())?, &plan);
    if plan.shows == options::Shown::Names {
        for story in &stories {
            println!("{}\t{}", story.class.word(), story.id);
        }
        return Ok(Verdict::Fine);
    }
    let kit = TruthKit::gather(&plan, stories.iter().flat_map(|story| &story.needs))?;
    let (stories, skipped): (Vec<_>, Vec<_>) =
        stories.into_iter().partition(|story| kit.missing(story).is_none());
    let played = play_all(&kit, &plan, &stories);
    let mut verdict = report::print(&plan, &kit, &played, &skipped);
    if plan.reach == Reach::Each {
        for place in PLACES.iter().skip(1) {
            let reach = Reach::Further;
            let plan = TruthPlan { place: Some((*place).into()), reach, ..plan.clone() };
            let there = play_further(&kit, &plan, &played);
            if report::print(&plan, &kit, &there, &skipped) == Verdict::Broken {
                verdict = Verdict::Broken;
            }
        }
    }
    Ok(verdict)
}

/// Plays the stories again in which a check ran apart from the tree; the others end as they did.
fn play_further(kit: &TruthKit, plan: &TruthPlan, played: &[PlayedStory]) -> Vec<PlayedStory> {
    let (again, same): (Vec<_>, Vec<_>) = played.iter().cloned().partition(|one| one.is_apart);
    let again: Vec<TruthStory> = again.into_iter().map(|one| one.story).collect();
    eprintln!("{}: {} of {} again", plan.place.as_deref().unwrap_or(""), again.len(), played.len());
    let mut there = play_all(kit, plan, &again);
    there.extend(same);
    there
}

/// Plays every story, some at a time; in the order of the corpus.
fn play_all(kit: &TruthKit, plan: &TruthPlan, stories: &[TruthStory]) -> Vec<PlayedStory> {
    let mut played = side_by_side(plan.jobs, stories, |story| {
        let one = play::story(kit, plan, story);
        report::progress(&one);
        one
    });
    played.sort_by(|one, other| one.story.id.cmp(&other.story.id));
    played
}

/// Does `work` on every item, `jobs` at a time; the results in no certain order.
fn side_by_side<I: Sync, R: Send>(
    jobs: usize,
    items: &[I],
    work: impl Fn(&I) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    let one_job = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::SeqCst)) {
            let result = work(item);
            results.lock().unwrap_or_else(PoisonError::into_inner).push(result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(one_job);
        }
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner)
}
