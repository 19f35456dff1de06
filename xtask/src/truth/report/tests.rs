//! Intervals against figures worked out by hand.

use super::wilson;

#[test]
fn intervals_are_those_of_wilson() {
    check(0, 262, (0.0, 0.0145));
    check(76, 262, (0.2384, 0.3478));
    check(1, 1, (0.2065, 1.0));
}

#[track_caller]
fn check(hits: usize, all: usize, (low, high): (f64, f64)) {
    let found = wilson(hits, all);
    let near = |one: f64, other: f64| (one - other).abs() < 0.0006;
    assert!(near(found.0, low) && near(found.1, high), "{hits}/{all}: {found:?}");
}
