//! Times and sizes as people write them.

/// A span in milliseconds: 500ms, 90s, 15m, 12h, 2d.
pub fn span_ms(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a duration; write for example 90s, 15m, 12h or 2d");
    let (number, unit) = parted(text).ok_or_else(wrong)?;
    let unit = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _other => return Err(wrong()),
    };
    number.checked_mul(unit).filter(|ms| *ms > 0).ok_or_else(wrong)
}

/// A size in bytes: 512MiB, 4GiB, 2GB.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size; write for example 512MiB or 4GiB");
    let (number, unit) = parted(text).ok_or_else(wrong)?;
    let unit = match unit {
        "B" => 1,
        "KB" => 1000,
        "KiB" => 1 << 10,
        "MB" => 1_000_000,
        "MiB" => 1 << 20,
        "GB" => 1_000_000_000,
        "GiB" => 1 << 30,
        _other => return Err(wrong()),
    };
    number.checked_mul(unit).filter(|size| *size > 0).ok_or_else(wrong)
}

fn parted(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    Some((digits.trim_end().parse().ok()?, &text[digits.len()..]))
}

#[cfg(test)]
mod tests {
    use super::{bytes, span_ms};

    #[test]
    fn a_span_has_a_unit() {
        for (text, ms) in [("500ms", 500), ("90s", 90_000), ("15m", 900_000), ("2d", 172_800_000)] {
            assert_eq!(span_ms(text), Ok(ms), "{text}");
        }
        for text in ["", "5", "0s", "-1s", "1w", "s", "1.5h", "99999999999999999999s"] {
            assert!(span_ms(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_size_has_a_unit() {
        assert_eq!((bytes("4GiB"), bytes("2 MB")), (Ok(4 << 30), Ok(2_000_000)));
        for text in ["", "5", "0B", "1XB", "-1GiB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
