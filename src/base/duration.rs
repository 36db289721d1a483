//! Durations with units, as `90s` or `1h30m`: one reader for flags, for rules and for the queries
//! of repositories.

use std::time::Duration;

/// A unit of time, and its length in seconds.
pub type Unit = (&'static str, f64);

/// The units of durations, each longer than the one before it.
const UNITS: [Unit; 5] = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86400.0)];

/// Reads a duration: numbers, each with one of the units ms, s, m, h and d.
///
/// # Errors
/// The text has another form, or the duration is too long.
pub fn parse(text: &str) -> Result<Duration, String> {
    parse_in(text, &UNITS)
}

/// Reads a duration: numbers, each with one of the units.
///
/// # Errors
/// The text has another form, or the duration is too long.
pub fn parse_in(text: &str, units: &[Unit]) -> Result<Duration, String> {
    let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
    let (mut seconds, mut rest) = (0.0, text);
    loop {
        let (number, behind) = rest.split_at(rest.find(|c| !is_of_number(c)).unwrap_or(rest.len()));
        let number: f64 = number.parse().map_err(|_| format!("'{rest}' does not start with a number"))?;
        let (unit, behind) = behind.split_at(behind.find(is_of_number).unwrap_or(behind.len()));
        let Some((_, length)) = units.iter().find(|(name, _)| *name == unit) else {
            let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
            return Err(match unit {
                "" => format!("'{rest}' has no unit of time: use one of {}", names.join(", ")),
                _ => format!("'{unit}' is not a unit of time: use one of {}", names.join(", ")),
            });
        };
        seconds += number * length;
        rest = behind;
        if rest.is_empty() {
            return Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string());
        }
    }
}

/// A duration as [`parse`] reads it, in the longest unit of which it is a multiple. A part of a
/// millisecond counts as a whole one: the text never says less.
pub fn print(duration: Duration) -> String {
    let milliseconds = duration.as_nanos().div_ceil(1_000_000);
    let in_milliseconds = |unit: &Unit| (unit.1 * 1000.0) as u128;
    let is_multiple = |unit: &&Unit| milliseconds.is_multiple_of(in_milliseconds(unit));
    let unit = UNITS.iter().rev().find(is_multiple).unwrap_or(&UNITS[0]);
    format!("{}{}", milliseconds / in_milliseconds(unit), unit.0)
}

#[cfg(test)]
mod tests {
    use super::{parse, parse_in, print};
    use std::time::Duration;

    #[test]
    fn numbers_with_units_are_added() {
        let seconds = |text: &str| parse(text).unwrap().as_secs_f64();
        assert_eq!(seconds("90s"), 90.0);
        assert_eq!(seconds("1.5m"), 90.0);
        assert_eq!(seconds("1h30m"), 5400.0);
        assert_eq!(seconds("7d"), 604_800.0);
        assert_eq!(seconds("250ms"), 0.25);
        assert_eq!(seconds("0s"), 0.0);
    }

    #[test]
    fn other_texts_are_errors_that_name_the_units() {
        for (text, want) in [
            ("", "'' does not start with a number"),
            ("soon", "'soon' does not start with a number"),
            ("-1s", "'-1s' does not start with a number"),
            ("72", "'72' has no unit of time: use one of ms, s, m, h, d"),
            ("1h30", "'30' has no unit of time: use one of ms, s, m, h, d"),
            ("5 parsecs", "' parsecs' is not a unit of time: use one of ms, s, m, h, d"),
            ("1.2.3s", "'1.2.3s' does not start with a number"),
        ] {
            assert_eq!(parse(text).unwrap_err(), want, "{text}");
        }
        assert!(parse(&format!("{}d", "9".repeat(30))).is_err());
        assert!(parse_in("1d", &[("h", 3600.0)]).is_err());
    }

    #[test]
    fn a_printed_duration_reads_as_the_same_one() {
        for text in ["7d", "72h", "90m", "90s", "1500ms", "0s", "36h"] {
            let duration = parse(text).unwrap();
            assert_eq!(parse(&print(duration)), Ok(duration), "{text}");
        }
        assert_eq!(print(Duration::from_secs(72 * 3600)), "3d");
        assert_eq!(print(Duration::from_secs(90)), "90s");
        assert_eq!(print(Duration::from_nanos(1)), "1ms");
    }
}
