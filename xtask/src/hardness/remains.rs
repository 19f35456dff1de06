//! What SIGKILL leaves behind: of a hook, of a server, of a check, at any moment.
//!
//! Two seconds later no process of ours and no temporary directory may be left, the store
//! must be sound, and nothing that was answered may be lost.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{Findings, HardnessOptions};
use crate::figures::Chance;
use crate::journal;
use crate::scene::{Call, ENDLESS, Said, Scene, said};
use crate::tools;

const AGENTS: usize = 4;
const KILLS_A_ROUND: usize = 10;
/// How long what is left may take to go.
const GRACE: Duration = Duration::from_secs(2);
/// What a loaded machine may add to that.
const SLACK: Duration = Duration::from_secs(2);
/// Kills come at most this long after the start of what is killed.
const KILL_WITHIN_MS: u64 = 250;
const SESSION: &str = "struck";

/// One agent on a machine of its own, and what it knows.
struct Agent {
    scene: Scene,
    call: Call,
    chance: Chance,
    /// In the arguments of every process that a check of this agent starts.
    mark: String,
    written: u64,
    kills: usize,
    /// Stops that were answered; those that may have been counted beside them.
    answered: u32,
    unsure: u32,
    /// Tasks that a server said it keeps.
    tasks: Vec<String>,
    violations: Vec<String>,
}

/// Kills as often as the plan says, on four machines at once.
pub(super) fn measure(plan: &HardnessOptions, findings: &mut Findings) -> Result<()> {
    let wanted = if plan.long { 10_000 } else { 500 };
    let share = wanted / AGENTS;
    let agents = tools::abreast(AGENTS, |number| {
        let number = number as u64;
        let mut agent = Agent::new(plan.seed ^ (number << 32), number)?;
        while agent.kills < share {
            agent.round()?;
        }
        Ok(agent)
    })?;
    let (mut kills, mut violations, mut answered) = (0, Vec::new(), 0);
    for agent in agents {
        kills += agent.kills;
        answered += agent.answered;
        violations.extend(agent.violations);
    }
    let figures = format!("{answered} stops answered; looked at after {KILLS_A_ROUND} each");
    findings.add("kill -9 of hooks, servers and checks", kills, &violations, &figures);
    Ok(())
}

impl Agent {
    fn new(seed: u64, number: u64) -> Result<Self> {
        let mut scene = Scene::new()?;
        let mark = format!("4{:07}.{}", number, std::process::id());
        fs::create_dir_all(scene.path("tmp"))?;
        scene.variables.push(("TMPDIR", scene.path("tmp").display().to_string()));
        // One that stays, one that leaves the group, and an end of its own.
        let line = format!("(sleep {mark} &) ; setsid sleep {mark} & sleep 0.1; exit 1");
        let check = format!("slow={line}");
        let options = [&ENDLESS[..], &["--max-repeat", "0", "--check", &check]].concat();
        scene.start(SESSION, &options)?;
        let call = scene.hook(SESSION, "Stop")?;
        Ok(Self {
            scene,
            call,
            chance: Chance::new(seed),
            mark,
            written: 0,
            kills: 0,
            answered: 0,
            unsure: 0,
            tasks: Vec::new(),
            violations: Vec::new(),
        })
    }

    /// Strikes a few times, then looks at what is left.
    fn round(&mut self) -> Result<()> {
        for _ in 0..KILLS_A_ROUND {
            match self.chance.below(3) {
                0 => self.strike_hook()?,
                1 => self.strike_server()?,
                _ => self.strike_check()?,
            }
        }
        self.look_for_remains();
        self.look_at_store();
        Ok(())
    }

    /// A hook whose check must run, for a file has changed.
    fn hook(&mut self) -> Result<Child> {
        self.written += 1;
        fs::write(self.scene.project().join("work.txt"), self.written.to_string())?;
        self.call.spawn()
    }

    fn wait(&mut self) {
        thread::sleep(Duration::from_millis(self.chance.below(KILL_WITHIN_MS)));
    }

    fn strike_hook(&mut self) -> Result<()> {
        let mut child = self.hook()?;
        self.wait();
        child.kill()?;
        let output = child.wait_with_output().context("wait for a stop")?;
        let answered = said(&output.stdout) == Said::Continue;
        self.kills += usize::from(!output.status.success());
        self.answered += u32::from(answered);
        self.unsure += u32::from(!answered);
        Ok(())
    }

    /// The hook goes on without its check.
    fn strike_check(&mut self) -> Result<()> {
        let child = self.hook()?;
        self.wait();
        for pid in self.marked() {
            let killed = Command::new("kill").args(["-9", &pid]).stderr(Stdio::null()).status();
            self.kills += usize::from(killed.is_ok_and(|status| status.success()));
        }
        let output = child.wait_with_output().context("wait for a stop")?;
        let answered = said(&output.stdout) == Said::Continue;
        self.answered += u32::from(answered);
        // A check that could not be run may end the loop honestly; it must not be lost.
        self.unsure += u32::from(!answered);
        if !output.status.success() {
            self.violations.push(format!("a hook whose check was killed: {}", output.status));
        }
        Ok(())
    }

    /// A server in the middle of a rule.
    fn strike_server(&mut self) -> Result<()> {
        let mut command = self.scene.call(&["mcp"]).process()?;
        let mut server = command.stdin(Stdio::piped()).spawn().context("start the server")?;
        let kept = self.converse(&mut server);
        self.wait();
        server.kill()?;
        server.wait()?;
        self.kills += 1;
        self.tasks.extend(kept?);
        Ok(())
    }

    /// Has a task kept and a rule begun; the task's name.
    fn converse(&self, server: &mut Child) -> Result<Option<String>> {
        let mut to = server.stdin.take().context("write to the server")?;
        let mut from = BufReader::new(server.stdout.take().context("read from the server")?);
        let mut ask = |id: u32, method: &str, params: Value| -> Result<Value> {
            let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            writeln!(to, "{message}")?;
            let mut line = String::new();
            from.read_line(&mut line)?;
            Ok(serde_json::from_str(&line).unwrap_or_default())
        };
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "chore", "version": "1"},
        });
        ask(1, "initialize", hello)?;
        let call = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
        let made = ask(2, "tools/call", call("task_create", json!({"title": "t"})))?;
        let task = made["result"]["structuredContent"]["id"].as_str().map(String::from);
        let command = format!("(sleep {} &) ; sleep {}", self.mark, self.mark);
        let rule = json!({"type": "command", "name": "slow", "config": {"command": command}});
        let begin = json!({
            "taskId": task, "maxIterations": 3, "completionPromises": ["COMPLETE"],
            "validationRules": [rule],
        });
        let answer = ask(3, "tools/call", call("iteration_start", begin))?;
        let iteration = &answer["result"]["structuredContent"]["iterationId"];
        let params = call("iteration_validate", json!({"iterationId": iteration}));
        let message = json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": params});
        writeln!(to, "{message}")?;
        // The server must not see the end of its input before it is killed.
        server.stdin = Some(to);
        Ok(task)
    }

    fn look_for_remains(&mut self) {
        let until = Instant::now() + GRACE + SLACK;
        let home = format!("STOPGATE_HOME={}", self.scene.home().display());
        // A leash has the path of its scratch directory as an argument.
        let below = format!("{}/", self.scene.path("tmp").display());
        loop {
            let mut left = self.marked();
            left.extend(tools::processes("environ", |word| word == home.as_bytes()));
            left.extend(tools::processes("cmdline", |word| word.starts_with(below.as_bytes())));
            let scratch = entries(&self.scene.path("tmp"));
            if left.is_empty() && scratch.is_empty() {
                return;
            }
            if Instant::now() > until {
                self.violations.push(format!("left: processes {left:?}, directories {scratch:?}"));
                return self.clear(&left);
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// What is left now must not be counted again.
    /// The processes that the checks of this agent began.
    fn marked(&self) -> Vec<String> {
        tools::processes("cmdline", |word| word == self.mark.as_bytes())
    }

    fn clear(&self, left: &[String]) {
        let _ = Command::new("kill").arg("-9").args(left).stderr(Stdio::null()).status();
        let _ = fs::remove_dir_all(self.scene.path("tmp"));
        let _ = fs::create_dir_all(self.scene.path("tmp"));
    }

    fn look_at_store(&mut self) {
        let found = match self.scene.inspect() {
            Ok(found) => found,
            Err(error) => return self.violations.push(format!("could not {error:#}")),
        };
        let counted = journal::iteration(&found, SESSION).unwrap_or(0);
        if counted < self.answered || counted > self.answered + self.unsure {
            let known = format!("{} answered, {} unsure", self.answered, self.unsure);
            self.violations.push(format!("counted {counted} of {known}"));
        }
        (self.answered, self.unsure) = (counted, 0);
        for task in self.tasks.drain(..) {
            let id = task.trim_start_matches("TASK-");
            if !found.iter().any(|stored| stored.state.id.as_str() == id) {
                self.violations.push(format!("{task} was kept and is gone"));
            }
        }
    }
}

pub(super) fn entries(directory: &Path) -> Vec<String> {
    let all = fs::read_dir(directory).into_iter().flatten().flatten();
    all.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}
