//! Fields that hold one text: `namePrefix`, `nameSuffix`, `namespace`.

use super::{Place, usage_as};
use crate::diag::Result;

/// A command that sets a field.
fn example(field: &str) -> String {
    let value = match field {
        "namePrefix" => "prod-",
        "nameSuffix" => "-- -v2",
        _ => "prod",
    };
    format!("set {} {value}", field.to_lowercase())
}

/// `set nameprefix`, `set namesuffix`, `set namespace`: an empty text removes the field. `what` is
/// kustomize's word for the text.
///
/// # Errors
/// The number of arguments is not one.
pub fn set(place: &mut Place, field: &'static str, what: &str, arguments: &[String]) -> Result<()> {
    let [text] = arguments else {
        return Err(usage_as(format!("must specify exactly one {what} value"), &example(field)));
    };
    place.change(|draft| draft.replace_text(field, text))
}
