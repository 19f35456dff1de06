//! Where one story plays: a home, a state directory and a tree of its own.
//!
//! Every program has a time limit and writes to files, so that nothing that it leaves
//! running can hold the chore.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::kit::TruthKit;
use super::options::{Afterwards, Subject, TruthPlan};

/// The session that works in every story.
pub(crate) const SESSION: &str = "5e551011-0000-4000-8000-000000000001";
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A story's directory and what is needed to run programs in it.
pub(crate) struct TruthStage<'a> {
    kit: &'a TruthKit,
    plan: &'a TruthPlan,
    root: PathBuf,
    /// Where the agent works, in the tree.
    work: PathBuf,
    commands: Cell<usize>,
    /// Removes the directory at the end, unless it is kept.
    _guard: Option<TempDir>,
}

/// How a program ended.
#[derive(Debug)]
pub(crate) struct Finished {
    /// `None` where it had to be stopped.
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Finished {
    /// Whether it ended with 0.
    pub(crate) fn is_fine(&self) -> bool {
        self.code == Some(0)
    }

    /// Whether the snippet itself is at fault, whatever it found: it took too long, a program is
    /// missing, a variable is unknown or the shell can't read it.
    pub(crate) fn is_broken(&self) -> bool {
        let of_the_shell = [": unbound variable", ": syntax error", "unexpected end of file"];
        matches!(self.code, None | Some(126 | 127))
            || (self.code != Some(0) && of_the_shell.iter().any(|word| self.err.contains(word)))
    }

    /// The last line that it wrote, for a report.
    pub(crate) fn last_line(&self) -> String {
        let mut lines = self.err.lines().chain(self.out.lines());
        let last = lines.rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        let code = self.code.map_or("too slow".into(), |code| format!("exit {code}"));
        format!("{code}: {}", last.trim().chars().take(160).collect::<String>())
    }
}

/// Who runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Player {
    Person,
    Agent,
    /// A hook call by the client.
    Client,
    /// Who knows the truth, at a home of its own.
    Oracle,
}

impl<'a> TruthStage<'a> {
    /// An empty stage.
    pub(crate) fn new(kit: &'a TruthKit, plan: &'a TruthPlan, below: &str) -> Result<Self> {
        let guard = TempDir::with_prefix("stage-").context("make a stage")?;
        let root = guard.path().canonicalize()?;
        let guard = match plan.afterwards {
            Afterwards::Remove => Some(guard),
            Afterwards::Keep => {
                eprintln!("kept: {}", guard.keep().display());
                None
            }
        };
        for name in ["home/.cache", "state", "tmp", "tools", "oracle", "work/tree"] {
            fs::create_dir_all(root.join(name))?;
        }
        let work = root.join("work/tree").join(below);
        let stage = Self { kit, plan, root, work, commands: Cell::new(0), _guard: guard };
        stage.furnish()?;
        Ok(stage)
    }

    fn furnish(&self) -> Result<()> {
        let who =
            "[user]\n\tname = Pat\n\temail = pat@example.org\n[init]\n\tdefaultBranch = main\n";
        fs::write(self.root.join("home/.gitconfig"), who)?;
        // Compiled once, as on a machine that was used before.
        let cache = self.kit.directory.join("go-build");
        fs::create_dir_all(&cache)?;
        std::os::unix::fs::symlink(cache, self.root.join("home/.cache/go-build"))?;
        let program = self.root.join("tools/stopgate");
        match self.plan.subject {
            Subject::Program => Ok(std::os::unix::fs::symlink(&self.kit.program, program)?),
            Subject::Corpus => self.tool("stopgate", "exit 0\n"),
        }
    }

    /// Writes a script that snippets can call by its name.
    pub(crate) fn tool(&self, name: &str, script: &str) -> Result<()> {
        use std::os::unix::fs::PermissionsExt;
        let path = self.root.join("tools").join(name);
        fs::write(&path, format!("#!/usr/bin/env bash\nset -eu\n{script}"))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(())
    }

    /// The tree's root.
    pub(crate) fn tree(&self) -> PathBuf {
        self.root.join("work/tree")
    }

    /// Whether a check ran apart from the tree: its log is called so, behind the criterion's name.
    pub(crate) fn has_run_apart(&self) -> Result<bool> {
        let mut open = vec![self.root.join("state")];
        while let Some(place) = open.pop() {
            let entries = fs::read_dir(place)?.collect::<Result<Vec<_>, _>>()?;
            if entries.iter().any(|own| is_log_of_run_apart(&own.file_name().to_string_lossy())) {
                return Ok(true);
            }
            let is_directory = |own: &fs::DirEntry| own.file_type().is_ok_and(|kind| kind.is_dir());
            open.extend(entries.into_iter().filter(is_directory).map(|own| own.path()));
        }
        Ok(false)
    }

    /// Where the agent works.
    pub(crate) fn work(&self) -> &Path {
        &self.work
    }

    /// Copies the project's files into the tree.
    pub(crate) fn fill(&self, files: &Path) -> Result<()> {
        let mut copy = Command::new("cp");
        copy.arg("-R").arg(files.join(".")).arg(self.tree());
        crate::tools::run(&mut copy)
    }

    /// Runs a snippet of the shell where the agent works.
    pub(crate) fn snippet(&self, player: Player, text: &str, limit_s: u64) -> Result<Finished> {
        let mut bash = Command::new("bash");
        bash.args(["-euc", text]);
        self.dress(&mut bash, player);
        self.finish(bash, "", limit_s)
    }

    /// Runs the program with these arguments.
    pub(crate) fn program(&self, player: Player, arguments: &[&str]) -> Result<Finished> {
        let mut command = Command::new(&self.kit.program);
        command.args(arguments);
        self.dress(&mut command, player);
        self.finish(command, "", 180)
    }

    /// Calls the hook as the client does.
    pub(crate) fn hook(
        &self,
        event: &str,
        more: Value,
        variables: &BTreeMap<String, String>,
    ) -> Result<Finished> {
        let mut command = Command::new(&self.kit.program);
        command.args(["hook", "claude"]);
        self.dress(&mut command, Player::Client);
        command.envs(variables);
        self.finish(command, &self.payload(event, more), 120)
    }

    /// What the client hands to the hook.
    pub(crate) fn payload(&self, event: &str, more: Value) -> String {
        let mut payload = json!({
            "session_id": SESSION,
            "transcript_path": self.root.join("home/.claude/projects/tree/transcript.jsonl"),
            "cwd": self.work,
            "hook_event_name": event,
            "prompt_id": "prompt-1",
            "permission_mode": "default",
            "effort": {"level": "medium"},
        });
        if let (Some(payload), Value::Object(more)) = (payload.as_object_mut(), more) {
            payload.extend(more);
        }
        payload.to_string()
    }

    /// Runs a line of the shell as the client would: the processor time, in seconds, of all that
    /// it started and waited for.
    pub(crate) fn timed(&self, line: &str, input: &str) -> Result<f64> {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{line} >&2; times")]);
        self.dress(&mut shell, Player::Client);
        let ran = self.finish(shell, input, 120)?;
        let children = ran.out.lines().last().and_then(|line| {
            let times = line.split_whitespace().map(seconds).collect::<Option<Vec<f64>>>()?;
            Some(times.iter().sum())
        });
        children.with_context(|| format!("time {line}: {}", ran.last_line()))
    }

    /// Runs what a gate that only looks at the exit code would run.
    pub(crate) fn naive(
        &self,
        text: &str,
        variables: &BTreeMap<String, String>,
    ) -> Result<Finished> {
        let mut shell = Command::new("sh");
        shell.args(["-c", text]);
        self.dress(&mut shell, Player::Client);
        shell.envs(variables);
        self.finish(shell, "", 60)
    }

    /// Starts a snippet of the agent's that goes on beside a stop.
    pub(crate) fn background(&self, text: &str) -> Result<Child> {
        let mut bash = Command::new("bash");
        bash.args(["-uc", text]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.dress(&mut bash, Player::Agent);
        bash.process_group(0).spawn().context("start a process beside the stop")
    }

    fn dress(&self, command: &mut Command, player: Player) {
        let place = |name: &str| self.root.join(name);
        command.env_clear().current_dir(&self.work);
        command.env("HOME", place("home")).env("STOPGATE_HOME", place("state"));
        command.env("XDG_CONFIG_HOME", place("home/.config"));
        command.env("XDG_STATE_HOME", place("home/.local/state"));
        command.env("XDG_DATA_HOME", place("home/.local/share"));
        command.env("XDG_CACHE_HOME", place("home/.cache"));
        command.env("TMPDIR", place("tmp")).env("LANG", "C.UTF-8").env("USER", "pat");
        command.env("PATH", &self.kit.path);
        if let Some(place) = &self.plan.place {
            command.env("STOPGATE_TEST_PLACE", place);
        }
        match player {
            Player::Person => self.with_tools(command),
            Player::Agent => {
                self.with_tools(command);
                command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", SESSION);
            }
            Player::Client => {
                command.env("AI_AGENT", "claude-code_2-1-325_harness").env("CLAUDECODE", "1");
                command.env("CLAUDE_CODE_SESSION_ID", SESSION);
                command.env("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0");
                command.env("CLAUDE_PROJECT_DIR", &self.work);
            }
            Player::Oracle => {
                command.env("HOME", place("oracle")).env("TREE", &self.work);
                command.env("XDG_CACHE_HOME", place("home/.cache"));
                command.env("KIT", &self.kit.directory).env("OUTSIDE", place("work"));
                command.current_dir(place("oracle"));
            }
        }
    }

    /// What snippets may use.
    fn with_tools(&self, command: &mut Command) {
        let path = format!("{}:{}", self.root.join("tools").display(), self.kit.path);
        command.env("PATH", path).env("TREE", self.tree()).env("KIT", &self.kit.directory);
        command.env("OUTSIDE", self.root.join("work"));
    }

    fn finish(&self, mut command: Command, input: &str, limit_s: u64) -> Result<Finished> {
        let at = self.commands.replace(self.commands.get() + 1);
        let file = |end: &str| self.root.join(format!("command-{at:02}.{end}"));
        fs::write(file("in"), input)?;
        command.stdin(File::open(file("in"))?);
        command.stdout(File::create(file("out"))?).stderr(File::create(file("err"))?);
        let child = command.process_group(0).spawn();
        let name = command.get_program().display().to_string();
        let code = wait(child.with_context(|| format!("start {name}"))?, limit_s)?;
        let text = |path| fs::read(path).map(|read| String::from_utf8_lossy(&read).into_owned());
        Ok(Finished { code, out: text(file("out"))?, err: text(file("err"))? })
    }

    /// Ends what still runs in the stage's directory.
    fn sweep(&self) {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let works_at = fs::read_link(entry.path().join("cwd"));
            let is_ours = works_at.is_ok_and(|path| path.starts_with(&self.root));
            if is_ours && name.parse::<u32>().is_ok() {
                let _ = Command::new("kill").args(["-KILL", &name]).stderr(Stdio::null()).status();
            }
        }
    }
}

impl Drop for TruthStage<'_> {
    fn drop(&mut self) {
        self.sweep();
    }
}

/// What `times` of the shell prints: `1m2.5s`.
fn seconds(shown: &str) -> Option<f64> {
    let (minutes, seconds) = shown.strip_suffix('s')?.split_once('m')?;
    Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
}

fn wait(mut child: Child, limit_s: u64) -> Result<Option<i32>> {
    let end = Instant::now() + Duration::from_secs(limit_s);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.code().unwrap_or(-1)));
        }
        if Instant::now() > end {
            end_group(&mut child);
            return Ok(None);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Asks a child to end, so that it can put its files back, and ends it.
pub(crate) fn dismiss(child: &mut Child) {
    let group = format!("-{}", child.id());
    let _ = Command::new("kill").args(["-TERM", "--", &group]).stderr(Stdio::null()).status();
    let end = Instant::now() + Duration::from_secs(3);
    while Instant::now() < end && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(LOOK_EVERY);
    }
    end_group(child);
}

/// Ends a child and its process group.
fn end_group(child: &mut Child) {
    let group = format!("-{}", child.id());
    let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    let _ = child.wait();
}

/// Whether a log is called as those of runs apart are (`tests.original.log`). A criterion's name
/// may end with a digest of its own.
fn is_log_of_run_apart(name: &str) -> bool {
    let run = name.strip_suffix(".log").and_then(|name| name.rsplit_once('.'));
    run.is_some_and(|(_, run)| !run.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::{Finished, is_log_of_run_apart};

    #[test]
    fn an_oracle_that_breaks_has_said_nothing() {
        let ended = |code, err: &str| Finished { code, out: String::new(), err: err.into() };
        assert!(ended(None, "").is_broken());
        assert!(ended(Some(127), "bash: line 1: jq: command not found").is_broken());
        assert!(ended(Some(1), "bash: line 2: KIT: unbound variable").is_broken());
        assert!(!ended(Some(1), "AssertionError").is_broken());
        assert!(!ended(Some(0), "").is_broken());
    }

    #[test]
    fn logs_of_runs_apart_are_told_from_names_with_a_digest() {
        assert!(is_log_of_run_apart("tests.original.log"));
        assert!(is_log_of_run_apart("unit-tests.00ff00ff00ff00ff.control.log"));
        assert!(!is_log_of_run_apart("tests.log"));
        assert!(!is_log_of_run_apart("unit-tests.00ff00ff00ff00ff.log"));
        assert!(!is_log_of_run_apart("journal.db"));
    }
}
