//! What proof costs: runs of the check and processor time, with judges untouched and with a
//! test added, in each place for original runs.
//!
//! Processor time of everything that a stop started, not the clock: a busy machine changes it less.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::corpus::{self, TruthStory};
use super::kit::TruthKit;
use super::options::{PLACES, TruthPlan};
use super::play::{CLAIM, begin, prepare, step, tools_ran};
use super::stage::TruthStage;
use crate::Verdict;
use crate::table::{Gates, Table};

const PROJECTS: [&str; 4] = ["node", "pytest", "go", "cargo"];
/// A project whose check uses what the agent built: it runs once more without that.
const BUILDING: &str = "cunit";
/// The middle one of so many stops counts: the least of a few belongs to the luckiest of them,
/// and a difference of two such leasts is mostly luck.
const ROUNDS: usize = 7;
/// An original run by overlay may cost this much of the check's own run at the same stop.
const OVERLAY_MAX: f64 = 1.3;

/// What one stop cost.
#[derive(Clone, Copy)]
struct StopCost {
    /// A run of the check by hand, with nothing left to build.
    by_hand_s: f64,
    stop_s: f64,
    runs: usize,
}

impl StopCost {
    fn cells(self) -> [String; 3] {
        [two_places(self.by_hand_s), two_places(self.stop_s), self.runs.to_string()]
    }
}

fn two_places(number: f64) -> String {
    format!("{number:.2}")
}

/// Measures every project in every place, or in the one that was named.
pub(crate) fn run(plan: &TruthPlan) -> Result<Verdict> {
    let stories = corpus::load(plan.stories.as_deref())?;
    let kit = TruthKit::gather(plan, PROJECTS.map(String::from).iter())?;
    let columns =
        ["project", "by hand s", "stop s", "runs", "test added s", "runs", "original ÷ run"];
    let mut table = Table::new("What proof costs", &columns);
    let mut gates = Gates::default();
    for place in
        PLACES.iter().filter(|place| plan.place.as_deref().is_none_or(|one| one == **place))
    {
        let plan = TruthPlan { place: Some((*place).into()), ..plan.clone() };
        let find = |id: String| {
            let story = stories.iter().find(|story| story.id == id);
            story.with_context(|| format!("find {id}"))
        };
        for project in PROJECTS {
            let pair = [
                find(format!("work/{project}/fixed@plain"))?,
                find(format!("judges/{project}/new-test-file@plain"))?,
            ];
            let [untouched, added] = middle(&kit, &plan, pair)?;
            let ratio = (added.stop_s - untouched.stop_s) / untouched.stop_s;
            let name = format!("{project}, {place}");
            gates.ask(
                (untouched.runs != 1)
                    .then(|| format!("{name}: {} runs, judges untouched", untouched.runs)),
            );
            let is_dear = *place == "overlay" && ratio > OVERLAY_MAX;
            gates.ask(is_dear.then(|| format!("{name}: {ratio:.2}, at most {OVERLAY_MAX}")));
            let [with_test, ratio] = [added.stop_s, ratio].map(two_places);
            let [by_hand, stop, runs] = untouched.cells();
            table.row([name, by_hand, stop, runs, with_test, added.runs.to_string(), ratio]);
        }
        let building = find(format!("further-runners/{BUILDING}/fixed@plain"))?;
        let [built] = middle(&kit, &plan, [building])?;
        let name = format!("{BUILDING}, {place}, built by the agent");
        gates.ask((built.runs != 2).then(|| format!("{name}: {} runs", built.runs)));
        let [by_hand, stop, runs] = built.cells();
        let [added, again, ratio] = [const { String::new() }; 3];
        table.row([name, by_hand, stop, runs, added, again, ratio]);
    }
    table.note("Processor time of user and system, the middle of seven stops, the two kinds in turn. The stop's own run comes first and builds what changed; \
                \"by hand\" has nothing left to build. Where the agent built what the check uses, the \
                check runs once more and builds it itself.");
    table.print();
    Ok(gates.verdict())
}

/// The middle cost of each story, played in turn: what the machine does meanwhile meets them all.
fn middle<const N: usize>(
    kit: &TruthKit,
    plan: &TruthPlan,
    stories: [&TruthStory; N],
) -> Result<[StopCost; N]> {
    let mut costs = [const { Vec::new() }; N];
    for _ in 0..ROUNDS {
        for (story, costs) in stories.iter().zip(&mut costs) {
            let cost = cost(kit, plan, story).with_context(|| format!("measure {}", story.id))?;
            costs.push(cost);
        }
    }
    Ok(costs.map(|mut costs| {
        costs.sort_by(|one, other| one.stop_s.total_cmp(&other.stop_s));
        costs[ROUNDS / 2]
    }))
}

fn cost(kit: &TruthKit, plan: &TruthPlan, story: &TruthStory) -> Result<StopCost> {
    let stage = TruthStage::new(kit, plan, &story.way.below)?;
    prepare(&stage, story)?;
    let runs = stage.tree().with_file_name("runs");
    let command = story.way.naive.as_str();
    let mut counted = story.clone();
    let check = format!("tests=echo run >> {}; {command}", runs.display());
    counted.way.start = vec!["--check".into(), check];
    if let Some(failed) = begin(&stage, &counted)? {
        bail!("start the loop: {}", failed.last_line());
    }
    for text in &story.telling.steps {
        step(&stage, text)?;
    }
    tools_ran(&stage)?;
    stage.timed(command, "")?;
    let by_hand_s = stage.timed(command, "")?;
    let before = lines(&runs);
    let more = json!({"stop_hook_active": false, "last_assistant_message": CLAIM});
    let hook = format!("'{}' hook claude", kit.program.display());
    let stop_s = stage.timed(&hook, &stage.payload("Stop", more))?;
    Ok(StopCost { by_hand_s, stop_s, runs: lines(&runs) - before })
}

fn lines(file: &Path) -> usize {
    std::fs::read_to_string(file).map_or(0, |text| text.lines().count())
}
