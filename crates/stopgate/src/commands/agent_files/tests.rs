//! Where programs may lie.

use super::*;

#[test]
fn a_program_in_a_fleeting_directory_may_vanish() {
    assert!(may_vanish(Path::new("/tmp/x/stopgate")).is_some());
    assert!(may_vanish(Path::new("/home/me/stopgate/target/release/stopgate")).is_some());
    assert!(may_vanish(Path::new("/usr/local/bin/stopgate")).is_none());
    assert!(may_vanish(Path::new("/home/me/tmp/stopgate")).is_none());
}
