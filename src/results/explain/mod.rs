//! Where the values of a traced build come from.
//!
//! * [`view`]: the build, with its resources by name and secret values hidden.
//! * [`select`]: the resource that a word names; [`field`]: its fields.
//! * [`json`]: explanations as JSON.
//! * [`blame`]: the output with the file and line beside each line.
//! * [`page_data`]: all resources, fields and steps for a page.

pub mod view;

pub mod field;
pub mod select;

pub mod json;

pub mod blame;
pub mod page_data;

/// Adds a number: a page has millions of them, which are short.
fn digits(out: &mut String, n: u64) {
    if n >= 10 {
        digits(out, n / 10);
    }
    out.push(char::from(b'0' + (n % 10) as u8));
}
