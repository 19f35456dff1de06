//! What a loss of power may leave, and what it may not.

use std::fs;

use super::{Asked, Disk, Honesty, LOSSES, Loss, Step, steps};
use crate::figures::Chance;

const FILE: &str = "journal.db";

fn write(offset: usize, byte: u8) -> Step {
    Step::Write { file: FILE.into(), offset, bytes: vec![byte; 1024] }
}

/// What is left of two kilobytes of `a`, on which the steps are done.
fn left(steps: &[Step], loss: Loss, honesty: Honesty, seed: u64) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join(FILE), vec![b'a'; 2048]).unwrap();
    let mut disk = Disk::read(directory.path(), &[FILE]).unwrap();
    for step in steps {
        disk.follow(step, honesty);
    }
    disk.lose(directory.path(), loss, &mut Chance::new(seed)).unwrap();
    fs::read(directory.path().join(FILE)).unwrap()
}

#[test]
fn what_was_synced_is_never_lost() {
    let steps = [write(0, b'b'), Step::Sync { file: FILE.into() }, write(1024, b'c')];
    for loss in LOSSES {
        for seed in 0..50 {
            let left = left(&steps, loss, Honesty::Honest, seed);
            assert!(left[..1024].iter().all(|byte| *byte == b'b'), "{loss:?} {seed}");
        }
    }
}

#[test]
fn what_was_not_synced_may_be_torn_and_overtaken() {
    let steps = [write(0, b'b'), write(1024, b'c')];
    let seen: Vec<_> =
        (0..50).map(|seed| left(&steps, Loss::Sectors, Honesty::Honest, seed)).collect();
    let of = |at: usize, byte: u8| move |bytes: &Vec<u8>| bytes[at] == byte;
    assert!(seen.iter().any(|bytes| of(0, b'a')(bytes) && of(1024, b'c')(bytes)), "overtaken");
    assert!(seen.iter().any(|bytes| of(0, b'b')(bytes) && of(512, b'a')(bytes)), "torn");
    assert!(seen.iter().all(|bytes| bytes[..512].iter().all(|byte| *byte == bytes[0])), "whole");
}

#[test]
fn a_disk_that_lies_loses_what_was_synced() {
    let steps = [write(0, b'b'), Step::Sync { file: FILE.into() }];
    assert_eq!(left(&steps, Loss::Everything, Honesty::Lying, 1), vec![b'a'; 2048]);
}

#[test]
fn a_cut_is_lost_or_not() {
    let steps = [Step::Cut { file: FILE.into(), length: 0 }];
    assert_eq!(left(&steps, Loss::Everything, Honesty::Honest, 1).len(), 2048);
    assert_eq!(left(&steps, Loss::Nothing, Honesty::Honest, 1).len(), 0);
}

#[test]
fn a_trace_is_read_step_by_step() {
    let line = |name: &str, line: &str| Asked { by: 1, name: name.into(), line: line.into() };
    let path = r"\x2f\x68\x2f\x6a\x6f\x75\x72\x6e\x61\x6c\x2e\x64\x62";
    let asked = [
        line("pwrite64", &format!(r#"pwrite64(3<{path}>, "\x61\x2c\x20", 3, 40) = 3"#)),
        line("write", r#"write(2</dev/null>, "\x61", 1) = 1"#),
        line("fdatasync", "fdatasync(3</h/journal.db>) = 0"),
        line("ftruncate", "ftruncate(3</h/journal.db>, 8) = 0"),
        line("write", r#"write(1<pipe:[7]>, "\x7b", 1) = 1"#),
    ];
    let file = || FILE.to_string();
    let expected = [
        Step::Begin,
        Step::Write { file: file(), offset: 40, bytes: b"a, ".to_vec() },
        Step::Sync { file: file() },
        Step::Cut { file: file(), length: 8 },
        Step::Answer,
    ];
    assert_eq!(steps(&asked, &[FILE]).unwrap(), expected);
    let moved = [line("unlink", r#"unlink("/h/journal.db") = 0"#)];
    assert!(steps(&moved, &[FILE]).is_err());
}
