//! `stopgate-conformance --hook COMMAND`: does a stop hook answer as its client needs it?

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks")]

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use stopgate_agents::Agent;
use stopgate_conformance::{
    CapturedPayloads, HookCase, HookEvents, HookUnderTest, Mark, Selection, run,
};

/// A black-box suite for stop hooks of coding agents
///
/// Exit code 0: no case failed. 1: one did. 2: the command line is wrong.
#[derive(Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
struct Asked {
    /// The hook's command line, run by sh as a client does; {agent} stands for the agent's word
    ///
    /// Without {agent} it is Claude Code's, unless --agent names others. AGENT=COMMAND is another
    /// command line for one agent (repeatable).
    #[arg(long, value_name = "[AGENT=]COMMAND")]
    hook: Vec<String>,
    /// stopgate, as it installs itself for every agent
    #[arg(long, value_name = "PROGRAM")]
    stopgate: Option<String>,
    /// Begins a loop that must hold the session; without it, cases that need one are not applicable
    ///
    /// It finds `CONFORMANCE_SESSION`, `CONFORMANCE_AGENT`, `CONFORMANCE_PROJECT` (its directory) and
    /// `CONFORMANCE_TRANSCRIPT`.
    #[arg(long, value_name = "COMMAND")]
    arm: Option<String>,
    /// Makes the condition of that loop true, with the same variables
    #[arg(long, value_name = "COMMAND")]
    finish: Option<String>,
    /// The hook is registered for other events than stops, too
    #[arg(long)]
    all_events: bool,
    /// Only this agent (repeatable)
    #[arg(long, value_name = "NAME", value_parser = agent)]
    agent: Vec<Agent>,
    /// Only cases whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// When a call counts as one that never ends
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    deadline: u64,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
    /// Print the cases, why each matters, and the clients; run nothing
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    let asked = Asked::parse();
    if asked.list {
        list();
        return ExitCode::SUCCESS;
    }
    test(&asked)
}

fn wrong(why: &str) -> ExitCode {
    eprintln!("stopgate-conformance: {why}; see --help");
    ExitCode::from(2)
}

/// Runs the suite and prints what came of it.
fn test(asked: &Asked) -> ExitCode {
    let hook = asked.hook();
    if hook.line.is_none() && hook.lines.is_empty() {
        return wrong("name a hook: --hook COMMAND");
    }
    let deadline = Duration::from_secs(asked.deadline);
    let (agents, only) = (asked.agent.clone(), asked.only.clone());
    let report = run(&hook, &Selection { agents, only, deadline });
    if report.results.is_empty() {
        return wrong("no case of that name, or no agent that the hook serves");
    }
    if asked.json {
        match serde_json::to_string_pretty(&report) {
            Ok(text) => println!("{text}"),
            Err(error) => return wrong(&error.to_string()),
        }
    } else {
        print!("{}", report.table());
    }
    ExitCode::from(u8::from(report.count(Mark::Fail) > 0))
}

fn list() {
    for case in HookCase::all() {
        println!("{:<26}{}", case.name, case.why);
    }
    println!();
    for client in CapturedPayloads::all() {
        println!("{:<10}{}", client.agent.word(), client.version);
    }
}

impl Asked {
    fn hook(&self) -> HookUnderTest {
        let mut hook = match &self.stopgate {
            Some(program) => HookUnderTest::stopgate(&absolute(program)),
            None => HookUnderTest::named("hook"),
        };
        self.hook.iter().for_each(|text| add_line(&mut hook, text));
        hook.arm = self.arm.clone().or(hook.arm);
        hook.finish = self.finish.clone().or(hook.finish);
        if self.all_events {
            hook.events = HookEvents::All;
        }
        hook
    }
}

fn add_line(hook: &mut HookUnderTest, text: &str) {
    let of_agent = text.split_once('=').and_then(|(word, line)| Some((Agent::named(word)?, line)));
    match of_agent {
        Some((agent, line)) => hook.lines.push((agent, line.into())),
        None => hook.line = Some(text.into()),
    }
}

fn agent(word: &str) -> Result<Agent, String> {
    Agent::named(word).ok_or_else(|| {
        let known: Vec<&str> = Agent::ALL.into_iter().map(Agent::word).collect();
        format!("no agent {word}; there are {}", known.join(", "))
    })
}

fn absolute(program: &str) -> String {
    let path = std::path::absolute(program);
    path.map_or_else(|_| program.into(), |path| path.display().to_string())
}
