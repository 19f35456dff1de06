//! Plays one case, and looks at what it came to.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::cases::NightCase;
use crate::client::LabClient;
use crate::door;
use crate::error::LabError;
use crate::pinned::LabAgent;
use crate::program::Program;
use crate::stage::Lab;

/// No case takes longer.
const LIMIT: Duration = Duration::from_mins(8);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long those of a session may take to be gone after a driver was killed.
const GONE_WITHIN: Duration = Duration::from_secs(10);
/// Stands in every prompt of a fresh session, and in nothing else.
const PROMPT: &str = "Nobody is at the keyboard";

/// How a case came out.
#[derive(Clone, Debug)]
pub struct NightResult {
    /// The client.
    pub agent: LabAgent,
    /// The case.
    pub case: NightCase,
    /// The loop's outcome.
    pub outcome: String,
    /// The exit code.
    pub code: i32,
    /// How many fresh sessions there were.
    pub sessions: u64,
    /// Whether a question that was to be asked was, and waited.
    pub asked: bool,
    /// Tokens that were counted; nothing where none were.
    pub tokens: Option<u64>,
    /// Tokens that the model says it used, calls beside the work included.
    pub sent: u64,
    /// Requests at the model.
    pub requests: usize,
    /// The most prompts that one conversation held.
    pub prompts: usize,
    /// Processes that were left behind.
    pub orphans: Vec<String>,
    /// How long it took.
    pub took: Duration,
    /// What the program printed.
    pub said: String,
}

impl NightResult {
    /// What is not as it must be; nothing where all is well.
    pub fn trouble(&self) -> Option<String> {
        let expected = self.case.expected(self.agent);
        let mut wrong = Vec::new();
        let found = (self.outcome.as_str(), self.code, self.sessions);
        let wanted = (expected.outcome, expected.code, expected.sessions);
        if found != wanted {
            wrong.push(format!("{found:?} instead of {wanted:?}"));
        }
        if !self.asked {
            wrong.push("nobody was asked".to_owned());
        }
        if self.case == NightCase::Budget && self.tokens.is_none_or(|tokens| tokens < 1500) {
            wrong.push(format!("{:?} tokens were counted", self.tokens));
        }
        if self.prompts != 1 {
            wrong.push(format!("a conversation holds the prompt {} times", self.prompts));
        }
        if !self.orphans.is_empty() {
            wrong.push(format!("left behind: {:?}", self.orphans));
        }
        (!wrong.is_empty()).then(|| format!("{}\n{}", wrong.join("; "), self.said))
    }
}

/// Plays one case with one client.
pub fn play(agent: LabAgent, case: NightCase, program: &Program) -> Result<NightResult, LabError> {
    let begun = door::now();
    let stage = Lab::new(LabClient::install_agent(agent)?)?;
    let program = stage.place(program)?;
    if case == NightCase::Hooked {
        let trust: &[&str] = if agent == LabAgent::Codex { &["--accept-trust"] } else { &[] };
        stage.stopgate(&program, ["install", agent.name()].iter().chain(trust))?;
    }
    let model = stage.model();
    model.script(agent.name(), case.turns(agent));
    let options = ["start", "--check", "made=test -f made.txt", "--max-iterations", "3"];
    let limit: &[&str] = if case == NightCase::Budget { &["--max-tokens", "1500"] } else { &[] };
    let options = options.iter().chain(limit).chain(&["--json", "make the file"]);
    let id = stage.stopgate(&program, options)?.json();
    let id = id["loop"]["id"].as_str().unwrap_or_default().to_owned();
    let mut ran = drive(&stage, &program, case, &[])?;
    if case == NightCase::DriverKilled {
        until(begun, || !model.main_calls().is_empty());
        thread::sleep(Duration::from_millis(500));
        let _ = ran.child.kill();
        let _ = ran.child.wait();
        let killed = door::now();
        while !left_behind(&stage).is_empty() && killed.elapsed() < GONE_WITHIN {
            thread::sleep(LOOK_EVERY);
        }
        ran = drive(&stage, &program, case, &["--continue"])?;
    }
    let mut code = ran.finish(begun);
    let mut asked = true;
    if let Some(answer) = case.answer() {
        let status = stage.stopgate(&program, ["status", &id, "--json"])?.json();
        asked = code == 4 && outcome(&status["loop"]) == "needs_input";
        stage.stopgate(&program, ["answer", &id, answer])?;
        ran = drive(&stage, &program, case, &["--continue"])?;
        code = ran.finish(begun);
    }
    let status = stage.stopgate(&program, ["status", &id, "--json"])?.json();
    let said = ran.said();
    let tokens = status["loop"]["budget"]["tokens"].as_u64();
    let sent = model.sent().iter().map(|answer| answer.usage.total()).sum();
    let bodies = model.main_calls().into_iter().map(|call| call.body.to_string());
    Ok(NightResult {
        agent,
        case,
        outcome: outcome(&status["loop"]),
        code,
        sessions: sessions(&stage),
        asked,
        tokens,
        sent,
        requests: model.main_calls().len(),
        prompts: bodies.map(|body| body.matches(PROMPT).count()).max().unwrap_or(0),
        orphans: left_behind(&stage),
        took: begun.elapsed(),
        said,
    })
}

/// A question has no outcome yet: the loop waits.
fn outcome(found: &serde_json::Value) -> String {
    let word = found["outcome"].as_str().or_else(|| match found["state"].as_str() {
        Some("waiting") => Some("needs_input"),
        other => other,
    });
    word.unwrap_or("?").to_owned()
}

/// A driver that runs.
struct Driven {
    child: Child,
    output: std::path::PathBuf,
}

impl Driven {
    fn finish(&mut self, begun: Instant) -> i32 {
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return status.code().unwrap_or(-1),
                Ok(None) if begun.elapsed() < LIMIT => thread::sleep(LOOK_EVERY),
                Ok(None) | Err(_) => {
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    return -2;
                }
            }
        }
    }

    fn said(&self) -> String {
        fs::read_to_string(&self.output).unwrap_or_default()
    }
}

fn drive(
    stage: &Lab,
    program: &Program,
    case: NightCase,
    more: &[&str],
) -> Result<Driven, LabError> {
    let client = stage.client();
    let mut command = stage.driver(program);
    command.arg("run").args(case.flags()).args(more).arg("--").arg(client.path());
    command.args(own_flags(client.agent()));
    if case == NightCase::Planned {
        command.args(["--permission-mode", "plan"]);
    }
    // The driver waits, not the client.
    command.env("CLAUDE_CODE_MAX_RETRIES", "0");
    if client.agent() == LabAgent::Claude && case == NightCase::LimitWaited {
        // Only a plan tells its reset time.
        command.env_remove("ANTHROPIC_API_KEY").env("CLAUDE_CODE_OAUTH_TOKEN", "dummy-token");
    }
    let output = stage.state().join("run.out");
    let file = fs::File::options().create(true).append(true).open(&output);
    let file = file.map_err(LabError::file("create", &output))?;
    let other = file.try_clone().map_err(LabError::file("create", &output))?;
    command.stdin(Stdio::null()).stdout(file).stderr(other);
    let child = command.spawn().map_err(LabError::run(program.path()))?;
    Ok(Driven { child, output })
}

/// What a person would write after the client's name.
const fn own_flags(agent: LabAgent) -> &'static [&'static str] {
    match agent {
        LabAgent::Claude => &["--allowedTools", "Bash"],
        LabAgent::Gemini => &["-m", "gemini-2.5-flash", "--yolo"],
        LabAgent::Qwen => &["--auth-type", "openai", "--yolo"],
        LabAgent::Copilot => &["--allow-all-tools"],
        LabAgent::OpenCode => &["--auto"],
        LabAgent::Pi => &["--provider", "lab", "--model", "fake-model"],
        LabAgent::Codex | LabAgent::Kimi => &[],
    }
}

/// How many fresh sessions the driver began.
fn sessions(stage: &Lab) -> u64 {
    let runs = fs::read_dir(stage.state().join("runs")).into_iter().flatten().flatten();
    let records = runs.filter_map(|run| fs::read_to_string(run.path().join("driver.json")).ok());
    let records = records.filter_map(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    records.filter_map(|record| record["sessions"].as_u64()).sum()
}

fn until(begun: Instant, holds: impl Fn() -> bool) {
    while !holds() && begun.elapsed() < LIMIT {
        thread::sleep(LOOK_EVERY);
    }
}

/// Processes that belong to the stage and are still there.
fn left_behind(stage: &Lab) -> Vec<String> {
    let mark = stage.state().display().to_string();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let belongs = |pid: &String| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(&mark)
    };
    let pids = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let pids = pids.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).filter(belongs);
    pids.map(|pid| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or(pid)).collect()
}
