//! Numbers as clients write them: whole, with a fraction of nothing, or not at all.

use core::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};

/// A count of tokens; what is not a count is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TokenCount(pub(crate) u64);

impl<'de> Deserialize<'de> for TokenCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lenient;
        impl Visitor<'_> for Lenient {
            type Value = TokenCount;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a count")
            }

            fn visit_u64<E>(self, count: u64) -> Result<TokenCount, E> {
                Ok(TokenCount(count))
            }

            fn visit_i64<E>(self, count: i64) -> Result<TokenCount, E> {
                Ok(TokenCount(u64::try_from(count).unwrap_or(0)))
            }

            fn visit_f64<E>(self, count: f64) -> Result<TokenCount, E> {
                Ok(TokenCount(scaled(count, 0)))
            }

            fn visit_unit<E>(self) -> Result<TokenCount, E> {
                Ok(TokenCount(0))
            }

            fn visit_str<E>(self, _text: &str) -> Result<TokenCount, E> {
                Ok(TokenCount(0))
            }

            fn visit_bool<E>(self, _flag: bool) -> Result<TokenCount, E> {
                Ok(TokenCount(0))
            }
        }
        deserializer.deserialize_any(Lenient)
    }
}

/// A number with so many of its decimals as a whole number; what is negative or too large is 0.
pub(crate) fn scaled(number: f64, decimals: usize) -> u64 {
    if !number.is_finite() || number <= 0.0 {
        return 0;
    }
    let text = format!("{number:.decimals$}");
    text.replace('.', "").parse().unwrap_or(0)
}
