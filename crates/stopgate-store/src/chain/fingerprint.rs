//! A fingerprint that only who has the key can aim at, cheap enough for every stop.
//!
//! The bytes are the coefficients of a polynomial modulo the prime p = 2^61 - 1, seven to a
//! coefficient, and the fingerprint is its value at a secret point. It is never stored or shown:
//! it only goes into the keyed hash that is.
//!
//! # What it is worth
//!
//! *Different texts are different polynomials.* A coefficient has 56 bits, so it is below p. The
//! number of bytes is the leading coefficient, and it alone decides how many follow. Texts of
//! one length differ in some coefficient. Of two lengths with the same number of coefficients,
//! the leading ones differ. Else the longer text, which is not empty, has the higher degree. So
//! the difference of two texts is a polynomial that is not zero, of a degree of at most
//! m = n / 7 + 1 for n bytes, and has at most m roots.
//!
//! *So two texts collide at few points.* The point is drawn from 2^61 values; four of them give
//! the point 2, no other point has more than one. An author who chose the texts without knowing the
//! point, they collide with a chance of at most (m + 3) / 2^61: 2^-47 for 100 KB, 2^-40 for 10 MB.
//!
//! *Nothing tells the point.* What is stored is the first half of a BLAKE3 hash under a key of 256
//! bits, over the kind of record, both fingerprints and a head of fixed length. Key, point and
//! writer's name are disjoint parts of one random file, and events and states differ in the first
//! byte, so that no tag of one is a tag of the other. To who lacks the key a tag looks random;
//! two tags tell that two fingerprints are equal only where the rest of what is hashed is equal.
//! That rest has the seal before it and the time in milliseconds, so a writer never seals two
//! texts under one head, unless the journal is put back and written again within a millisecond.
//! What is left to try is to edit a text and to ask whether the record is called forged: q tries
//! succeed with a chance of at most q (m + 3) / 2^61 + q / 2^128. A hundred tries a second, for a
//! year, on a text of 100 KB: one in fifty thousand.
//!
//! *What it is not.* Who can read the key file can seal anything, with any hash. That is the same
//! user, and the chain does not pretend to keep it out.

const PRIME: u64 = (1 << 61) - 1;
const PART_BYTES: usize = 7;
const PART: u64 = (1 << (8 * PART_BYTES)) - 1;

/// The value at `point` of the polynomial that `bytes` are, with their number before them.
pub(super) fn fingerprint(point: u64, bytes: &[u8]) -> u64 {
    // The prime itself is zero, where only the last coefficient would count.
    let point = (point & PRIME) % PRIME;
    let point = point.max(2);
    let mut value = bytes.len() as u64 & PRIME;
    let mut rest = bytes;
    // Eight bytes are read at once, and seven of them used.
    while let Some(eight) = rest.first_chunk() {
        value = step(value, point, u64::from_le_bytes(*eight) & PART);
        rest = &rest[PART_BYTES..];
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    value = step(value, point, u64::from_le_bytes(last));
    value % PRIME
}

/// `value * point + part` modulo the prime, or a little more than that: at most 2^61 + 3, as
/// `value` may be.
#[expect(clippy::cast_possible_truncation, reason = "the halves of a product of 123 bits")]
const fn step(value: u64, point: u64, part: u64) -> u64 {
    let product = value as u128 * point as u128;
    let sum = ((product as u64) & PRIME) + (product >> 61) as u64 + part;
    (sum & PRIME) + (sum >> 61)
}

#[cfg(test)]
mod tests {
    use super::{PRIME, fingerprint};

    /// The same by the book.
    fn slowly(point: u64, bytes: &[u8]) -> u64 {
        let prime = u128::from(PRIME);
        let point = u128::from(((point & PRIME) % PRIME).max(2));
        let mut parts: Vec<u128> = vec![bytes.len() as u128];
        let part = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, b| sum * 256 + u128::from(*b));
        // The last part has up to seven bytes, and is there even where it has none.
        let whole = bytes.len().saturating_sub(1) / 7 * 7;
        parts.extend(bytes[..whole].chunks(7).map(part));
        parts.push(part(&bytes[whole..]));
        let value =
            parts.iter().skip(1).fold(parts[0], |value, part| (value * point + part) % prime);
        u64::try_from(value).unwrap_or(u64::MAX)
    }

    #[test]
    fn it_is_the_polynomial_that_it_says() {
        let text: Vec<u8> = (0..2000_u32).map(|n| (n * 31 % 251) as u8).collect();
        let points = [0, 1, 2, 3, 0x0123_4567_89ab_cdef, PRIME - 1, PRIME, u64::MAX];
        for point in points {
            for length in (0..40).chain([699, 700, 701, 2000]) {
                let bytes = &text[..length];
                assert_eq!(fingerprint(point, bytes), slowly(point, bytes), "{point} {length}");
            }
        }
        let ones = [0xff; 100];
        assert_eq!(fingerprint(PRIME - 1, &ones), slowly(PRIME - 1, &ones));
    }

    #[test]
    fn every_byte_and_the_length_count() {
        let text = b"{\"status\":\"fail\",\"at\":17}".to_vec();
        let whole = fingerprint(77_777, &text);
        for at in 0..text.len() {
            let mut other = text.clone();
            other[at] ^= 1;
            assert_ne!(fingerprint(77_777, &other), whole, "{at}");
        }
        let mut longer = text.clone();
        longer.push(0);
        assert_ne!(fingerprint(77_777, &longer), whole);
        assert_ne!(fingerprint(77_778, &text), whole);
    }

    /// No point that could be drawn makes the fingerprint forget a part of the text.
    #[test]
    fn every_part_counts_at_every_odd_point() {
        let (one, other) = ([b'a'; 64], [[b'b'; 7].as_slice(), &[b'a'; 57]].concat());
        for point in [0, 1, 2, PRIME - 1, PRIME, PRIME + 1, PRIME + 2, u64::MAX] {
            assert_ne!(fingerprint(point, &one), fingerprint(point, &other), "{point}");
        }
    }

    /// The length decides how many coefficients there are: no padding can stand in for bytes.
    #[test]
    fn zeros_at_either_end_count() {
        let mut seen = std::collections::BTreeSet::new();
        for length in 0..64 {
            assert!(seen.insert(fingerprint(123_456_789, &vec![0; length])), "{length} zeros");
        }
        for length in 1..64 {
            let text = [vec![0; length], b"x".to_vec()].concat();
            assert!(seen.insert(fingerprint(123_456_789, &text)), "{length} zeros before");
        }
    }
}
