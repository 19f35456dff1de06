use stopgate_core::{
    Decision, LoopId, Marker, Outcome, Seen, State, Tally, Timestamp, Verdict, apply, decide,
};

use super::{
    NewTask, Pause, Rubric, Shape, TaskEdit, TaskLook, TaskRecord, TaskSight, TaskStanding,
    UnreadableTask, begin, choose, next, paused, policy, summary,
};

/// Twelve o'clock on 15 November 2026.
const NOON: Timestamp = Timestamp::from_unix_millis(1_794_744_000_000);

/// As Claude Code 2.1.325 wrote it into its task directory.
const REAL: &str = include_str!("fixtures/claude-code-2.1.325-1.json");
const REAL_PLAIN: &str = include_str!("fixtures/claude-code-2.1.325-2.json");

/// One stop after the other on one record.
struct Play {
    text: String,
    tally: Tally,
}

impl Play {
    fn of(metadata: &str) -> Self {
        let text = format!(
            "{{\"id\": \"t\", \"subject\": \"Complete: it\", \"description\": \"all of it\", \
             \"status\": \"in_progress\", \"metadata\": {{{metadata}}}}}"
        );
        Self { text, tally: Tally::default() }
    }

    fn stop(&mut self, sight: &TaskSight<'_>, markers: &[Marker]) -> String {
        let record = TaskRecord::read(&self.text).unwrap();
        let look = TaskLook::new(&record, sight);
        let state = State {
            id: LoopId::new("t"),
            goal: record.subject.clone(),
            project: String::new(),
            session: None,
            claim_until: None,
            policy: policy(),
            phase: look.phase(NOON),
            frames: vec![look.frame()],
            criteria: Vec::new(),
            ground: stopgate_core::Ground::default(),
            surface: stopgate_core::Surface::default(),
            gates: Vec::new(),
            spend: None,
            tally: look.tally(self.tally.clone()),
            started_at: NOON,
            updated_at: NOON,
            progress_at: NOON,
            rest_ms: 0,
            answer: None,
            woken: None,
            worktree: None,
            origin: stopgate_core::Origin::default(),
        };
        let seen = look.seen(Seen { markers: markers.to_vec(), ..Seen::default() });
        let decision = decide(&state, &seen, NOON);
        let after = decision
            .events
            .iter()
            .fold(state, |state, event| apply(Some(state), event, NOON).unwrap());
        let settled = look.settle(&self.text, &decision, &after, NOON);
        self.text = settled.text;
        self.tally = after.tally;
        say(&record, &decision, settled.pause.as_ref())
    }

    fn again(&mut self) -> String {
        self.stop(&TaskSight { session: "s", continued: Some(true), ..TaskSight::default() }, &[])
    }

    fn first(&mut self) -> String {
        self.stop(&TaskSight { session: "s", continued: Some(false), ..TaskSight::default() }, &[])
    }

    fn change(&mut self, change: impl FnOnce(TaskEdit, &TaskRecord) -> TaskEdit) {
        let record = TaskRecord::read(&self.text).unwrap();
        self.text = change(TaskEdit::of(&self.text), &record).text();
    }

    fn record(&self) -> TaskRecord {
        TaskRecord::read(&self.text).unwrap()
    }
}

fn say(record: &TaskRecord, decision: &Decision, pause: Option<&Pause>) -> String {
    match (&decision.verdict, pause) {
        (Verdict::Continue { .. }, _) => next(record),
        (Verdict::Complete { outcome, .. }, _) => format!("complete: {outcome}"),
        (_, Some(pause)) => paused(pause, "CMD"),
        (Verdict::Allow(leave), None) => format!("allow: {leave:?}"),
        (Verdict::Escalate { outcome, .. }, None) => format!("escalate: {outcome}"),
    }
}

#[track_caller]
fn check(metadata: &str, expected: &str) {
    assert_eq!(Play::of(metadata).first(), expected, "{metadata}");
}

const STEPS: &str = r#""completedSteps": ["a"], "remainingSteps": ["b", "c"]"#;

#[test]
fn the_next_step_is_named() {
    check(STEPS, "next: b");
    check(r#""remainingSteps": [{"name": "first\nthing", "size": 3}]"#, "next: first thing");
    check(r#""remainingSteps": ["  ", "b"]"#, "next: b");
    let verify = "next: verify every success criterion of \"Complete: it\"; if all hold, say \
                  <loop-complete> on a line of its own and list them";
    check(r#""remainingSteps": []"#, verify);
    check("", verify);
}

#[test]
fn limits_pause_and_say_how_to_go_on() {
    let spent = r#""budget": 25, "cost": 25.5"#;
    let why = "paused (budget): the budget of 25 is used up: 25.5 was spent. Resume: CMD";
    check(spent, why);
    check(r#""budget": 25, "cost": 24.99, "remainingSteps": ["b"]"#, "next: b");
    check(r#""budget": 0, "cost": 24.99, "remainingSteps": ["b"]"#, "next: b");
    let why = "paused (iteration limit): 10 iterations were used. Resume: CMD";
    check(r#""iteration": 10, "maxIterations": 10"#, why);
    check(r#""iteration": 10"#, why);
    check(r#""iteration": 10, "maxIterations": 0, "remainingSteps": ["b"]"#, "next: b");
}

#[test]
fn written_errors_pause_by_their_class() {
    let errors = |list: &str| format!("\"remainingSteps\": [\"b\"], \"errors\": [{list}]");
    let logic = r#"{"class": "logic", "message": "E1"}"#;
    check(&errors(logic), "next: b");
    let thrice = format!("{logic}, {logic}, {logic}");
    check(&errors(&thrice), "paused: the same error occurred 3 times: E1. Resume: CMD");
    let retry = "next: retry b, for this may pass by itself: network timeout";
    check(&errors(r#""network timeout""#), retry);
    let twice = r#""network timeout", "connection reset""#;
    let why = "paused: a transient error persisted after a retry: connection reset. Resume: CMD";
    check(&errors(twice), why);
    let blocked = r#"{"type": "Blocking", "error": "no key"}"#;
    check(&errors(blocked), "paused: a blocking error: no key. Resume: CMD");
    check(
        &errors(r#""permission denied""#),
        "paused: a blocking error: permission denied. Resume: CMD",
    );
    check(&errors(r#""odd""#), "paused: an unknown error: odd. Resume: CMD");
    check(
        &errors(r#"{"class": "cosmic", "message": "test"}"#),
        "paused: an unknown error: test. Resume: CMD",
    );
}

#[test]
fn what_was_said_comes_before_every_limit() {
    let said = |metadata: &str| {
        let mut play = Play::of(metadata);
        let sight = TaskSight { session: "s", ..TaskSight::default() };
        let answer = play.stop(&sight, &[Marker::PromiseComplete, Marker::LoopComplete]);
        (answer, play.record().status, play.text.contains("stopgate"))
    };
    let complete = ("complete: attested".to_string(), TaskStanding::Completed, false);
    assert_eq!(said(STEPS), complete);
    assert_eq!(said(r#""iteration": 10, "budget": 1, "cost": 2"#), complete);
    assert_eq!(said(r#""stopgate": {"paused": {"rule": "person", "why": "x"}}"#), complete);
}

#[test]
fn other_markers_are_no_words_of_this_format() {
    let mut play = Play::of(STEPS);
    let sight = TaskSight { session: "s", ..TaskSight::default() };
    assert_eq!(play.stop(&sight, &[Marker::PromiseComplete, Marker::LoopDoneStuck]), "next: b");
}

#[test]
fn three_continuations_without_progress_are_enough() {
    let mut play = Play::of(STEPS);
    let answers = [play.first(), play.again(), play.again()];
    assert_eq!(answers, ["next: b"; 3]);
    let stalled = "paused (no progress): 3 continuations in a row finished no step. Resume: CMD";
    assert_eq!(play.again(), stalled);
    assert_eq!(play.again(), stalled, "it stays at rest");
    assert_eq!(play.record().iteration, 3);
}

#[test]
fn a_finished_step_counts_as_progress_and_is_a_checkpoint() {
    let mut play = Play::of(STEPS);
    play.first();
    play.again();
    play.again();
    assert_eq!(play.record().last_checkpoint, None);
    play.change(|edit, record| edit.step_done(record, "b", Timestamp::from_unix_millis(0)));
    assert_eq!(play.again(), "next: c");
    let record = play.record();
    assert_eq!(record.last_checkpoint, Some(NOON));
    assert_eq!(
        (record.completed, record.remaining),
        (vec!["a".into(), "b".into()], vec!["c".into()])
    );
    assert_eq!(record.mark.unmoved, 0);
}

#[test]
fn a_new_prompt_begins_the_count_anew_but_a_denial_within_one_does_not() {
    let mut play = Play::of(STEPS);
    for _ in 0..4 {
        play.first();
    }
    assert_eq!(play.record().mark.unmoved, 0);
    let denied = TaskSight { session: "s", prompt_id: Some("p"), continued: Some(false) };
    let answers = [(); 4].map(|()| play.stop(&denied, &[]));
    assert_eq!(answers[..3], ["next: b"; 3]);
    assert!(answers[3].starts_with("paused"), "it was the same prompt: {answers:?}");
    let mut play = Play::of(STEPS);
    let silent = TaskSight { session: "s", ..TaskSight::default() };
    let answers = [(); 4].map(|()| play.stop(&silent, &[]));
    assert!(answers[3].starts_with("paused"), "silence is not a denial: {answers:?}");
}

#[test]
fn each_session_is_counted_by_itself() {
    let mut play = Play::of(STEPS);
    play.first();
    play.again();
    play.again();
    let other = TaskSight { session: "other", continued: Some(true), ..TaskSight::default() };
    assert_eq!(play.stop(&other, &[]), "next: b");
    assert_eq!(play.record().mark.unmoved, 1);
}

#[test]
fn the_count_is_the_hooks_unless_the_agent_counted() {
    let mut play = Play::of(r#""iteration": 3, "maxIterations": 10"#);
    play.first();
    assert_eq!(play.record().iteration, 4);
    play.change(|edit, _| edit.iteration(5));
    play.first();
    assert_eq!(play.record().iteration, 5, "the agent has counted this one");
    play.first();
    assert_eq!(play.record().iteration, 6);
}

#[test]
fn a_resumed_task_goes_on_and_its_errors_are_settled() {
    let mut play = Play::of(r#""remainingSteps": ["b"], "errors": ["odd"]"#);
    assert!(play.first().starts_with("paused"));
    play.change(TaskEdit::resumed);
    assert_eq!(play.first(), "next: b");
    play.change(|edit, _| edit.error("blocking", "new"));
    assert!(play.again().starts_with("paused: a blocking error: new"));
}

#[test]
fn a_raised_limit_ends_the_rest_that_it_caused() {
    let mut play = Play::of(r#""iteration": 10, "maxIterations": 10, "remainingSteps": ["b"]"#);
    assert!(play.first().starts_with("paused"));
    play.change(|edit, _| edit.max_iterations(11));
    assert_eq!(play.first(), "next: b");
    play.change(|edit, record| {
        let pause = Pause { rule: "person".into(), why: "lunch".into(), at: Some(NOON) };
        edit.paused(record, pause)
    });
    play.change(|edit, _| edit.max_iterations(99));
    assert_eq!(play.first(), "paused: lunch. Resume: CMD");
}

#[test]
fn only_a_task_in_progress_holds() {
    for status in ["pending", "completed", "deleted", ""] {
        let mut play = Play::of(STEPS);
        play.text = play.text.replace("in_progress", status);
        let before = play.text.clone();
        assert_eq!(play.first(), "allow: Ended", "{status}");
        assert_eq!(play.text, before);
    }
    let mut play = Play::of(STEPS);
    play.text = play.text.replace("in_progress", "paused");
    assert_eq!(play.first(), "allow: Paused");
}

#[test]
fn a_limit_that_is_no_number_makes_the_record_unreadable() {
    for metadata in
        [r#""iteration": "x""#, r#""maxIterations": -1"#, r#""budget": []"#, r#""iteration": 1.5"#]
    {
        let read = TaskRecord::read(&Play::of(metadata).text);
        assert!(matches!(read, Err(UnreadableTask::NoNumber(_))), "{metadata}: {read:?}");
    }
    assert!(matches!(TaskRecord::read("[]"), Err(UnreadableTask::NoObject)));
    assert!(matches!(TaskRecord::read("{"), Err(UnreadableTask::NotJson(_))));
    let record = Play::of(r#""iteration": null, "cost": "4.5", "maxIterations": "7""#).record();
    assert_eq!((record.iteration, record.cost_micros, record.max_iterations), (0, 4_500_000, 7));
}

#[test]
fn what_the_client_wrote_is_understood_and_kept() {
    let mut play = Play { text: REAL.into(), tally: Tally::default() };
    assert_eq!(play.first(), "next: step2");
    let record = play.record();
    assert_eq!((record.iteration, record.max_iterations), (2, 10));
    let before: Vec<&str> = REAL.lines().filter(|line| !line.contains("\"iteration\"")).collect();
    for line in before {
        let line = line.trim_end_matches(',');
        assert!(play.text.contains(line), "{line} is gone: {}", play.text);
    }
}

#[test]
fn the_directory_names_the_task_that_is_worked_on() {
    let records = [REAL_PLAIN, REAL].map(|text| TaskRecord::read(text).unwrap());
    let (at, record) = choose(&records).unwrap();
    assert_eq!((at, record.id.as_str()), (1, "1"));
    assert_eq!(choose(&records[..1]), None, "nobody works on it");
}

#[test]
fn a_plain_list_is_worked_off_in_its_order() {
    let task = |id: &str, status: &str, blocked: &str| {
        let text = format!(
            "{{\"id\": \"{id}\", \"subject\": \"task {id}\", \"status\": \"{status}\", \
             \"blockedBy\": [{blocked}]}}"
        );
        TaskRecord::read(&text).unwrap()
    };
    let records = [
        task("10", "pending", ""),
        task("2", "in_progress", ""),
        task("1", "completed", ""),
        task("3", "pending", "\"2\""),
        task("4", "pending", "\"1\""),
    ];
    let (at, record) = choose(&records).unwrap();
    assert_eq!(at, 1);
    assert_eq!(record.completed, ["task 1"]);
    assert_eq!(record.remaining, ["task 2", "task 4", "task 10"]);
}

#[test]
fn points_make_a_shape() {
    let shape = |points: [u8; 5]| {
        let [outcome, scope, constraints, success, done] = points;
        let rubric = Rubric { outcome, scope, constraints, success, done };
        (rubric.score(), rubric.shape())
    };
    assert_eq!(shape([2, 2, 2, 2, 2]), (10, Shape::Tool));
    assert_eq!(shape([2, 2, 2, 1, 1]), (8, Shape::Tool));
    assert_eq!(shape([2, 2, 2, 1, 0]), (7, Shape::Colleague));
    assert_eq!(shape([1, 1, 1, 1, 1]), (5, Shape::Colleague));
    assert_eq!(shape([1, 1, 1, 1, 0]), (4, Shape::Clarify));
}

#[test]
fn a_new_record_is_one_that_can_be_read() {
    let task = NewTask {
        id: "1".into(),
        spec: "Move the tests\nand say \"done\"".into(),
        steps: vec!["a".into(), "b".into()],
        shape: Some(Shape::Tool),
        budget: Some(2.5),
        max_iterations: None,
    };
    let record = TaskRecord::read(&begin(&task, NOON)).unwrap();
    assert_eq!(record.subject, "Complete: Move the tests");
    assert_eq!(record.description, task.spec);
    assert_eq!((record.budget_micros, record.max_iterations), (Some(2_500_000), 10));
    assert_eq!((record.started_at, record.is_active()), (Some(NOON), true));
    assert_eq!(next(&record), "next: a");
}

#[test]
fn the_summary_counts_what_there_is() {
    let metadata = r#""iteration": 4, "cost": 4.5, "budget": 25, "completedSteps": ["a", "b"],
        "remainingSteps": ["c"], "errors": ["odd"]"#;
    let told = "Task \"Complete: it\" is complete by the agent's word: 4 of 10 iterations, \
                4.50 of 25.00 spent, 2 steps completed, 1 steps never ticked off, 1 errors along the way.";
    assert_eq!(summary(&Play::of(metadata).record()), told);
}

#[test]
fn the_judges_prompt_ends_as_it_must() {
    assert!(super::JUDGE_PROMPT.ends_with("JSON ONLY:"));
    assert!(super::JUDGE_PROMPT.contains("$ARGUMENTS"));
}

#[test]
fn every_brake_pauses_and_none_is_done() {
    let brakes = [r#""errors": ["odd"]"#, r#""iteration": 99"#, r#""budget": 1, "cost": 1"#];
    for metadata in brakes {
        let mut play = Play::of(metadata);
        assert!(play.first().starts_with("paused"), "{metadata}");
        assert_eq!(play.record().status, TaskStanding::InProgress, "the files know no other word");
        assert_ne!(Outcome::Done.word(), play.record().status.word());
    }
}
