//! `start --interview`: asks for what a goal lacks, before an agent works on it.

use std::io::BufRead;

use stopgate_core::{CriterionJudge, GoalShape};
use stopgate_engine::{Failure, FoundCheck, GoalReview, discover, project_of, review_goal};

use super::check_flags::named_command;
use super::common::{self, Default};
use super::start::{Args, unclear};
use crate::output::{self, BOLD, DIM, WAITS, styled};

/// How often a goal is asked for again.
const TRIES: usize = 3;

/// Fills in what is missing, and says how the agent is to work; a goal that stays unclear begins
/// no loop.
pub(crate) fn interview(args: &mut Args) -> Result<GoalShape, Failure> {
    let known = known_criteria()?;
    if args.goal.as_deref().is_none_or(|goal| goal.trim().is_empty()) {
        args.goal = Some(answer("What must be true at the end? ")?);
    }
    if args.check.is_empty() && known.0 == 0 {
        ask_checks(args)?;
    }
    let mut review = review(args, known);
    for _ in 0..TRIES {
        show(&review);
        if review.findings.is_empty() {
            break;
        }
        let again = answer("Say the goal more clearly (Enter keeps it): ")?;
        if again.is_empty() {
            break;
        }
        args.goal = Some(again);
        review = self::review(args, known);
    }
    if review.needs_clarity() {
        return Err(unclear());
    }
    if !args.check.is_empty() && args.protect.is_empty() {
        let globs = answer("Files that the work must not change (globs, Enter for none): ")?;
        args.protect = globs.split_whitespace().map(String::from).collect();
    }
    if args.max_iterations.is_none() {
        let limit = answer("How often may the agent be sent back? [20] ")?;
        args.max_iterations = limit.parse().ok().filter(|limit| *limit > 0);
    }
    Ok(if review.shape == GoalShape::Tool.word() { GoalShape::Tool } else { GoalShape::Colleague })
}

/// How many checks and attested criteria the project's file brings along.
fn known_criteria() -> Result<(usize, usize), Failure> {
    let rules = common::engine()?.trust().rules(&project_of(&common::directory()?))?;
    let count = |judge| rules.criteria.iter().filter(|one| one.judge == judge).count();
    Ok((count(CriterionJudge::Check), count(CriterionJudge::Agent)))
}

fn review(args: &Args, (checks, attested): (usize, usize)) -> GoalReview {
    let goal = args.goal.as_deref().unwrap_or_default();
    review_goal(goal, checks + args.check.len(), attested + args.criterion.len())
}

fn show(review: &GoalReview) {
    let head = format!("{} of 10 ({})", review.score, review.shape);
    output::line(&styled(BOLD, &head));
    for finding in &review.findings {
        output::line(&format!("  {} {finding}", styled(WAITS, "!")));
    }
}

/// Offers the checks that the project has, then asks for others.
fn ask_checks(args: &mut Args) -> Result<(), Failure> {
    for FoundCheck { name, argv, from } in discover(&project_of(&common::directory()?)) {
        let command = argv.join(" ");
        let shown = format!("{} {}", styled(BOLD, &command), styled(DIM, &format!("({from})")));
        let said = answer(&format!("Prove it with {shown}? [Y/n] "))?;
        if common::means_yes(&said, Default::Yes) {
            args.check.push((name, command));
        }
    }
    loop {
        let said = answer("Another command that proves it (NAME=COMMAND, Enter for none): ")?;
        if said.is_empty() {
            return Ok(());
        }
        match named_command(&said) {
            Ok(check) => args.check.push(check),
            Err(why) => output::warn(&why),
        }
    }
}

/// What the person types; the end of the input means that nobody is there.
fn answer(question: &str) -> Result<String, Failure> {
    output::ask(question);
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(1..) => Ok(line.trim().to_string()),
        Ok(0) | Err(_) => Err(Failure::usage("--interview asks, and nobody answered")
            .hint("run it in a terminal, or say everything with flags: stopgate start --help")),
    }
}
