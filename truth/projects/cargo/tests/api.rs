use lease::clock::ticks;
use lease::Lease;

#[test]
fn counts_down() {
    assert_eq!(Lease { from: 0, ticks: ticks(1) }.left(4), 6);
}

#[test]
fn nothing_is_left_at_the_end() {
    assert_eq!(Lease { from: 0, ticks: 10 }.left(12), 0);
}
