//! Sizes and times with a unit, as values of flags.

use rustomize_base::duration;
use std::time::Duration;

/// Reads a duration with units, as `90s` or `1h30m`; a number alone is seconds.
///
/// # Errors
/// The text is not a duration.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let is_number = text.parse::<f64>().is_ok() && !text.contains(char::is_alphabetic);
    if is_number { duration::parse(&format!("{text}s")) } else { duration::parse(text) }
}

/// Reads a number of bytes with a unit, as `64MiB`; bytes without one.
///
/// # Errors
/// The text is not a number with a known unit.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().map_err(|_| format!("'{text}' does not start with a number"))?;
    let factor = match unit {
        "" | "B" => 1u64,
        "KiB" | "K" | "k" => 1 << 10,
        "MiB" | "M" => 1 << 20,
        "GiB" | "G" => 1 << 30,
        _ => {
            return Err(format!("'{unit}' is not a unit of size: use B, KiB, MiB or GiB"));
        }
    };
    Ok((number * factor as f64) as u64)
}

#[cfg(test)]
mod tests {
    use super::{duration, size};
    use std::time::Duration;

    #[test]
    fn units() {
        for text in ["90", "90s", "1.5m", "1m30s"] {
            assert_eq!(duration(text), Ok(Duration::from_secs(90)), "{text}");
        }
        assert_eq!(duration("1d"), Ok(Duration::from_secs(86400)));
        assert_eq!(duration("0"), Ok(Duration::ZERO));
        assert_eq!(size("64MiB"), Ok(64 << 20));
        assert!(
            size("1XB").is_err()
                && duration("x").is_err()
                && duration("5 parsecs").is_err()
                && duration("inf").is_err()
        );
    }
}
