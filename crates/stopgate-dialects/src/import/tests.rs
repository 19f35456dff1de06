use stopgate_core::{Mode, Timestamp};

use super::{
    Carried, Nothing, from_criteria, from_features, from_idle, from_ralph_loop, from_task,
};
use crate::{criteria, features, idle, ralph_loop, task};

const NOON: Timestamp = Timestamp::from_unix_millis(1_794_744_000_000);

fn shown(carried: Result<Carried, Nothing>) -> String {
    match carried {
        Err(nothing) => nothing.to_string(),
        Ok(carried) => {
            let prompt = carried.prompt.as_deref().unwrap_or("-").replace('\n', "|");
            format!(
                "{}; {prompt}; {} more; criteria {:?}; nested {}; lost {:?}",
                carried.goal,
                carried.max_iterations,
                carried.criteria,
                carried.nested.len(),
                carried.lost
            )
        }
    }
}

#[test]
fn a_ralph_loop_keeps_its_prompt_its_session_and_what_is_left() {
    let text = "---\nactive: true\niteration: 3\nmax_iterations: 10\n\
                completion_promise: \"ALL GREEN\"\nsession_id: s1\n---\nDo it\n";
    let carried = from_ralph_loop(&ralph_loop::RalphLoop::read(text).unwrap()).unwrap();
    assert_eq!(carried.session.as_deref(), Some("s1"));
    assert_eq!(
        shown(Ok(carried)),
        "Do it; -; 7 more; criteria []; nested 0; lost [\"its promise \\\"ALL GREEN\\\": the \
         agent says <promise>COMPLETE</promise> instead\"]"
    );
    let unlimited = text.replace("max_iterations: 10", "max_iterations: 0");
    let carried = from_ralph_loop(&ralph_loop::RalphLoop::read(&unlimited).unwrap()).unwrap();
    assert_eq!(carried.max_iterations, 20);
    assert!(carried.lost[0].starts_with("that it had no limit"), "{:?}", carried.lost);
    let off = text.replace("active: true", "active: false");
    let nothing = from_ralph_loop(&ralph_loop::RalphLoop::read(&off).unwrap());
    assert_eq!(shown(nothing), "import the loop: it is switched off");
    let odd = text.replace("iteration: 3", "iteration: x");
    let nothing = from_ralph_loop(&ralph_loop::RalphLoop::read(&odd).unwrap());
    assert_eq!(shown(nothing), "import the loop: iteration makes no sense");
}

#[test]
fn an_idle_loop_keeps_its_frames() {
    let text = r#"{"schema": 1, "event": "STATE", "run_id": "r", "updated_at": "2026-11-15T11:00:00Z",
        "stack": [{"id": "a", "mode": "grind", "iter": 2, "max": 9, "prompt": "all issues"},
                  {"id": "b", "mode": "issue", "iter": 4, "max": 4, "prompt": "this one"}]}"#;
    let carried = from_idle(&idle::message::read(text).unwrap(), NOON).unwrap();
    assert_eq!((carried.mode, carried.max_iterations), (Mode::Grind, 7));
    assert_eq!(carried.nested.len(), 1);
    assert_eq!((carried.nested[0].mode, carried.nested[0].max), (Mode::Issue, 1));
    assert_eq!(carried.stale_after_ms, Some(7_200_000));
    assert_eq!(carried.lost, ["its limit of 4 iterations, which are used: it has one more"]);
    let over = text.replace("STATE", "DONE");
    let nothing = from_idle(&idle::message::read(&over).unwrap(), NOON);
    assert!(shown(nothing).starts_with("import the loop: it is over"));
}

#[test]
fn features_that_are_left_become_criteria() {
    let list = r#"{"features": [{"id": 1, "description": "one", "passes": true},
        {"id": 2, "description": "two", "passes": false, "model": "opus"},
        {"id": 3, "description": "three", "passes": false}]}"#;
    let list = features::FeatureList::read(list).unwrap();
    let progress = features::ProgressFile::read("Iteration: 4\nMax Iterations: 15\n");
    assert_eq!(
        shown(from_features(&list, &progress)),
        "Complete the 2 features that are left; Work on one feature at a time, in the order of \
         the criteria.; 12 more; criteria [\"2: two\", \"3: three\"]; nested 0; lost [\"1 finished \
         features: nothing proves them\", \"the models that features name\"]"
    );
}

#[test]
fn criteria_are_to_be_attested_anew() {
    let text = r#"{"spec": "Do it", "criteria": ["tests", "lint"], "criteriaStatus":
        {"tests": true}, "steps": ["a", "b"], "completedSteps": ["a"], "remainingSteps": ["b"],
        "iteration": 2, "status": "in_progress"}"#;
    assert_eq!(
        shown(from_criteria(&criteria::CriteriaRecord::read(text).unwrap())),
        "Do it; Do it||Steps:|- b; 20 more; criteria [\"tests\", \"lint\"]; nested 0; lost [\"that 1 criteria were ticked off: \
         nothing proves them\", \"its 2 iterations: that format has no limit\", \"1 steps that \
         were done\"]"
    );
    let over = text.replace("in_progress", "completed");
    let nothing = from_criteria(&criteria::CriteriaRecord::read(&over).unwrap());
    assert_eq!(shown(nothing), "import the loop: it is completed");
}

#[test]
fn a_task_keeps_its_steps_and_loses_its_money() {
    let text = r#"{"id": "t", "subject": "Complete: it", "description": "all of it", "status":
        "in_progress", "metadata": {"iteration": 3, "maxIterations": 10, "budget": 25,
        "remainingSteps": ["b", "c"], "errors": ["odd"]}}"#;
    assert_eq!(
        shown(from_task(&task::TaskRecord::read(text).unwrap())),
        "Complete: it; all of it||Steps:|- b|- c; 7 more; criteria []; nested 0; lost [\"its \
         budget: watch the cost yourself\", \"1 errors that were written down\"]"
    );
    let over = text.replace("in_progress", "completed");
    let nothing = from_task(&task::TaskRecord::read(&over).unwrap());
    assert_eq!(shown(nothing), "import the loop: the task is completed");
}

#[test]
fn more_than_a_loop_takes_is_said() {
    let names: Vec<String> = (0..70).map(|n| format!("\"c{n}\"")).collect();
    let text = format!(
        "{{\"spec\": \"x\", \"criteria\": [{}], \"status\": \"in_progress\"}}",
        names.join(",")
    );
    let carried = from_criteria(&criteria::CriteriaRecord::read(&text).unwrap()).unwrap();
    assert_eq!(carried.criteria.len(), 64);
    assert_eq!(carried.lost, ["6 criteria beyond the 64 that a loop takes"]);
}
