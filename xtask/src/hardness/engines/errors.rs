//! Servers that can't be used: commands say why and exit 74, the hook lets the stop pass
//! within its deadline and logs one line, and the loop stays as it is.

use std::net::TcpListener;
use std::process::Stdio;
use std::time::Duration;

use anyhow::Result;
use stopgate_lab::Cluster;
use stopgate_store::Stored;

use super::super::Findings;
use super::survival::{DEADLINE, SLACK};
use crate::engines::place;
use crate::figures::millis;
use crate::scene::{ENDLESS, Said, Scene};

const SESSION: &str = "held";
/// What a command exits with when the store can't be used.
const EXIT_STORE: i32 = 74;

/// A server that can't be used.
struct Case {
    name: &'static str,
    /// Where it is.
    address: String,
    /// What a person must read.
    says: &'static str,
    /// Where the loop can still be looked at.
    sound: Option<String>,
}

/// Tries every trouble there is.
pub(super) fn measure(cluster: &Cluster, findings: &mut Findings) -> Result<()> {
    let silent = TcpListener::bind("127.0.0.1:0")?;
    let port = silent.local_addr()?.port();
    let standby_of = Cluster::start(stopgate_lab::Setup::default())?;
    let standby = standby_of.standby()?;
    held(&standby_of.url("postgres"))?;
    let follows = standby_of.url("postgres");
    let database = place::database(cluster)?;
    let sound = cluster.url(&database);
    held(&sound)?;
    let newer = newer(cluster)?;
    let dropped = place::database(cluster)?;
    held(&cluster.url(&dropped))?;
    cluster.sql("postgres", &format!("DROP DATABASE {dropped} WITH (FORCE)"))?;
    let case = |name, address, says, sound| Case { name, address, says, sound };
    let here = || Some(sound.clone());
    let silent = format!("postgres://u:p@127.0.0.1:{port}/d");
    let wrong = cluster.url_of("postgres", "guess", &database);
    let nowhere = "postgres://u:p@no-such-host.invalid/d".to_string();
    for case in [
        case("wrong password", wrong, "could not log in", here()),
        case("unknown host", nowhere, "no-such-host.invalid", here()),
        case("accepts and never answers", silent, "could not get an answer", here()),
        case("server in recovery", standby.url("postgres"), "in recovery", Some(follows)),
        case("tables of a newer program", newer, "install a newer stopgate", None),
        case("database dropped in mid-loop", cluster.url(&dropped), "could not find", None),
    ] {
        strike(&case, findings)?;
    }
    Ok(())
}

/// Begins a loop where all is well.
fn held(address: &str) -> Result<()> {
    Scene::on(address)?.start(SESSION, &ENDLESS)
}

/// A database that a program of the future has changed.
fn newer(cluster: &Cluster) -> Result<String> {
    let database = place::database(cluster)?;
    held(&cluster.url(&database))?;
    let columns = "INSERT INTO stopgate.migration (version) VALUES (99)";
    cluster.sql(&database, columns)?;
    Ok(cluster.url(&database))
}

fn strike(case: &Case, findings: &mut Findings) -> Result<()> {
    let mut violations = Vec::new();
    let look = || case.sound.as_deref().map(place::inspect).transpose();
    let before = look()?;
    let scene = Scene::on(&case.address)?;
    let told = command(case, &scene, &mut violations)?;
    let took = hook(&scene, &mut violations)?;
    if look()? != before || before.as_deref().is_some_and(<[Stored]>::is_empty) {
        violations.push("the loop is not as it was".into());
    }
    let figures = format!("hook: allow in {} ms, 1 line; command: exit 74, «{told}»", millis(took));
    findings.add(&format!("PostgreSQL: {}", case.name), 2, &violations, &figures);
    Ok(())
}

/// A command that writes; gives the first line of what it said.
fn command(case: &Case, scene: &Scene, violations: &mut Vec<String>) -> Result<String> {
    let call = scene.call(&["start", "another goal", "--session", "another"]);
    let ran = call.process()?.stderr(Stdio::piped()).output()?;
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    if ran.status.code() != Some(EXIT_STORE) {
        violations.push(format!("a command ended with {}: {}", ran.status, said.trim()));
    }
    if !said.contains(case.says) || said.contains("guess") || said.contains("sesame") {
        violations.push(format!("a command said: {}", said.trim()));
    }
    // The rest is what to do about it, and ports differ from run to run.
    let first = said.split(&[';', '\n'][..]).next().unwrap_or_default();
    let digits = |c: char| c.is_ascii_digit();
    let parts: Vec<&str> = first.split(':').map(|part| part.trim_start_matches(digits)).collect();
    Ok(parts.join(":").replace("error: ", ""))
}

/// A stop of the session; gives how long it took.
fn hook(scene: &Scene, violations: &mut Vec<String>) -> Result<Duration> {
    let lines = scene.faults();
    let ran = scene.hook(SESSION, "Stop")?.run()?;
    // Let go, with or without a word to the person.
    if !matches!(ran.said(), Said::Nothing | Said::Warning) || !ran.status.success() {
        violations.push(format!("the hook said {:?}, {}", ran.said(), ran.status));
    }
    if ran.took > DEADLINE + SLACK {
        violations.push(format!("the hook took {} ms", millis(ran.took)));
    }
    if scene.faults() != lines + 1 {
        violations.push(format!("{} lines in the log of faults", scene.faults() - lines));
    }
    Ok(ran.took)
}
