//! `start`: a loop begins.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use stopgate_core::{CriterionJudge, Enforcement, GoalShape, LoopState, Mode, Weight};
use stopgate_dialects::task::{Rubric, Shape};
use stopgate_engine::{
    AtStart, Begun, CriterionView, Engine, Failure, Incumbent, LimitOrigin, LoopView, Preflight,
    RequestedLimits, SessionChoice, Settings, StartRequest, is_installed, parse_usd, span_ms,
};
use stopgate_store::EndedFilter;

use super::check_flags::{CheckFlags, drafts, named_command, opinion, reviewer};
use super::common;
use super::dialects::{self, DialectWord};
use super::interview;
use super::preflight::{self, JudgesView, PreflightView};
use crate::output::{self, BOLD, CommandResult, DIM, Elsewhere, ProgressLine, clock, styled};

/// How often an agent may be sent back where nobody says.
pub(crate) const MAX_ITERATIONS: u32 = 20;

/// Start a loop: the agent works until its checks pass or a limit ends it
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// What must be true at the end
    #[arg(required_unless_present = "interview")]
    pub(crate) goal: Option<String>,
    /// Ask for what is missing: a clearer goal, checks that prove it, limits
    #[arg(long, conflicts_with_all = ["dialect", "json"])]
    interview: bool,
    /// How the agent works: a tool is silent until the end, a colleague asks after each step
    #[arg(long, value_enum, conflicts_with_all = ["dialect", "score"])]
    shape: Option<ShapeWord>,
    /// The points of the goal for the five questions of `stopgate score`: 8 and more make a tool,
    /// 5 to 7 a colleague, and with fewer the loop does not begin
    #[arg(long, num_args = 5, value_name = "POINTS", value_parser = clap::value_parser!(u8).range(0..=2))]
    score: Vec<u8>,
    /// A command that must pass, run by stopgate itself (repeatable)
    #[arg(long, value_name = "NAME=COMMAND", value_parser = named_command)]
    pub(crate) check: Vec<(String, String)>,
    /// Something that the agent attests; the loop then ends as attested, not as done (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) criterion: Vec<String>,
    /// Ask another agent for its opinion when the rest passes: codex, or codex='what to look at'
    /// (repeatable)
    #[arg(long, conflicts_with = "dialect", value_name = "AGENT[=ASK]", value_parser = reviewer)]
    review: Vec<(String, String)>,
    /// The loop can't end without the opinion of --review; then it ends as attested, not as done
    #[arg(long, requires = "review")]
    require_review: bool,
    /// A planned step of a loop in --dialect criteria (repeatable)
    #[arg(long, value_name = "STEP", requires = "dialect")]
    pub(crate) step: Vec<String>,
    /// A gate beside the checks, asked at each stop: an expression such as
    /// `escalate if iteration > 10`, a name such as `tdd`, or JSON (repeatable)
    #[arg(long, conflicts_with = "dialect", value_name = "EXPR")]
    gate: Vec<String>,
    /// How long one check may take; one that takes longer than a stop waits (9 minutes) goes on in
    /// the background, and the loop is parked until it has ended
    #[arg(long, conflicts_with = "dialect", value_name = "TIME", default_value = "5m", value_parser = time_ms)]
    check_timeout: i64,
    /// The loop's mode, which decides the markers it listens for
    #[arg(long, value_enum, default_value = "loop")]
    pub(crate) mode: ModeWord,
    /// Files that the checks judge by, which the work must not change (repeatable)
    #[arg(long, conflicts_with = "dialect", value_name = "GLOB")]
    pub(crate) protect: Vec<String>,
    /// Judges that the work may change; only a person can say so (repeatable)
    #[arg(long, conflicts_with = "dialect", value_name = "GLOB")]
    may_change: Vec<String>,
    /// Failures that exist already are not counted later
    #[arg(long, conflicts_with = "dialect")]
    baseline: bool,
    /// Don't run the checks before the loop begins; only a person can say so
    #[arg(long, conflicts_with_all = ["dialect", "baseline"])]
    no_preflight: bool,
    /// A variable that is passed to the checks of --check; a * at the end matches the rest
    /// (repeatable)
    #[arg(long, conflicts_with = "dialect", value_name = "NAME")]
    pass_env: Vec<String>,
    /// The directory that the checks of --check run in [default: this one]
    #[arg(long, conflicts_with = "dialect", value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// How often the agent may be sent back [default: 20]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) max_iterations: Option<u32>,
    /// Minutes of work allowed; 0 means no limit [default: 240]
    #[arg(long, conflicts_with = "dialect", value_name = "N", allow_negative_numbers = true)]
    max_minutes: Option<u32>,
    /// Idle continuations in a row allowed; 0 means no limit [default: 3]
    #[arg(long, conflicts_with = "dialect", value_name = "N", allow_negative_numbers = true)]
    max_idle: Option<u32>,
    /// Continuations with the same failures in a row allowed; 0 means no limit [default: 5]
    #[arg(long, conflicts_with = "dialect", value_name = "N", allow_negative_numbers = true)]
    max_repeat: Option<u32>,
    /// Tokens that the agent may use, cached ones included; 0 means no limit [default: 0]
    #[arg(long, conflicts_with = "dialect", value_name = "N", allow_negative_numbers = true)]
    max_tokens: Option<u64>,
    /// US dollars that the agent may spend, by list prices or by `prices` in config.toml; 0 means no
    /// limit [default: 0]
    #[arg(long, conflicts_with = "dialect", value_name = "USD", allow_negative_numbers = true, value_parser = usd_micros)]
    max_cost: Option<u64>,
    /// Percent of the subscription's usage window that may be used, where the client tells;
    /// 0 means no limit [default: 0]
    #[arg(long, conflicts_with = "dialect", value_name = "PERCENT", allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(0..=100))]
    max_quota: Option<u8>,
    /// How long the loop may stay untouched: 90s, 15m, 12h, 2d [default: 12h]
    #[arg(long, conflicts_with = "dialect", value_name = "TIME", value_parser = time_ms)]
    stale_after: Option<i64>,
    /// The session to hold; without it the one whose shell this is, or the only one here
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// How long a session may claim the loop while it holds none
    #[arg(long, conflicts_with = "dialect", value_name = "TIME", default_value = "60m", value_parser = time_ms)]
    claim_within: i64,
    /// A file with instructions for the agent beyond the goal
    #[arg(long, conflicts_with = "dialect", value_name = "FILE")]
    prompt_file: Option<PathBuf>,
    /// Cancel the loop that holds the session, if there is one
    #[arg(long)]
    pub(crate) replace: bool,
    /// Decide and record, but always let the agent stop
    #[arg(long, conflicts_with = "dialect")]
    shadow: bool,
    /// The loop is kept in another tool's files
    #[arg(long, value_enum, value_name = "D")]
    dialect: Option<DialectWord>,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// How an agent works on a goal.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum ShapeWord {
    /// Alone, until the end
    Tool,
    /// With you: it asks after each step
    Colleague,
    /// Not yet: the goal must be made clearer first
    Clarify,
}

/// How the agent is to work, where that was said; a goal that is not clear begins no loop.
fn shape(args: &Args) -> Result<Option<GoalShape>, Failure> {
    let of_score = match args.score.as_slice() {
        &[outcome, scope, constraints, success, done] => {
            Some(Rubric { outcome, scope, constraints, success, done }.shape())
        }
        _none => None,
    };
    let of_word = args.shape.map(|word| match word {
        ShapeWord::Tool => Shape::Tool,
        ShapeWord::Colleague => Shape::Colleague,
        ShapeWord::Clarify => Shape::Clarify,
    });
    match of_word.or(of_score) {
        Some(Shape::Tool) => Ok(Some(GoalShape::Tool)),
        Some(Shape::Colleague) => Ok(Some(GoalShape::Colleague)),
        Some(Shape::Clarify) => Err(unclear()),
        None => Ok(None),
    }
}

/// Why a loop does not begin yet.
pub(crate) fn unclear() -> Failure {
    Failure::usage("the goal is not clear enough to start a loop")
        .hint("stopgate lint GOAL says what is missing; stopgate start --interview asks for it")
}

/// How a frame works.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum ModeWord {
    /// One goal
    Loop,
    /// One issue
    Issue,
    /// Issue after issue
    Grind,
}

impl From<ModeWord> for Mode {
    fn from(word: ModeWord) -> Self {
        match word {
            ModeWord::Loop => Self::Loop,
            ModeWord::Issue => Self::Issue,
            ModeWord::Grind => Self::Grind,
        }
    }
}

/// A loop that has begun, and what its checks showed before.
#[derive(Serialize)]
struct StartedView {
    #[serde(rename = "loop")]
    view: LoopView,
    preflight: Vec<PreflightView>,
    judges: Vec<JudgesView>,
}

/// Begins a loop and says whom it holds.
pub(crate) fn run(mut args: Args) -> CommandResult {
    let mut shape = shape(&args)?;
    if args.interview {
        shape = shape.or(Some(interview::interview(&mut args)?));
    }
    if let Some(dialect) = args.dialect {
        return dialects::start(dialect.into(), &args);
    }
    let mut engine = common::engine()?;
    let json = args.json;
    let request = request(args, shape)?;
    let begun = {
        let progress = ProgressLine::begin("beginning");
        engine.tell_checks(progress.listener(Elsewhere::Silent));
        engine.loops().start(&request)
    }?;
    warn(&begun);
    warn_of_others(&mut engine, &begun)?;
    let state = &begun.stored.state;
    if state.policy.max_cost_micros > 0 {
        common::warn_of_prices(&engine.metering().unpriced_models(&state.project, &[]));
    }
    let view = engine.views().view(&begun.stored);
    if json {
        let preflight = preflight::preflight_views(&begun);
        let judges = preflight::judges_views(&begun);
        output::json(&StartedView { view, preflight, judges });
        return Ok(ExitCode::SUCCESS);
    }
    output::line(&format!("Loop {} has begun: {}", styled(BOLD, &view.id), view.goal));
    let checked = |c: &&CriterionView| c.required && c.judge == CriterionJudge::Check;
    let checks = view.criteria.iter().filter(checked).count();
    let proof = match checks {
        0 => "no check, so the agent's word ends it (as attested)".into(),
        1 => "1 check proves it".into(),
        many => format!("{many} checks prove it"),
    };
    output::line(&styled(
        DIM,
        &format!("  at most {} continuations; {proof}", view.max_iterations),
    ));
    preflight::tell(&begun);
    output::line(&styled(DIM, &format!("  {}", holds(&begun.binding))));
    output::line(&styled(DIM, "  see it: stopgate status    end it: stopgate cancel"));
    Ok(ExitCode::SUCCESS)
}

fn holds(binding: &SessionChoice) -> String {
    match binding {
        SessionChoice::Session(session) => format!("holds session {session}"),
        SessionChoice::Pending(until) => format!(
            "not attached yet: the next agent session in this project until {} is held",
            clock(*until)
        ),
    }
}

/// Says so where nothing would hold the agent, or something was not taken as asked.
fn warn(begun: &Begun) {
    if begun.review.needs_clarity() && begun.stored.state.policy.shape.is_none() {
        output::warn(&format!(
            "the goal scores {} of 10; what would make it clearer: stopgate lint, or start \
             --interview",
            begun.review.score
        ));
    }
    if begun.untrusted {
        output::warn(
            "stopgate.toml is not trusted: until it is, nothing in it runs and the agent may stop. Review it, then: stopgate trust",
        );
    }
    for setting in begun.settings.iter().filter(|setting| setting.origin == LimitOrigin::Project) {
        output::warn(&format!("stopgate.toml limits {} to {}", setting.key, setting.value));
    }
    if !is_installed(Settings, Path::new(&begun.stored.state.project)) {
        output::warn(
            "no hook is installed for this project, so nothing will hold the agent: \
             stopgate install claude",
        );
    }
}

/// Says so where another loop of the project waits for a session, too: the oldest is attached
/// first.
fn warn_of_others(engine: &mut Engine, begun: &Begun) -> Result<(), Failure> {
    let SessionChoice::Pending(_) = begun.binding else { return Ok(()) };
    let state = &begun.stored.state;
    let running = engine.views().list(Some(&state.project), EndedFilter::Running)?;
    let waits = |view: &&LoopView| {
        view.session.is_none()
            && view.claim_until_at.is_some()
            && view.state != LoopState::Idle
            && view.id != state.id.as_str()
    };
    for view in running.iter().filter(waits) {
        output::warn(&format!(
            "loop {} ({}) waits for a session in this project, too, and is attached first; end \
             it with: stopgate cancel {}",
            view.id,
            view.goal.lines().next().unwrap_or_default(),
            view.id
        ));
    }
    Ok(())
}

fn request(args: Args, shape: Option<GoalShape>) -> Result<StartRequest, Failure> {
    let prompt = args.prompt_file.as_deref().map(read_prompt).transpose()?;
    let enforcement = args.shadow.then_some(Enforcement::Shadow);
    let limits = RequestedLimits {
        max_iterations: args.max_iterations,
        max_minutes: args.max_minutes,
        max_idle: args.max_idle,
        max_repeat: args.max_repeat,
        max_tokens: args.max_tokens,
        max_cost_micros: args.max_cost,
        max_quota: args.max_quota,
        context_warn: None,
        stale_after_ms: args.stale_after,
        enforcement,
    };
    let flags = CheckFlags {
        check: args.check,
        protect: args.protect,
        may_change: args.may_change,
        pass_env: args.pass_env,
        cwd: args.cwd,
        check_timeout: args.check_timeout,
        start: if args.baseline { AtStart::Baseline } else { AtStart::Rest },
    };
    let mut drafts = drafts(flags, args.criterion)?;
    let weight = if args.require_review { Weight::Required } else { Weight::Advisory };
    drafts.extend(args.review.into_iter().map(|asked| opinion(asked, weight)));
    Ok(StartRequest {
        goal: args.goal.unwrap_or_default(),
        prompt,
        mode: args.mode.into(),
        limits,
        criteria: drafts,
        gates: args.gate,
        session: args.session,
        directory: common::directory()?,
        claim_within_ms: args.claim_within,
        incumbent: if args.replace { Incumbent::Replace } else { Incumbent::Keep },
        preflight: if args.no_preflight { Preflight::Skip } else { Preflight::Run },
        tool: None,
        shape,
    })
}

/// An amount of dollars as people write it.
pub(crate) fn usd_micros(text: &str) -> Result<u64, String> {
    parse_usd(text)
        .ok_or_else(|| format!("`{text}` is not an amount of dollars such as 25 or 2.50"))
}

fn read_prompt(path: &Path) -> Result<String, Failure> {
    common::read_named(path).map_err(|error| {
        Failure::usage(format!("could not read the prompt file {}", path.display())).because(error)
    })
}

/// A span as people write it: 90s, 15m, 12h, 2d; a bare number is minutes.
pub(crate) fn time_ms(text: &str) -> Result<i64, String> {
    let bare = text.bytes().all(|byte| byte.is_ascii_digit());
    let minutes = format!("{text}m");
    let millis = span_ms(if bare { &minutes } else { text }).map_err(|_| {
        format!("`{text}` is not a duration; write for example 90s, 15m, 12h or 2d")
    })?;
    i64::try_from(millis).map_err(|_| format!("`{text}` is too long a time"))
}
