//! [`Step`]: the parts of the way from a resource to a value in it.

/// The way from a value to one in it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'n> {
    Field(&'n str),
    Item(usize),
}

/// A path as messages show it.
pub(super) fn shown(steps: &[Step<'_>]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Field("") => {}
            Step::Field(name) if path.is_empty() => path.push_str(name),
            Step::Field(name) => path.extend([".", name]),
            Step::Item(i) => path.push_str(&format!("[{i}]")),
        }
    }
    path
}
