//! What survives: a server's death in mid-iteration, and two servers on one journal.

use std::thread;

use serde_json::json;

use crate::client::{Client, Scene, id};

#[test]
fn a_killed_server_loses_nothing() {
    let scene = Scene::new();
    let mut client = scene.client();
    let (task, iteration) = client.iteration();
    let hook = json!({"taskId": task, "hookType": "default", "metadata": {"why": "kept"}});
    let hook = id(&client.done("hook_register", &hook), "hookId");
    let forgotten = json!({"taskId": task, "hookType": "promise", "session": true});
    client.done("hook_register", &forgotten);
    assert_eq!(client.done("hook_list", &json!({"taskId": task}))["hookCount"], 2);
    client.done("iteration_validate", &json!({"iterationId": iteration, "agentOutput": "on it"}));
    client.done("iteration_next", &json!({"iterationId": iteration}));
    client.kill();

    let mut client = scene.client();
    let listed = client.done("hook_list", &json!({"taskId": task}));
    assert_eq!(listed["hookCount"], 1, "{listed}");
    assert_eq!(listed["hooks"][0]["id"], json!(hook));
    assert_eq!(listed["hooks"][0]["metadata"], json!({"why": "kept", "type": "default"}));
    let found = client.done("task_get", &json!({"id": task}));
    assert_eq!(found["iteration"]["iterationId"], json!(iteration), "{found}");
    assert_eq!(found["iteration"]["iterationNumber"], 2, "{found}");
    let ask = json!({"iterationId": iteration, "agentOutput": "<promise>COMPLETE</promise>"});
    let validated = client.done("iteration_validate", &ask);
    assert_eq!(validated["completionSignal"], "COMPLETE", "{validated}");
    assert_eq!(validated["hookDecision"]["hookId"], json!(hook), "{validated}");
}

#[test]
fn two_servers_on_one_journal_lose_no_update() {
    const EACH: u32 = 30;
    let scene = Scene::new();
    let mut first = scene.client();
    let task = first.task();
    let ask = json!({"taskId": task, "maxIterations": 100, "completionPromises": ["COMPLETE"]});
    let iteration = id(&first.done("iteration_start", &ask), "iterationId");
    let second = scene.command(&["mcp"]);
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            let mut client = Client::of(second);
            for _ in 0..EACH {
                client.done("iteration_next", &json!({"iterationId": iteration}));
            }
        });
        for _ in 0..EACH {
            first.done("iteration_next", &json!({"iterationId": iteration}));
        }
        other.join().expect("the other server");
    });
    let found = first.done("task_get", &json!({"id": task}));
    assert_eq!(found["iteration"]["iterationNumber"], 1 + 2 * EACH, "{found}");
}
