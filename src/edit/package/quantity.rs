//! Quantities of Kubernetes, such as `100m` and `1.5Gi`, for comparisons.

use std::cmp::Ordering;

/// A quantity in billionths. A value that does not fit becomes the greatest or the least quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Quantity(i128);

/// The error of kustomize for a text that is not a quantity.
const FORMAT: &str = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/// Compares two quantities.
///
/// # Errors
/// A text is not a quantity.
pub fn compare(a: &str, b: &str) -> Result<Ordering, String> {
    let left = read(a).ok_or_else(|| format!("{a}: {FORMAT}"))?;
    Ok(left.cmp(&read(b).ok_or_else(|| FORMAT.to_owned())?))
}

fn read(text: &str) -> Option<Quantity> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let (base, exponent) = scale(suffix)?;
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let (mut amount, mut is_exact) = (0_i128, true);
    for digit in digits.bytes() {
        amount = match amount.checked_mul(10).and_then(|n| n.checked_add(i128::from(digit - b'0'))) {
            Some(amount) => amount,
            None => return Some(signed(i128::MAX, text)),
        };
    }
    let mut shift = 9 - i32::try_from(fraction.len()).ok()?;
    if base == 10 {
        shift = shift.saturating_add(exponent);
    } else {
        amount = match amount.checked_mul(1_i128 << exponent) {
            Some(amount) => amount,
            None => return Some(signed(i128::MAX, text)),
        };
    }
    while shift > 0 && amount != 0 {
        match amount.checked_mul(10) {
            Some(more) => amount = more,
            None => return Some(signed(i128::MAX, text)),
        }
        shift -= 1;
    }
    while shift < 0 && amount != 0 {
        is_exact &= amount % 10 == 0;
        amount /= 10;
        shift += 1;
    }
    // A rest of less than a billionth is rounded up.
    Some(signed(amount + i128::from(!is_exact), text))
}

fn signed(amount: i128, text: &str) -> Quantity {
    Quantity(if text.starts_with('-') { -amount } else { amount })
}

/// The base and the exponent of a suffix.
fn scale(suffix: &str) -> Option<(i32, i32)> {
    Some(match suffix {
        "n" => (10, -9),
        "u" => (10, -6),
        "m" => (10, -3),
        "" => (10, 0),
        "k" => (10, 3),
        "M" => (10, 6),
        "G" => (10, 9),
        "T" => (10, 12),
        "P" => (10, 15),
        "E" => (10, 18),
        "Ki" => (2, 10),
        "Mi" => (2, 20),
        "Gi" => (2, 30),
        "Ti" => (2, 40),
        "Pi" => (2, 50),
        "Ei" => (2, 60),
        _ => (10, suffix.strip_prefix(['e', 'E'])?.parse().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(a: &str, b: &str, want: Ordering) {
        assert_eq!(compare(a, b), Ok(want), "{a} {b}");
    }

    #[test]
    fn quantities_are_compared_by_value() {
        check("100m", "0.1", Ordering::Equal);
        check("1Gi", "1G", Ordering::Greater);
        check("1.5Gi", "1536Mi", Ordering::Equal);
        check("-1", "1", Ordering::Less);
        check("1e3", "1k", Ordering::Equal);
        check("1E", "1e17", Ordering::Greater);
        check("0", "0.000", Ordering::Equal);
        check("0.1n", "1n", Ordering::Equal);
        for text in ["", "x", "1.2.3", "1Zi", ".", "1 "] {
            assert!(compare(text, "1").is_err(), "{text}");
        }
    }
}
