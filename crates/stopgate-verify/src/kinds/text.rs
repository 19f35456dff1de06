//! The texts that the bytes of a file stand for.

use std::borrow::Cow;

const SAMPLE_BYTES: usize = 4096;

/// How two bytes make a unit of UTF-16.
#[derive(Clone, Copy)]
enum Order {
    Little,
    Big,
}

/// The bytes as they are, without a mark at their beginning, and what they say where they are
/// UTF-16 or look like it.
pub(super) fn texts(bytes: &[u8]) -> Vec<Cow<'_, [u8]>> {
    let plain = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut texts = vec![Cow::Borrowed(plain)];
    let order = match bytes {
        [0xff, 0xfe, ..] => Some(Order::Little),
        [0xfe, 0xff, ..] => Some(Order::Big),
        _ => order_of(bytes),
    };
    if let Some(order) = order {
        texts.push(Cow::Owned(decoded(bytes, order).into_bytes()));
    }
    texts
}

/// Text in UTF-16 without a mark has zeros at every other place.
fn order_of(bytes: &[u8]) -> Option<Order> {
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    let zeros = |from: usize| sample.iter().skip(from).step_by(2).filter(|b| **b == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    let many = sample.len() / 8;
    if odd > many && odd > even * 4 {
        Some(Order::Little)
    } else if even > many && even > odd * 4 {
        Some(Order::Big)
    } else {
        None
    }
}

fn decoded(bytes: &[u8], order: Order) -> String {
    let units = bytes.chunks_exact(2).map(|pair| match order {
        Order::Little => u16::from_le_bytes([pair[0], pair[1]]),
        Order::Big => u16::from_be_bytes([pair[0], pair[1]]),
    });
    let text = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER));
    // Zeros between the letters are what is left of UTF-32.
    text.filter(|character| !matches!(character, '\u{feff}' | '\0')).collect()
}
