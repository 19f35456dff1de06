//! What the empty program shares with ours.

use super::profiles;

#[test]
fn only_profiles_are_kept() {
    let manifest = "[package]\nname = \"a\"\n\n[profile.dist]\nlto = \"fat\"\n\n[lints]\nx = 1\n";
    assert_eq!(profiles(manifest), "[profile.dist]\nlto = \"fat\"\n\n");
}
