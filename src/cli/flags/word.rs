//! Words of kustomize's flags.

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser, ValueParserFactory};
use clap::{Arg, Command, ValueEnum};
use std::ffi::OsStr;
use std::marker::PhantomData;

/// A word of a flag. kustomize looks at its words after it has read all flags, and refuses or
/// ignores the words that it does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word<T> {
    Known(T),
    Other(String),
}

/// Reads a [`Word`].
#[derive(Clone)]
pub(crate) struct WordParser<T>(PhantomData<T>);

impl<T: ValueEnum + Send + Sync + 'static> TypedValueParser for WordParser<T> {
    type Value = Word<T>;

    fn parse_ref(&self, command: &Command, flag: Option<&Arg>, value: &OsStr) -> Result<Word<T>, clap::Error> {
        let text = StringValueParser::new().parse_ref(command, flag, value)?;
        Ok(T::from_str(&text, false).map_or(Word::Other(text), Word::Known))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(T::value_variants().iter().filter_map(T::to_possible_value)))
    }
}

impl<T: ValueEnum + Send + Sync + 'static> ValueParserFactory for Word<T> {
    type Parser = WordParser<T>;

    fn value_parser() -> WordParser<T> {
        WordParser(PhantomData)
    }
}
