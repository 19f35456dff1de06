use super::super::original::Originals;
use super::super::scene::Scene;
use super::*;
use crate::basis::JudgeChanges;

fn ran(status: Status) -> ApartRun {
    ApartRun::Ran {
        receipt: Box::new(Receipt::new("tests", status, Timestamp::from_unix_millis(0))),
        strength: Strength::Clean,
        written: Vec::new(),
        made: Vec::new(),
        left: Vec::new(),
        failing: Vec::new(),
        is_reported: true,
    }
}

#[test]
fn only_a_run_whose_time_was_over_is_cut() {
    assert!(ran(Status::Timeout).is_cut());
    for status in [Status::Pass, Status::Fail, Status::Error] {
        assert!(!ran(status).is_cut(), "{status}");
    }
    assert!(!ApartRun::NoPlace("there is none".into()).is_cut());
}

#[test]
fn a_stamp_is_a_file_with_nothing_in_it() {
    let scene = tempfile::tempdir().expect("a directory");
    let path = |name| scene.path().join(name);
    std::fs::write(path("stamp"), "").expect("write it");
    std::fs::write(path("program"), "1").expect("write it");
    assert!(is_empty(&path("stamp")));
    for name in ["program", "missing", "."] {
        assert!(!is_empty(&path(name)), "{name}");
    }
}

#[test]
fn runs_take_place_only_where_a_test_asks_for_it() {
    let scene = Scene::new("sh tests/run.sh", &[("tests/run.sh", "exit 0\n")]);
    let kinds = |only_place| {
        let request = ProofRequest { only_place, ..scene.request() };
        scene.ask(&request, |originals| originals.apart().kinds())
    };
    assert_eq!(kinds(Some(PlaceKind::Copy.word())), [PlaceKind::Copy]);
    assert_eq!(kinds(None), [PlaceKind::Overlay, PlaceKind::BoundCopy, PlaceKind::Copy]);
}

#[test]
fn a_judge_that_a_run_writes_to_is_told() {
    let files = [("tests/run.sh", "echo 1 >> tests/cases.txt\necho 1 >> notes.md\n")];
    let scene = Scene::new("sh tests/run.sh", &[files[0], ("tests/cases.txt", "0\n")]);
    let request = ProofRequest { only_place: Some(PlaceKind::Copy.word()), ..scene.request() };
    let subject = scene.subject(JudgeChanges::default());
    let ran = |own: &Originals<'_>| own.apart().run(&[&subject], Judges::Today, ".private");
    let runs = scene.ask(&request, ran).expect("nobody ends it");
    let [ApartRun::Ran { written, .. }] = runs.as_slice() else { panic!("it did not run") };
    assert_eq!(*written, [PathBuf::from("tests/cases.txt")]);
}
