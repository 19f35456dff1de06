use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, Instant};

use super::Scratch;

#[test]
fn it_is_private_and_goes_with_all_that_is_in_it() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("kept"), "").unwrap();
    let scratch = Scratch::new("test-of-removal").unwrap();
    let path = scratch.path().to_path_buf();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
    fs::create_dir_all(path.join("a/b")).unwrap();
    fs::write(path.join("a/b/file"), "").unwrap();
    fs::set_permissions(path.join("a/b"), Permissions::from_mode(0o500)).unwrap();
    symlink(outside.path(), path.join("link")).unwrap();
    scratch.remove(soon());
    assert!(!path.exists());
    assert!(outside.path().join("kept").exists(), "a link was followed");
}

#[expect(clippy::disallowed_methods, reason = "the test's clock")]
fn soon() -> Instant {
    Instant::now() + Duration::from_mins(1)
}
