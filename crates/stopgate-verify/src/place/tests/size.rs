//! What a place costs, measured by hand.

use std::time::Instant;

use super::*;

/// Prints what places cost; run by hand with `--ignored --nocapture`.
#[test]
#[ignore = "prints figures, and takes a while"]
#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "prints figures")]
fn what_places_cost_for_50000_files() {
    let stage = Stage::new().restore("tests/a.py", "strong").absent("tests/new.py");
    for number in 0..50_000 {
        stage.scene.write(&format!("data/{}/{number}", number / 100), &"x".repeat(2_000));
    }
    let began = Instant::now();
    let copied = tool(&["cp", "-a", "root", "plain"], &stage.scene.beside(""), TIME * 10).unwrap();
    assert!(copied.is_fine());
    println!("cp -a, to compare with: {:?}", began.elapsed());
    for kind in kinds() {
        let began = Instant::now();
        let place = stage.try_open(kind, TIME * 10).unwrap();
        let opened = began.elapsed();
        assert_eq!(stage.run(&place, "true").status_code, Some(0));
        let ran = began.elapsed();
        assert_eq!(changes(&place), Vec::<String>::new());
        let looked = began.elapsed();
        drop(place);
        let all = began.elapsed();
        println!("{kind:?}: open {opened:?}, then run {ran:?}, look {looked:?}, drop {all:?}");
    }
}
