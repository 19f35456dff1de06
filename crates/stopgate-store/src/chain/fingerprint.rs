//! A fingerprint that only who has the key can aim at, cheap enough for every stop.
//!
//! The bytes are the coefficients of a polynomial modulo the prime 2^61 - 1, seven to a
//! coefficient, and the fingerprint is its value at a secret point. Two texts of n bytes share
//! it with a chance of n / 7 in 2^61, whoever chose them without knowing the point. It is never
//! stored or shown: it only goes into the keyed hash that is.

const PRIME: u64 = (1 << 61) - 1;
const PART_BYTES: usize = 7;
const PART: u64 = (1 << (8 * PART_BYTES)) - 1;

/// The value at `point` of the polynomial that `bytes` are, with their number before them.
pub(super) fn fingerprint(point: u64, bytes: &[u8]) -> u64 {
    let point = (point & PRIME).max(2);
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
        let point = u128::from((point & PRIME).max(2));
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
}
