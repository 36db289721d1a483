//! Texts that stand for others: the names that a mistyped name may mean, and placeholders.

/// The name among `known` that a mistyped name most likely stands for.
pub fn nearest<'n>(typed: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    near(typed, known).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// All names among `known` that are as near to a mistyped name as the [`nearest`] one, in order.
pub fn nearest_ones<'n>(typed: &str, known: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let near: Vec<(usize, &str)> = near(typed, known).collect();
    let least = near.iter().map(|(distance, _)| *distance).min();
    near.into_iter().filter(|(distance, _)| Some(*distance) == least).map(|(_, name)| name).collect()
}

/// The names that a mistyped name may stand for, each with the number of its other letters.
fn near<'n>(typed: &str, known: impl IntoIterator<Item = &'n str>) -> impl Iterator<Item = (usize, &'n str)> {
    let typed = typed.to_lowercase();
    let with_distance =
        known.into_iter().map(move |name| (strsim::damerau_levenshtein(&typed, &name.to_lowercase()), name));
    with_distance.filter(|(distance, name)| *distance <= 1 + name.len() / 4)
}

/// True for a text that another tool replaces in the output of a build, such as `${NAME}`, or
/// decrypts: nothing is known of the value.
pub fn is_placeholder(text: &str) -> bool {
    text.contains(['$', '{', '%', '<', '@']) || is_encrypted(text)
}

/// True for a value that sops has encrypted.
pub fn is_encrypted(text: &str) -> bool {
    text.starts_with("ENC[")
}
