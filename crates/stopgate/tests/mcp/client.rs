//! A client that speaks to a server of its own over pipes, or over a pair of sockets.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::doors;

/// A home and a project, empty at first.
pub(crate) struct Scene {
    directory: TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let directory = TempDir::with_prefix("mcp-").expect("make the scene");
        for name in ["home", "user", "project/.git"] {
            fs::create_dir_all(directory.path().join(name)).expect("furnish the scene");
        }
        Self { directory }
    }

    /// The directory that servers work in.
    pub(crate) fn project(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    /// Where the journal is.
    pub(crate) fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    /// The program with these arguments, in an environment of its own.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = doors::stopgate();
        command.env_clear().current_dir(self.project()).args(arguments);
        command.env("PATH", doors::search_path());
        command.env("HOME", self.directory.path().join("user")).env("STOPGATE_HOME", self.home());
        command
    }

    /// Runs a command for people; what it printed.
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let ran = self.command(arguments).output().expect("run the program");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{arguments:?}: {said}");
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }

    /// A server and a client that has said hello.
    pub(crate) fn client(&self) -> Client {
        Client::of(self.command(&["mcp"]))
    }
}

/// One client and its server.
pub(crate) struct Client {
    server: Child,
    to: Option<Box<dyn Write>>,
    from: Box<dyn BufRead>,
    asked: u64,
}

impl Client {
    /// Starts a server on pipes.
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut server = command.spawn().expect("start the server");
        let to = server.stdin.take().expect("its input");
        let from = BufReader::new(server.stdout.take().expect("its output"));
        Self { server, to: Some(Box::new(to)), from: Box::new(from), asked: 0 }
    }

    /// A client of the server that `command` starts, which has said hello.
    pub(crate) fn of(command: Command) -> Self {
        let mut client = Self::start(command);
        client.hello("2025-06-18");
        client
    }

    /// Starts a server on sockets, as hosts on Node do.
    pub(crate) fn start_on_sockets(mut command: Command) -> Self {
        let (to, its_input) = UnixStream::pair().expect("a pair");
        let (from, its_output) = UnixStream::pair().expect("a pair");
        command.stdin(OwnedFd::from(its_input)).stdout(OwnedFd::from(its_output));
        let server = command.spawn().expect("start the server");
        Self { server, to: Some(Box::new(to)), from: Box::new(BufReader::new(from)), asked: 0 }
    }

    /// Says hello as a client of `revision`; the server's answer.
    pub(crate) fn hello(&mut self, revision: &str) -> Value {
        let params = json!({
            "protocolVersion": revision,
            "capabilities": {},
            "clientInfo": {"name": "tests", "version": "1"},
        });
        let answer = self.ask("initialize", &params);
        self.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer["result"].clone()
    }

    /// Sends one line.
    pub(crate) fn write(&mut self, message: &Value) {
        self.write_text(&message.to_string());
    }

    /// Sends one line, whatever it is.
    pub(crate) fn write_text(&mut self, line: &str) {
        let to = self.to.as_mut().expect("the input is open");
        to.write_all(format!("{line}\n").as_bytes()).expect("write to the server");
        to.flush().expect("write to the server");
    }

    /// Sends the beginning of a line.
    pub(crate) fn write_part(&mut self, part: &str) {
        let to = self.to.as_mut().expect("the input is open");
        to.write_all(part.as_bytes()).expect("write to the server");
        to.flush().expect("write to the server");
    }

    /// The server's process.
    pub(crate) fn server(&mut self) -> &mut Child {
        &mut self.server
    }

    /// Reads until the answer to the request with this id.
    pub(crate) fn answer_to(&mut self, id: u64) -> Value {
        loop {
            let answer = self.read();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// Reads one message.
    pub(crate) fn read(&mut self) -> Value {
        let mut line = String::new();
        let count = self.from.read_line(&mut line).expect("read from the server");
        assert!(count > 0, "the server closed its output");
        serde_json::from_str(&line).expect("every line is a message")
    }

    /// Asks and waits for the answer.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.answer_to(id)
    }

    /// Calls a tool; the result as the protocol has it.
    pub(crate) fn call_raw(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool; its answer, or `{"ERROR": sentence}`.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.call_raw(tool, arguments);
        if let Some(error) = answer["error"]["message"].as_str() {
            return json!({"ERROR": error});
        }
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().expect("a text");
        if result["isError"] == true {
            return json!({"ERROR": text});
        }
        let value: Value = serde_json::from_str(text).expect("the text is JSON");
        assert_eq!(value, result["structuredContent"], "{tool}: both forms say the same");
        value
    }

    /// Calls a tool that must do its work.
    #[track_caller]
    pub(crate) fn done(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.call(tool, arguments);
        assert!(answer.get("ERROR").is_none(), "{tool} {arguments}: {answer}");
        answer
    }

    /// Calls a tool that must refuse; its sentence.
    #[track_caller]
    pub(crate) fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.call(tool, arguments);
        let said = answer["ERROR"].as_str();
        said.unwrap_or_else(|| panic!("{tool} {arguments} was done: {answer}")).into()
    }

    /// A new task's id.
    pub(crate) fn task(&mut self) -> String {
        id(&self.done("task_create", &json!({"title": "t"})), "id")
    }

    /// A new task with an iteration of the usual kind: both ids.
    pub(crate) fn iteration(&mut self) -> (String, String) {
        let task = self.task();
        let ask = json!({
            "taskId": task, "maxIterations": 10, "completionPromises": ["COMPLETE", "BLOCKED"],
        });
        let iteration = id(&self.done("iteration_start", &ask), "iterationId");
        (task, iteration)
    }

    /// Kills the server as a crash would.
    pub(crate) fn kill(mut self) {
        self.server.kill().expect("kill the server");
        self.server.wait().expect("wait for the server");
    }

    /// Leaves; what the server still said, and that it ended well.
    pub(crate) fn leave(mut self) -> String {
        drop(self.to.take());
        let mut rest = String::new();
        self.from.read_to_string(&mut rest).expect("read to the end");
        let status = self.server.wait().expect("wait for the server");
        assert!(status.success(), "{status}");
        rest
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.to.take());
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The text called `name` in an answer.
pub(crate) fn id(answer: &Value, name: &str) -> String {
    answer[name].as_str().unwrap_or_else(|| panic!("no {name} in {answer}")).into()
}

/// How many events the journal at `home` has.
pub(crate) fn events_in(home: &Path) -> i64 {
    let file = home.join("journal.db");
    if !file.exists() {
        return 0;
    }
    let connection = rusqlite::Connection::open(file).expect("open the journal");
    let count = connection.query_row("SELECT count(*) FROM event", [], |row| row.get(0));
    count.expect("count the events")
}
