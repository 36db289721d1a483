//! The notes of a change.

use crate::writer;
use rustomize_edit::Place;

/// Prints the notes of a change.
pub(crate) fn show_notes(place: &mut Place) {
    for note in place.take_notes() {
        writer::say(&note);
    }
}
