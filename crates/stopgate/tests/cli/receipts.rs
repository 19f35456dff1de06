//! Receipts that a pipeline can rely on, and whose signatures count.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::doors;
use crate::stage::{Ran, Stage};

const FILE: &str = "[[criterion]]\nname = \"tests pass\"\nrun = [\"true\"]\n";

/// Makes a directory of the stage a repository with one commit.
fn repository(stage: &Stage, name: &str) {
    let directory = stage.path(name);
    let _ = fs::remove_dir_all(directory.join(".git"));
    git(&directory, &["init", "-q", "-b", "main", "."]);
    git(&directory, &["config", "user.name", "a"]);
    git(&directory, &["config", "user.email", "a@example.org"]);
    git(&directory, &["add", "-A"]);
    git(&directory, &["commit", "-q", "--allow-empty", "-m", name]);
}

fn git(directory: &Path, arguments: &[&str]) {
    let ran =
        doors::program("git").args(arguments).current_dir(directory).output().expect("run git");
    assert!(ran.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// A loop that is done, and its receipt in `receipt.json`.
fn proven(stage: &Stage, arguments: &str) -> String {
    let id = stage.start(&format!("{arguments} --session s1"));
    stage.stop("s1", "done");
    export(stage, &id);
    id
}

fn export(stage: &Stage, id: &str) {
    let path = stage.path("receipt.json").display().to_string();
    let ran = stage.run(&format!("receipt export {id} --output {path}"));
    assert_eq!(ran.code, 0, "{ran}");
}

fn check(stage: &Stage, arguments: &str) -> Ran {
    let path = stage.path("receipt.json").display().to_string();
    stage.run(&format!("receipt check {path} {arguments}"))
}

fn receipt(stage: &Stage) -> Value {
    let text = fs::read_to_string(stage.path("receipt.json")).expect("read the receipt");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn a_receipt_says_what_was_owed_where_and_by_whom() {
    let stage = Stage::new();
    stage.write("project/stopgate.toml", FILE);
    repository(&stage, "project");
    git(&stage.path("project"), &["remote", "add", "origin", "https://me:pw@example.org/a/b.git"]);
    assert_eq!(stage.run("trust --yes").code, 0);
    proven(&stage, "Work");
    let found = receipt(&stage)["proven"].clone();
    assert_eq!(found["stopgate_receipt"], json!(2));
    assert_eq!(found["begun_by"], json!("person"));
    assert_eq!(found["repository"]["remotes"], json!(["example.org/a/b"]));
    assert_eq!(found["repository"]["roots"][0], found["repository"]["head"]);
    assert!(found["project_file"].is_string() && found["criteria"][0]["definition"].is_string());
    let ran = check(&stage, "");
    assert!(ran.code == 0 && ran.out.contains("signature  genuine"), "{ran}");
}

#[test]
fn a_receipt_without_the_criteria_of_the_projects_file_is_refused() {
    let stage = Stage::new();
    repository(&stage, "project");
    for (check_name, expected) in
        [("tests pass", "was defined otherwise"), ("others", "was not among its criteria")]
    {
        let line = format!("Work --check '{check_name}=true'");
        proven(&stage, &line);
        assert_eq!(check(&stage, "").code, 0, "nothing is demanded yet");
        stage.write("project/stopgate.toml", FILE.replace("true", "false"));
        let ran = check(&stage, "");
        assert!(ran.code == 1 && ran.out.contains(expected), "{ran}");
        fs::remove_file(stage.path("project/stopgate.toml")).expect("remove it");
    }
}

#[test]
fn a_definition_can_be_required_by_its_hash() {
    let stage = Stage::new();
    repository(&stage, "project");
    proven(&stage, "Work --check tests=true");
    let definition = receipt(&stage)["proven"]["criteria"][0]["definition"].clone();
    let definition = definition.as_str().expect("a definition").to_uppercase();
    assert_eq!(check(&stage, &format!("--require tests={definition}")).code, 0);
    for wrong in ["tests=00", "lint=00"] {
        assert_eq!(check(&stage, &format!("--require {wrong}")).code, 1, "{wrong}");
        assert_eq!(check(&stage, &format!("--signature-only --require {wrong}")).code, 1);
    }
}

#[test]
fn a_receipt_of_another_repository_is_refused() {
    let stage = Stage::new();
    for directory in ["project", "other"] {
        stage.write(&format!("{directory}/src/a"), "same");
        repository(&stage, directory);
    }
    let file = "[[criterion]]\nname = \"tests\"\nrun = [\"true\"]\ninputs = [\"src/**\"]\n";
    stage.write("project/stopgate.toml", file);
    assert_eq!(stage.run("trust --yes").code, 0);
    proven(&stage, "Work");
    let path = stage.path("receipt.json").display().to_string();
    let ran = stage.run_in("other", &format!("receipt check {path}"));
    assert!(ran.code == 1 && ran.out.contains("another repository"), "{ran}");
}

#[test]
fn keys_are_listed_added_removed_and_rotated_by_a_person() {
    let stage = Stage::new();
    repository(&stage, "project");
    let none = stage.json("receipt keys");
    assert_eq!(none["keys"], json!([]));
    proven(&stage, "Work --check tests=true");
    let own = stage.json("receipt keys")["keys"][0].clone();
    assert_eq!((&own["own"], &own["key"]), (&json!(true), &receipt(&stage)["key"]));
    for line in ["keys rotate", "keys remove ab", &format!("keys add {}", "ab".repeat(32))] {
        let ran = stage.run_as("s1", &format!("receipt {line}"));
        assert!(ran.code == 2 && ran.err.contains("only a person"), "{line}: {ran}");
    }
    assert_eq!(stage.run("receipt keys rotate").code, 0);
    let keys = stage.json("receipt keys")["keys"].clone();
    assert_ne!(keys[0]["key"], own["key"], "a new one signs");
    assert_eq!((&keys[1]["key"], &keys[1]["own"]), (&own["key"], &json!(false)));
    assert_eq!(check(&stage, "").code, 0, "what the old one signed still counts");
    let old = own["key"].as_str().expect("a key");
    assert_eq!(stage.run(&format!("receipt keys remove {}", &old[..8])).code, 0);
    let ran = check(&stage, "");
    assert!(ran.code == 1 && ran.out.contains("not known here"), "{ran}");
    let loud = old.to_uppercase();
    assert_eq!(check(&stage, &format!("--key {loud}")).code, 0, "case does not matter");
    assert_eq!(stage.run(&format!("receipt keys add {loud} --name alice")).code, 0);
    assert_eq!(check(&stage, "").code, 0);
    assert!(stage.run("receipt keys").out.contains("alice"));
    assert_eq!(stage.run("receipt keys remove alice").code, 0);
    assert_eq!(stage.run("receipt keys add zz").code, 2);
}

#[test]
fn a_bad_signature_ends_the_look_before_any_file_is_walked() {
    let stage = Stage::new();
    repository(&stage, "project");
    proven(&stage, "Work --check tests=true");
    let mut forged = receipt(&stage);
    forged["proven"]["criteria"][0]["roots"] = json!(["../../../.."]);
    stage.write("receipt.json", forged.to_string());
    let path = stage.path("receipt.json").display().to_string();
    let ran = stage.run(&format!("receipt check {path} --json"));
    let found: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!((ran.code, &found["signature"]), (1, &json!("forged")));
    assert_eq!(found["faults"].as_array().map(Vec::len), Some(1), "{found}");
}

#[test]
fn machines_that_share_a_store_never_accuse_each_other() {
    let stage = Stage::new();
    let store = format!("sqlite:{}", stage.path("shared.db").display());
    let at = |home: &str, line: &str| {
        let home = stage.path(home).display().to_string();
        stage.run_with(line, &[("STOPGATE_STORE", &store), ("STOPGATE_HOME", &home)])
    };
    let view = |home: &str, id: &str| -> Value {
        let ran = at(home, &format!("status {id} --json"));
        let view: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran}"));
        view["loop"].clone()
    };
    let mut ids = Vec::new();
    for home in ["home", "home-b"] {
        let ran = at(home, &format!("start Work --check tests=true --session {home} --json"));
        let begun: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran}"));
        ids.push(begun["loop"]["id"].as_str().expect("an id").to_string());
        let path = stage.path(home).display().to_string();
        let call = stage.stop_call(home, "done").var("STOPGATE_STORE", &store);
        call.var("STOPGATE_HOME", &path).send();
    }
    assert_eq!(view("home", &ids[0])["signature"], json!("genuine"));
    let seen = view("home-b", &ids[0]);
    assert_eq!((&seen["outcome"], &seen["signature"]), (&json!("done"), &json!("unknown signer")));
    let shown = at("home-b", &format!("status {}", ids[0])).out;
    assert!(shown.contains("signed by an unknown key"), "{shown}");
    assert_eq!(at("home-b", &format!("receipt export {}", ids[0])).code, 0);
    assert_eq!(at("home-b", "store check").code, 0);
    let keys = at("home", "receipt keys --json").out;
    let keys: Value = serde_json::from_str(&keys).expect("JSON");
    let key = keys["keys"][0]["key"].as_str().expect("a key").to_string();
    assert_eq!(at("home-b", &format!("receipt keys add {key} --name a")).code, 0);
    assert_eq!(view("home-b", &ids[0])["signature"], json!("genuine"));
    fs::remove_file(stage.path("home/keys/receipts.ed25519")).expect("remove the key");
    assert_eq!(view("home", &ids[0])["signature"], json!("unknown signer"), "no key, no trust");
}
