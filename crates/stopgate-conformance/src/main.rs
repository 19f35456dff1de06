//! `stopgate-conformance --hook COMMAND`: does a stop hook answer as its client needs it?

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks")]

use std::process::ExitCode;
use std::time::Duration;

use lexopt::{Arg, Parser, ValueExt};
use stopgate_agents::Agent;
use stopgate_conformance::{
    CapturedPayloads, HookCase, HookEvents, HookUnderTest, Mark, Selection, run,
};

const HELP: &str = "\
A black-box suite for stop hooks of coding agents

Usage: stopgate-conformance --hook COMMAND [OPTIONS]
       stopgate-conformance --stopgate PROGRAM [OPTIONS]

  --hook COMMAND         the hook's command line, run by sh as a client does; {agent} stands for the
                         agent's word. Without {agent} it is Claude Code's, unless --agent names others
  --hook AGENT=COMMAND   another command line for one agent (repeatable)
  --stopgate PROGRAM     stopgate, as it installs itself for every agent
  --arm COMMAND          begins a loop that must hold the session; it finds CONFORMANCE_SESSION,
                         CONFORMANCE_AGENT, CONFORMANCE_PROJECT (its directory) and
                         CONFORMANCE_TRANSCRIPT. Without it, cases that need a loop are not applicable
  --finish COMMAND       makes the condition of that loop true, with the same variables
  --all-events           the hook is registered for other events than stops, too
  --agent NAME           only this agent (repeatable)
  --only TEXT            only cases whose name contains this
  --deadline SECONDS     when a call counts as one that never ends [default: 20]
  --json                 answer in JSON
  --list                 print the cases, why each matters, and the clients; run nothing

Exit code 0: no case failed. 1: one did. 2: the command line is wrong.
";

/// What was asked for.
#[derive(Default)]
struct Asked {
    hook: Option<HookUnderTest>,
    selection: Selection,
    output: Output,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Output {
    #[default]
    Table,
    Json,
    List,
    Help,
}

fn main() -> ExitCode {
    let asked = match read(Parser::from_env()) {
        Ok(asked) => asked,
        Err(error) => return wrong(&error.to_string()),
    };
    match asked.output {
        Output::Help => print!("{HELP}"),
        Output::List => list(),
        Output::Table | Output::Json => return test(&asked),
    }
    ExitCode::SUCCESS
}

fn wrong(why: &str) -> ExitCode {
    eprintln!("stopgate-conformance: {why}; see --help");
    ExitCode::from(2)
}

fn test(asked: &Asked) -> ExitCode {
    let Some(hook) = &asked.hook else { return wrong("name a hook: --hook COMMAND") };
    if hook.line.is_none() && hook.lines.is_empty() {
        return wrong("name a hook: --hook COMMAND");
    }
    let report = run(hook, &asked.selection);
    if report.results.is_empty() {
        return wrong("no case of that name, or no agent that the hook serves");
    }
    if asked.output == Output::Json {
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

fn read(mut parser: Parser) -> Result<Asked, lexopt::Error> {
    let mut asked = Asked::default();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("hook") => add_line(hook(&mut asked), parser.value()?.string()?),
            Arg::Long("stopgate") => {
                let program = parser.value()?.string()?;
                asked.hook = Some(HookUnderTest::stopgate(&absolute(&program)));
            }
            Arg::Long("arm") => hook(&mut asked).arm = Some(parser.value()?.string()?),
            Arg::Long("finish") => hook(&mut asked).finish = Some(parser.value()?.string()?),
            Arg::Long("all-events") => hook(&mut asked).events = HookEvents::All,
            Arg::Long("agent") => asked.selection.agents.push(agent(&parser.value()?.string()?)?),
            Arg::Long("only") => asked.selection.only = parser.value()?.string()?,
            Arg::Long("deadline") => {
                asked.selection.deadline = Duration::from_secs(parser.value()?.parse()?);
            }
            Arg::Long("json") => asked.output = Output::Json,
            Arg::Long("list") => asked.output = Output::List,
            Arg::Long("help") | Arg::Short('h') => asked.output = Output::Help,
            other => return Err(other.unexpected()),
        }
    }
    Ok(asked)
}

fn hook(asked: &mut Asked) -> &mut HookUnderTest {
    asked.hook.get_or_insert_with(|| HookUnderTest::named("hook"))
}

/// `COMMAND`, or `AGENT=COMMAND` where an agent has that name.
fn add_line(hook: &mut HookUnderTest, text: String) {
    let of_agent = text.split_once('=').and_then(|(word, line)| Some((Agent::named(word)?, line)));
    match of_agent {
        Some((agent, line)) => hook.lines.push((agent, line.into())),
        None => hook.line = Some(text),
    }
}

fn agent(word: &str) -> Result<Agent, lexopt::Error> {
    Agent::named(word).ok_or_else(|| {
        let known: Vec<&str> = Agent::ALL.into_iter().map(Agent::word).collect();
        format!("no agent {word}; there are {}", known.join(", ")).into()
    })
}

/// Calls are made in other directories than this one.
fn absolute(program: &str) -> String {
    let path = std::path::absolute(program);
    path.map_or_else(|_| program.into(), |path| path.display().to_string())
}
