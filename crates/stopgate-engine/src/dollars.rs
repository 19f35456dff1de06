//! Amounts of money in files.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use stopgate_usage::parse_usd;

/// An amount of US dollars, whole or with up to six decimals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dollars {
    /// In millionths.
    pub(crate) micros: u64,
}

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Dollars;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an amount of dollars such as 25 or 2.50")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Dollars, E> {
                read(&number.to_string())
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Dollars, E> {
                read(&number.to_string())
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Dollars, E> {
                read(&number.to_string())
            }
        }
        deserializer.deserialize_any(Number)
    }
}

fn read<E: Error>(text: &str) -> Result<Dollars, E> {
    let micros = parse_usd(text);
    let micros = micros.ok_or_else(|| {
        E::custom(format!("`{text}` is not an amount of dollars such as 25 or 2.50"))
    })?;
    Ok(Dollars { micros })
}
