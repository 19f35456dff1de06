//! The same tools with the journal on a PostgreSQL server.

use serde_json::json;
use stopgate_lab::{Cluster, Setup};

use crate::client::{Client, Scene, id};

#[test]
fn tasks_are_on_the_server_too() {
    let cluster = Cluster::start(Setup::default()).expect("start a server");
    cluster.sql("postgres", "CREATE DATABASE tools").expect("make a database");
    let scene = Scene::new();
    let client = || {
        let mut command = scene.command(&["mcp"]);
        command.env("STOPGATE_STORE", cluster.socket_url("tools"));
        command.env("STOPGATE_STORE_DEADLINE", "20s");
        Client::of(command)
    };
    let mut first = client();
    let (task, iteration) = first.iteration();
    let hook = json!({"taskId": task, "hookType": "promise"});
    let hook = id(&first.done("hook_register", &hook), "hookId");
    let evaluate = json!({"iterationId": iteration, "agentOutput": "<promise>BLOCKED</promise>"});
    assert_eq!(first.done("hook_evaluate", &evaluate)["action"], "escalate");
    first.kill();

    let mut second = client();
    let listed = second.done("hook_list", &json!({"taskId": task}));
    assert_eq!(listed["hooks"][0]["id"], json!(hook), "{listed}");
    second.done("iteration_next", &json!({"iterationId": iteration}));
    let found = second.done("task_get", &json!({"id": task}));
    assert_eq!(found["iteration"]["iterationNumber"], 2, "{found}");
    assert!(!scene.home().join("journal.db").exists(), "nothing is kept here");
}
