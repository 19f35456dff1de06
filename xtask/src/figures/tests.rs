//! Samples by hand.

use std::time::Duration;

use super::{Chance, Sample};

#[test]
fn percentiles_are_members_of_the_sample() {
    let sample = Sample::new((1..=101).rev().map(Duration::from_millis).collect());
    let shown = [0, 25, 50, 95, 100].map(|percent| sample.percentile(percent).as_millis());
    assert_eq!(shown, [1, 26, 51, 96, 101]);
    assert_eq!(Sample::new(Vec::new()).median(), Duration::ZERO);
}

#[test]
fn the_same_seed_gives_the_same_chance() {
    let draw = |seed| {
        let mut chance = Chance::new(seed);
        [0; 5].map(|_: u64| chance.below(1000))
    };
    assert_eq!(draw(7), draw(7));
    assert_ne!(draw(7), draw(8));
}
