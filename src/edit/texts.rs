//! Fields that hold one text: `namePrefix`, `nameSuffix`, `namespace`.

use super::{Place, usage};
use crate::diag::Result;

/// `set nameprefix`, `set namesuffix`, `set namespace`: an empty text removes the field. `what` is
/// kustomize's word for the text.
///
/// # Errors
/// The number of arguments is not one.
pub fn set(place: &mut Place, field: &'static str, what: &str, arguments: &[String]) -> Result<()> {
    let [text] = arguments else { return Err(usage(format!("must specify exactly one {what} value"))) };
    place.change(|draft| draft.replace_text(field, text))
}
