//! Names with a hash of the content behind them.

use crate::resource::Resource;

/// How many characters a hash has.
const LENGTH: usize = 10;

/// The characters of a hash: hexadecimal digits, of which some are replaced by letters.
const DIGITS: &[u8] = b"2456789bcdfghkmt";

/// The name of a resource without the hash that a generator puts behind it. Only ConfigMaps and
/// Secrets have hashes.
pub fn without_hash<'a>(resource: &Resource<'a>) -> &'a str {
    let id = resource.id();
    let name = id.name;
    if !id.gvk.group.is_empty() || !matches!(id.gvk.kind, "ConfigMap" | "Secret") {
        return name;
    }
    match name.rsplit_once('-') {
        Some((stem, hash)) if !stem.is_empty() && is_hash(hash) => stem,
        _ => name,
    }
}

fn is_hash(text: &str) -> bool {
    text.len() == LENGTH && text.bytes().all(|byte| DIGITS.contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::is_hash;

    #[test]
    fn hashes_have_ten_characters_of_their_own() {
        assert!(is_hash("6ct58987ht") && is_hash("g9t7h2bk8m"));
        assert!(!is_hash("settings10") && !is_hash("6ct58987h") && !is_hash("6ct58987h1"));
    }
}
