//! Notices over the network: what receivers get, how often, and what they can't do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use serde_json::Value;

use crate::stage::Stage;

const CONFIG: &str = "user/.config/stopgate/config.toml";
const PATIENCE: Duration = Duration::from_secs(30);

/// One request, as it came in.
struct Received {
    path: String,
    headers: Vec<String>,
    body: String,
}

impl Received {
    fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &&String| {
            line.split_once(':').is_some_and(|(key, _)| key.eq_ignore_ascii_case(name))
        };
        let line = self.headers.iter().find(named)?;
        line.split_once(':').map(|(_, value)| value.trim())
    }
}

/// A receiver on this machine that answers with one status after the other, and then with the
/// last one.
struct Listening {
    address: String,
    received: Receiver<Received>,
}

impl Listening {
    fn new(statuses: &[&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("listen");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let (sender, received) = mpsc::channel();
        let statuses = statuses.to_vec();
        std::thread::spawn(move || {
            let connections = listener.incoming().map_while(Result::ok).enumerate();
            let status = |at| statuses.get(at).or(statuses.last()).copied().unwrap_or("200 OK");
            let mut requests = connections.map(|(at, stream)| answer(stream, status(at)));
            // Ends when nobody listens any more.
            requests.try_for_each(|received| sender.send(received))
        });
        Self { address, received }
    }

    fn next(&self) -> Received {
        self.received.recv_timeout(PATIENCE).expect("somebody is told")
    }
}

fn answer(stream: TcpStream, status: &str) -> Received {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("read a line");
        let line = line.trim_end().to_string();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let path = lines.remove(0).split(' ').nth(1).expect("a path").to_string();
    let mut received = Received { path, headers: lines, body: String::new() };
    let length = received.header("content-length").and_then(|text| text.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).expect("read the body");
    received.body = String::from_utf8(body).expect("a text");
    let more = if status.starts_with('3') { "Location: /elsewhere\r\n" } else { "" };
    let answer =
        format!("HTTP/1.1 {status}\r\n{more}Content-Length: 0\r\nConnection: close\r\n\r\n");
    let _ = reader.get_mut().write_all(answer.as_bytes());
    received
}

/// Ends a loop as blocked, with short pauses between tries.
fn block(stage: &Stage, session: &str, why: &str) {
    stage.start(&format!("'Make it <green> & well' --session {session}"));
    let ran = stage
        .run_with(&format!("blocked '{why}' --session {session}"), &[("STOPGATE_TEST_PAUSE", "1")]);
    assert_eq!(ran.code, 0, "{ran}");
}

#[test]
fn a_webhook_gets_a_signed_event_once_however_often_it_is_tried() {
    let receiver = Listening::new(&["500 No", "429 Later", "503 No", "500 No", "204 Fine"]);
    let stage = Stage::new();
    stage.write(
        CONFIG,
        format!(
            "[notify]\nwebhook = \"{}/hook?k=1\"\nwebhook_secret = \"key\"\n",
            receiver.address
        ),
    );
    block(&stage, "s1", "no network");
    let tries: Vec<Received> = (0..5).map(|_| receiver.next()).collect();
    for again in &tries {
        assert_eq!((again.path.as_str(), &again.body), ("/hook?k=1", &tries[0].body));
    }
    let event: Value = serde_json::from_str(&tries[0].body).expect("JSON");
    let told = |key: &str| event[key].as_str().unwrap_or_default().to_string();
    assert_eq!((told("specversion"), told("type")), ("1.0".into(), "stopgate.loop.ended".into()));
    assert_eq!((told("subject"), told("id")), ("1stage0000".into(), "1stage0000-2".into()));
    assert_eq!(told("time"), "2026-11-15T06:00:00Z");
    let data = &event["data"];
    assert_eq!((&data["outcome"], &data["why"]), (&"blocked".into(), &"no network".into()));
    assert_eq!((&data["needs_person"], &data["project"]), (&true.into(), &"project".into()));
    let last = &tries[4];
    assert_eq!(last.header("content-type"), Some("application/cloudevents+json"));
    let signed = last.header("x-stopgate-signature-256").expect("a signature").to_string();
    assert!(signed.starts_with("sha256=") && signed.len() == 71, "{signed}");
    // It was taken, so nothing more comes; the next event is the next thing that comes.
    block(&stage, "s2", "another");
    let next = receiver.next();
    assert!(next.body.contains("2stage0000-2"), "{}", next.body);
    assert_ne!(next.header("x-stopgate-signature-256"), Some(signed.as_str()));
    assert_eq!(stage.complaints(), Vec::<String>::new());
}

#[test]
fn a_redirect_is_not_followed_and_a_refusal_is_final() {
    let receiver = Listening::new(&["302 Found", "403 No", "200 OK"]);
    let stage = Stage::new();
    stage.write(CONFIG, format!("[notify]\nslack = \"{}/T0/secret\"\n", receiver.address));
    block(&stage, "s1", "one");
    assert_eq!(receiver.next().path, "/T0/secret");
    block(&stage, "s2", "two");
    assert_eq!(receiver.next().path, "/T0/secret");
    block(&stage, "s3", "three");
    let taken = receiver.next();
    assert_eq!(taken.path, "/T0/secret");
    let said = "(Make it &lt;green&gt; &amp; well) ended as blocked: three";
    assert!(taken.body.starts_with("{\"text\":\"stopgate: loop ") && taken.body.contains(said));
    crate::people::told(&stage, "home/stopgate.log", 2);
    let log = stage.complaints().join("\n");
    assert!(log.contains("redirects are not followed") && log.contains("it answered 403"), "{log}");
    assert!(!log.contains("secret"), "{log}");
}

#[test]
fn ntfy_gets_the_text_and_its_priority() {
    let receiver = Listening::new(&["200 OK"]);
    let stage = Stage::new();
    let address = &receiver.address;
    stage.write(CONFIG, format!("[notify]\nntfy = \"{address}/topic\"\nntfy_token = \"tk\"\n"));
    stage.start("'Make it green' --session s1 --check t=true");
    stage.stop_call("s1", "one").send();
    let got = receiver.next();
    assert_eq!(got.path, "/topic");
    assert_eq!(got.header("authorization"), Some("Bearer tk"));
    assert_eq!((got.header("title"), got.header("priority")), (Some("stopgate"), Some("default")));
    assert!(got.body.contains("(Make it green) ended as done"), "{}", got.body);
    block(&stage, "s2", "no way");
    assert_eq!(receiver.next().header("priority"), Some("high"));
}

#[test]
fn a_receiver_that_is_slow_keeps_nobody_waiting() {
    // It takes the connection and never answers.
    let listener = TcpListener::bind("127.0.0.1:0").expect("listen");
    let address = listener.local_addr().expect("an address");
    let stage = Stage::new();
    stage.write(CONFIG, format!("[notify]\nwebhook = \"http://{address}/\"\n"));
    block(&stage, "s1", "it goes on at once");
    let (stream, _) = listener.accept().expect("the sender calls");
    assert_eq!(stage.standing("1stage0000"), "blocked 0/20 s1");
    // The notice was taken out of its file before it was sent.
    let left = std::fs::read_dir(stage.path("home/outbox")).expect("the outbox").count();
    assert_eq!(left, 0);
    drop((stream, listener));
}

#[test]
fn the_terminal_s_bell_rings_where_a_person_wants_it() {
    let stage = Stage::new();
    let rang = |session: &str| {
        stage.start(&format!("Goal --session {session}"));
        // A terminal of its own, so that there is a bell.
        let line = format!("{} blocked why --session {session}", crate::stage::PROGRAM);
        let mut command = crate::doors::program("script");
        stage.furnish(&mut command);
        command.args(["-qec", &line, "/dev/null"]);
        let ran = stage.finish(command, b"");
        assert_eq!(ran.code, 0, "{ran}");
        ran.out.contains('\u{7}')
    };
    assert!(!rang("s1"));
    stage.write(CONFIG, "[notify]\nbell = true\n");
    assert!(rang("s2"));
}
