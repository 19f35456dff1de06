//! `doctor`: does it work here?

mod dialects;

mod proof;

use std::process::ExitCode;

use serde::Serialize;
use stopgate_agents::{Agent, Provenance, StatusLineItems};
use stopgate_engine::{
    Configured, DoctorFinding, Failure, HookChange, HookView, Level, Settings, examine,
    hook_inventory,
};

use super::client::door::{self, is_interrupted};
use super::{agent_files, common};
use crate::output::{self, BAD, BOLD, CommandResult, DIM, GOOD, WAITS, styled};
use crate::stores::STORES;

/// Check the installation, and prove with a test stop that the hook holds
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// List every hook of every agent with its hash, and what changed since the last look
    #[arg(long)]
    security: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct DoctorView<'a> {
    version: &'static str,
    ok: bool,
    findings: &'a [DoctorFinding],
}

/// Looks, tries, and says what was found.
pub(crate) fn run(args: &Args) -> CommandResult {
    if args.security {
        return list_hooks(args);
    }
    let program = agent_files::program()?;
    let examined = examine(Settings, STORES, &common::directory()?, &program);
    let about = format!("stopgate {} at {}", env!("CARGO_PKG_VERSION"), program.display());
    let mut findings = vec![DoctorFinding::ok("program", about)];
    findings.extend(slower_build());
    findings.extend(examined.findings);
    findings.extend(clients(&examined.hooks));
    findings.extend(proof::prove(&program, &examined.hooks)?);
    if is_interrupted() {
        return Err(Failure::interrupted("interrupted before everything was looked at"));
    }
    let count = |level| findings.iter().filter(|finding| finding.level == level).count();
    let (problems, warnings) = (count(Level::Problem), count(Level::Warning));
    if args.json {
        output::json(&DoctorView {
            version: env!("CARGO_PKG_VERSION"),
            ok: problems == 0,
            findings: &findings,
        });
    } else {
        findings.iter().for_each(show);
        output::line(&format!("\n{}", sum(problems, warnings)));
    }
    Ok(ExitCode::from(u8::from(problems > 0)))
}

/// Says so where this build answers more slowly than the released one.
fn slower_build() -> Option<DoctorFinding> {
    let how = if cfg!(debug_assertions) {
        "this is a debug build: each stop takes several times as long"
    } else if cfg!(all(target_os = "linux", not(target_feature = "crt-static"))) {
        "this build is linked dynamically: each stop takes about a millisecond more"
    } else {
        return None;
    };
    Some(DoctorFinding::warning(
        "build",
        how,
        "install the released program, or `cargo xtask dist`",
    ))
}

/// The versions of the clients that have the hook, where their programs are on PATH.
fn clients(hooks: &[Configured]) -> Vec<DoctorFinding> {
    let mut seen = Vec::new();
    let mut findings = Vec::new();
    for agent in hooks.iter().map(|hook| hook.agent) {
        if seen.contains(&agent) {
            continue;
        }
        seen.push(agent);
        let programs = agent.files().programs.iter();
        let Some(path) = programs.into_iter().find_map(|name| Settings.program(name)) else {
            continue;
        };
        let title = agent.title();
        let said = door::version_of(&path).unwrap_or_else(|| "prints no version".into());
        let known = match agent.evidence() {
            Provenance::Tested(version) => format!("tested with {version}"),
            Provenance::Documented => "known from documentation".into(),
        };
        let text = format!("{title} at {}: {said} ({known})", path.display());
        findings.push(DoctorFinding::ok("client", text));
    }
    findings.extend(seen.into_iter().filter_map(status_line));
    findings
}

/// Says so where an agent's status line can't show loops.
fn status_line(agent: Agent) -> Option<DoctorFinding> {
    let title = agent.title();
    match agent.status_line() {
        StatusLineItems::BuiltIn => Some(DoctorFinding::ok(
            "statusline",
            format!(
                "{title}'s status line has built-in items only, so it can't show loops; tmux and \
                 shell prompts can: stopgate statusline --help"
            ),
        )),
        StatusLineItems::Command | StatusLineItems::Unknown => None,
    }
}

/// Lists every hook; what is new or gone since the last look is marked.
fn list_hooks(args: &Args) -> CommandResult {
    let hooks = hook_inventory(Settings, &common::directory()?)?;
    let changed = hooks
        .iter()
        .any(|hook| matches!(hook.change, HookChange::New | HookChange::Gone) && !hook.ours);
    if args.json {
        output::json_member("hooks", &hooks);
    } else if hooks.is_empty() {
        output::line("No agent has a hook here.");
    } else {
        hooks.iter().for_each(show_hook);
    }
    Ok(ExitCode::from(u8::from(changed)))
}

fn show_hook(hook: &HookView) {
    let (style, word) = match hook.change {
        HookChange::FirstLook => (DIM, "first look"),
        HookChange::Same => (GOOD, "unchanged"),
        HookChange::New => (WAITS, "new"),
        HookChange::Gone => (BAD, "gone"),
    };
    let owner = if hook.ours { " (stopgate's)" } else { "" };
    let command = stopgate_core::clean(&hook.command).replace('\n', " ");
    let hash = hook.hash.get(..12).unwrap_or_default();
    output::line(&format!(
        "{} {} {} {}{owner}",
        styled(style, &format!("{word:<10}")),
        styled(DIM, hash),
        styled(BOLD, &format!("{} {}", hook.agent, hook.event)),
        command
    ));
    output::line(&styled(DIM, &format!("           {}", hook.path.display())));
}

fn show(finding: &DoctorFinding) {
    let (style, mark) = match finding.level {
        Level::Ok => (GOOD, "✓"),
        Level::Warning => (WAITS, "!"),
        Level::Problem => (BAD, "✗"),
    };
    let about = styled(BOLD, &format!("{:<10}", finding.about));
    output::line(&format!("{} {about} {}", styled(style, mark), finding.text));
    if let Some(hint) = &finding.hint {
        output::line(&format!("  {:<10} {} {hint}", "", styled(DIM, "→")));
    }
}

fn sum(problems: usize, warnings: usize) -> String {
    let count = |number: usize, word: &str| {
        format!("{number} {word}{}", if number == 1 { "" } else { "s" })
    };
    match (problems, warnings) {
        (0, 0) => styled(GOOD, "No problems found."),
        (0, _) => styled(WAITS, &format!("It works, with {}.", count(warnings, "warning"))),
        (_, 0) => styled(BAD, &format!("{}.", count(problems, "problem"))),
        (_, _) => {
            let text = format!("{}, {}.", count(problems, "problem"), count(warnings, "warning"));
            styled(BAD, &text)
        }
    }
}
