//! The format of configuration files, as data: [`Record`]s with the docs of their fields and the
//! [`Shape`]s of their values. `#[derive(Described)]` makes them from the types that are read. The
//! reference and the JSON Schema of a kustomization are printed from them.

use super::decode::{StringMap, Written, WrittenMap};
use rustomize_yaml::Node;

/// A type that describes the shape of its values in a file.
pub trait Described {
    /// The shape of a value.
    const SHAPE: Shape;
}

/// The shape of a value in a file. A null counts as missing, whatever shape is expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    Text,
    Number,
    Boolean,
    Anything,
    /// A mapping of texts to texts.
    Texts,
    List(&'static Shape),
    Record(&'static Record),
}

/// A mapping with known fields.
#[derive(Debug, PartialEq)]
pub struct Record {
    /// The name of the type.
    pub name: &'static str,
    pub doc: &'static str,
    pub fields: &'static [Field],
    /// True if other fields, with texts, are allowed.
    pub is_open: bool,
}

/// A field of a record.
#[derive(Debug, PartialEq)]
pub struct Field {
    pub name: &'static str,
    /// The user's documentation of the field, in one line.
    pub doc: &'static str,
    pub shape: Shape,
    /// The texts that are allowed; empty if all are.
    pub words: &'static [&'static str],
    pub is_deprecated: bool,
}

impl Shape {
    /// The shape of the part of a value that the function returns.
    pub const fn of_part<W, P: Described>(_: fn(&W) -> &P) -> Shape {
        P::SHAPE
    }

    /// The record that this shape or the items of this list have.
    pub fn record(&self) -> Option<&'static Record> {
        match self {
            Shape::Record(record) => Some(record),
            Shape::List(item) => item.record(),
            _ => None,
        }
    }
}

impl Described for &str {
    const SHAPE: Shape = Shape::Text;
}

impl Described for Written<'_> {
    const SHAPE: Shape = Shape::Text;
}

impl Described for bool {
    const SHAPE: Shape = Shape::Boolean;
}

impl Described for i64 {
    const SHAPE: Shape = Shape::Number;
}

impl Described for StringMap<'_> {
    const SHAPE: Shape = Shape::Texts;
}

impl Described for WrittenMap<'_> {
    const SHAPE: Shape = Shape::Texts;
}

impl Described for Node<'_> {
    const SHAPE: Shape = Shape::Anything;
}

impl<T: Described> Described for Option<T> {
    const SHAPE: Shape = T::SHAPE;
}

impl<T: Described> Described for Vec<T> {
    const SHAPE: Shape = Shape::List(&T::SHAPE);
}

#[cfg(test)]
mod tests {
    use super::{Field, Record, Shape};
    use crate::config::{Decode, Decoder, Described, decode::Given};
    use crate::diag::Result;
    use crate::schema::Gvk;
    use rustomize_yaml::{Heap, Pos, first_document};

    /// Has all that a derive knows.
    #[derive(Default, Decode, Described)]
    #[record(finish)]
    struct Sample<'a> {
        /// Two lines
        /// of text.
        two_words: &'a str,
        /// Which types.
        #[field(parts(group, kind))]
        gvk: Gvk<'a>,
        /// Another name.
        #[field(name = "includeCRDs", deprecated)]
        include: bool,
        /// One of two.
        #[field(words("fifo", "legacy"))]
        orders: Vec<&'a str>,
        #[field(skip)]
        count: usize,
        pos: Pos,
        given: Given,
    }

    impl Sample<'_> {
        fn finish(&mut self, given: &Given, _: &Decoder<'_>) -> Result<()> {
            self.count = given.names().count();
            Ok(())
        }
    }

    const fn field(name: &'static str, doc: &'static str, shape: Shape) -> Field {
        Field { name, doc, shape, words: &[], is_deprecated: false }
    }

    #[test]
    fn a_struct_is_described() {
        let fields = [
            field("twoWords", "Two lines of text.", Shape::Text),
            field("group", "Which types.", Shape::Text),
            field("kind", "Which types.", Shape::Text),
            Field { is_deprecated: true, ..field("includeCRDs", "Another name.", Shape::Boolean) },
            Field { words: &["fifo", "legacy"], ..field("orders", "One of two.", Shape::List(&Shape::Text)) },
        ];
        let Some(Record { name, doc, fields: found, is_open }) = Sample::SHAPE.record() else { panic!("no record") };
        assert_eq!((*name, *doc, *is_open), ("Sample", "Has all that a derive knows.", false));
        assert_eq!(*found, fields);
    }

    #[test]
    fn a_struct_is_read_by_the_names_of_its_description() {
        let heap = Heap::new();
        let arena = heap.arena();
        let text = "\nTWOWORDS: a\nkind: b\nincludeCRDs: true\norders: [c]\n";
        let node = first_document(arena, arena.add_source("sample", text.to_owned())).unwrap().unwrap();
        let mut sample = Sample::default();
        sample.decode(&node, &Decoder::strict(arena)).unwrap();
        assert_eq!((sample.two_words, sample.gvk.kind, sample.include), ("a", "b", true));
        assert_eq!((sample.orders, sample.count), (vec!["c"], 4));
        assert_eq!(sample.given.names().collect::<Vec<_>>(), ["twoWords", "includeCRDs", "kind", "orders"]);
        assert_eq!(arena.place(sample.pos).map(|place| place.line), Some(2));
    }
}
