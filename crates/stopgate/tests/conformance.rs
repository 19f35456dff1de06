//! Our own hook against the black-box suite for stop hooks: every case as Claude Code asks, and
//! the cases that differ most as every other client does. `cargo xtask conformance` runs all.

use stopgate_agents::Agent;
use stopgate_conformance::{HookUnderTest, Mark, Selection, run};

fn passes(selection: &Selection) -> usize {
    let hook = HookUnderTest::stopgate(env!("CARGO_BIN_EXE_stopgate"));
    let report = run(&hook, selection);
    assert_eq!(report.count(Mark::Fail), 0, "{}", report.table());
    report.count(Mark::Pass)
}

#[test]
fn claude_code_gets_the_right_answer_in_every_case() {
    let all = Selection { agents: vec![Agent::Claude], ..Selection::default() };
    assert!(passes(&all) >= 36, "every case concerns Claude Code");
}

#[test]
fn every_client_is_held_and_let_go() {
    let others: Vec<Agent> =
        Agent::ALL.into_iter().filter(|agent| *agent != Agent::Claude).collect();
    for case in ["lets go when done", "program missing"] {
        let one = Selection { agents: others.clone(), only: case.into(), ..Selection::default() };
        assert!(passes(&one) >= others.len(), "{case}");
    }
}
