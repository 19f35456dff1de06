//! Wall-clock times, called in turn, as ratios to a program that does nothing.

use std::time::Duration;

use anyhow::{Result, bail};

use super::{Plan, behind, beside, peer, transcript_of};
use crate::figures::{Sample, micros, ratio};
use crate::scene::{Call, Said, Scene};
use crate::table::{Gates, Table};
use crate::tools;

const WARM_UP: usize = 5;
/// With 60 rounds the median of a call of 0.3 ms wavered by five percent on a quiet machine.
const ROUNDS_MIN: usize = 240;
const GROWTH_GOAL: f64 = 1.1;
const GROWTH_GATE: f64 = 1.3;

/// One row.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) call: Call,
    pub(super) form: Form,
    pub(super) expected: Expected,
    pub(super) limit: Limit,
    /// Called in every so manyth round.
    pub(super) every: usize,
    pub(super) took: Vec<Duration>,
}

/// What a row is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The no-op, started as it is.
    Exec,
    /// The no-op, started by a shell.
    Shell,
}

/// What a row must answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Nothing,
    Continue,
}

/// What a row should and must stay below.
#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    /// Shown only.
    None,
    /// A goal, as a multiple of the no-op.
    Goal(f64),
    /// A goal and a gate, as multiples of the no-op.
    Gate { goal: f64, gate: f64 },
    /// Compared with the row at this place: it must not have grown.
    Growth(usize),
}

const NO_LOOP: Limit = Limit::Gate { goal: 1.35, gate: 1.6 };
const ACTIVE: Limit = Limit::Gate { goal: 5.0, gate: 6.5 };

/// Measures all rows and prints them.
pub(super) fn measure(
    plan: &Plan<'_>,
    small: &Scene,
    large: &Scene,
    gates: &mut Gates,
) -> Result<()> {
    let mut cases = cases(plan, small, large)?;
    let ours = cases.len();
    let missing = peer::cases(plan, small, &mut cases)?;
    for round in 0..WARM_UP + plan.rounds.max(ROUNDS_MIN) {
        for case in &mut cases {
            let warm = round >= WARM_UP;
            if warm && round % case.every != 0 {
                continue;
            }
            let took = time(case)?;
            case.took.extend(warm.then_some(took));
        }
    }
    let mut table = print(&cases, gates);
    peer::notes(plan, &cases, ours, &mut table);
    if let Some(missing) = missing {
        table.note(missing);
    }
    table.print();
    Ok(())
}

fn cases(plan: &Plan<'_>, small: &Scene, large: &Scene) -> Result<Vec<Case>> {
    let stop = small.hook("held", "Stop")?;
    let free = small.hook("nobody", "Stop")?;
    let mut noop = stop.clone();
    noop.line = vec![small.install(&tools::noop()?)?];
    let mut fresh = free.clone();
    fresh.home = small.path("no-home");
    let by_shell = small.hook("by-shell", "Stop")?.by_shell();
    let batch = small.hook("batch", "PostToolBatch")?;
    let large = large.hook("held", "Stop")?;
    let mut cases = vec![
        case("no-op", noop.clone(), Form::Exec, Expected::Nothing, Limit::None),
        case("no-op, sh -c", noop.by_shell(), Form::Shell, Expected::Nothing, Limit::None),
        case("no loop", free.clone(), Form::Exec, Expected::Nothing, NO_LOOP),
        case("no loop, sh -c", free.by_shell(), Form::Shell, Expected::Nothing, Limit::Goal(1.15)),
        case("no loop, no home yet", fresh, Form::Exec, Expected::Nothing, NO_LOOP),
        case("tools ran (PostToolBatch), held", batch, Form::Exec, Expected::Nothing, Limit::None),
        case("active: sent back, committed", stop, Form::Exec, Expected::Continue, ACTIVE),
        case("active, sh -c", by_shell, Form::Shell, Expected::Continue, Limit::Goal(2.2)),
        case(
            "active, 100,000 events, 10,000 loops",
            large,
            Form::Exec,
            Expected::Continue,
            Limit::Growth(6),
        ),
    ];
    by_transcript(plan, small, &mut cases)?;
    Ok(cases)
}

/// One row a size with the message in the payload, then one a size without.
fn by_transcript(plan: &Plan<'_>, small: &Scene, cases: &mut Vec<Case>) -> Result<()> {
    let first = cases.len();
    for (at, size) in plan.sizes.iter().enumerate() {
        let call = small.stop_beside(&beside(*size), &transcript_of(small, *size))?;
        let limit = if at == 0 { ACTIVE } else { Limit::Growth(first) };
        let name = format!("active, transcript of {}", size.name);
        cases.push(case(&name, call, Form::Exec, Expected::Continue, limit));
    }
    let first = cases.len();
    for (at, size) in plan.sizes.iter().enumerate() {
        let call = small.stop_by_transcript(&behind(*size), &transcript_of(small, *size))?;
        let limit = if at == 0 { Limit::None } else { Limit::Growth(first) };
        let name = format!("active, message read from {}", size.name);
        cases.push(case(&name, call, Form::Exec, Expected::Continue, limit));
    }
    Ok(())
}

fn case(name: &str, call: Call, form: Form, expected: Expected, limit: Limit) -> Case {
    Case { name: name.into(), call, form, expected, limit, every: 1, took: Vec::new() }
}

fn time(case: &Case) -> Result<Duration> {
    let ran = case.call.run()?;
    let said = ran.said();
    let expected = match case.expected {
        Expected::Nothing => Said::Nothing,
        Expected::Continue => Said::Continue,
    };
    if said != expected || !ran.status.success() {
        bail!("measure «{}»: it said {said:?}, {}", case.name, ran.status);
    }
    Ok(ran.took)
}

fn print(cases: &[Case], gates: &mut Gates) -> Table {
    let columns = ["one call", "q1 us", "median us", "q3 us", "ratio", "goal", "gate", ""];
    let mut table = Table::new("Time of one call", &columns);
    let samples: Vec<Sample> = cases.iter().map(|case| Sample::new(case.took.clone())).collect();
    let median = |at: usize| samples.get(at).map_or(Duration::ZERO, Sample::median);
    for (case, sample) in cases.iter().zip(&samples) {
        let base = match case.form {
            Form::Exec => median(0),
            Form::Shell => median(1),
        };
        let own = ratio(sample.median(), base);
        let (goal, gate, word) = match case.limit {
            Limit::None => (String::new(), String::new(), String::new()),
            Limit::Goal(goal) => (reach(own, goal), String::new(), String::new()),
            Limit::Gate { goal, gate } => {
                let word =
                    gates.ask((own > gate).then(|| format!("{}: {own:.2} > {gate}", case.name)));
                (reach(own, goal), format!("{gate:.2}"), word)
            }
            Limit::Growth(to) => {
                let grown = ratio(sample.median(), median(to));
                let broken = || format!("{}: {grown:.2} times the small one", case.name);
                let word = gates.ask((grown > GROWTH_GATE).then(broken));
                let goal = reach(grown, GROWTH_GOAL);
                (format!("x{grown:.2} {goal}"), format!("x{GROWTH_GATE:.2}"), word)
            }
        };
        let [q1, q2, q3] = [25, 50, 75].map(|percent| micros(sample.percentile(percent)));
        table.row([case.name.clone(), q1, q2, q3, format!("{own:.2}"), goal, gate, word]);
    }
    let rounds = samples.first().map_or(0, Sample::count);
    table.note(format!(
        "{rounds} rounds, one call of each in turn; ratio to the no-op of the same form; x is \
         the growth over the small one; a goal in brackets is not reached."
    ));
    table
}

/// A goal, in brackets where it is missed.
fn reach(own: f64, goal: f64) -> String {
    if own <= goal { format!("{goal:.2}") } else { format!("({goal:.2})") }
}
