//! Headers in small.

use super::{Kind, kind_of};

#[test]
fn the_header_and_its_segments_tell_the_kind() {
    check(2, &[1, 1], Some(Kind::StaticFixed));
    check(3, &[1, 2], Some(Kind::StaticPie));
    check(3, &[3, 1, 2], Some(Kind::Dynamic));
    check(2, &[3, 1, 2], Some(Kind::Dynamic));
    check(1, &[], None);
}

#[track_caller]
fn check(kind: u16, segments: &[u32], expected: Option<Kind>) {
    let mut bytes = vec![0; 64];
    bytes[16..18].copy_from_slice(&kind.to_le_bytes());
    bytes[32] = 64;
    bytes[54] = 56;
    bytes[56] = u8::try_from(segments.len()).unwrap();
    for segment in segments {
        bytes.extend_from_slice(&segment.to_le_bytes());
        bytes.extend_from_slice(&[0; 52]);
    }
    assert_eq!(kind_of(&bytes), expected, "{kind} {segments:?}");
}
