//! Sizes and times with a unit, as values of flags.

use std::time::Duration;

/// Reads a time with a unit, as `90s`; seconds without one.
///
/// # Errors
/// The text is not a number with a known unit.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split_unit(text)?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "" | "s" => number,
        "m" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(format!("'{unit}' is no unit of time: use ms, s, m or h")),
    };
    Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())
}

/// Reads a number of bytes with a unit, as `64MiB`; bytes without one.
///
/// # Errors
/// The text is not a number with a known unit.
pub fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text)?;
    let factor = match unit {
        "" | "B" => 1u64,
        "KiB" | "K" | "k" => 1 << 10,
        "MiB" | "M" => 1 << 20,
        "GiB" | "G" => 1 << 30,
        _ => {
            return Err(format!("'{unit}' is no unit of size: use B, KiB, MiB or GiB"));
        }
    };
    Ok((number * factor as f64) as u64)
}

fn split_unit(text: &str) -> Result<(f64, &str), String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number = number.parse().map_err(|_| format!("'{text}' does not start with a number"))?;
    Ok((number, unit))
}

#[cfg(test)]
mod tests {
    use super::{duration, size};
    use std::time::Duration;

    #[test]
    fn units() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(size("64MiB"), Ok(64 << 20));
        assert!(size("1XB").is_err() && duration("x").is_err() && duration("5 parsecs").is_err());
    }
}
