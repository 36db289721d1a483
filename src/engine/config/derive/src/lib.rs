//! The derives of configuration types. `Decode` writes how a struct is read from a mapping: the
//! trait is in `config/decode.rs`. `Described` writes its description as data: see
//! `config/record.rs`.
//!
//! Users write the name of a field in camel case. A field of type `Pos` gets the place of the
//! mapping, and a field of type `Given` gets the names of the fields in the mapping. Attributes
//! give the rest:
//!
//! * `#[field(name = "includeCRDs")]`: the field has another name.
//! * `#[field(skip)]`: users do not write the field.
//! * `#[field(parts(group, kind))]`: the mapping has fields for these parts of the value, and none
//!   for the value.
//! * `#[field(for_builtin)]`: texts are read as a built-in gets them: see `decode::ForBuiltin`.
//! * `#[field(words("fifo", "legacy"))]`: the texts that are allowed.
//! * `#[field(deprecated)]`: the field is an old spelling, or another field replaces it.
//! * `#[field(only_if(takes_claims))]`: versions of kustomize that say no to this question of
//!   `Compat` do not know the field.
//!
//! `#[record(finish)]` on a struct lets `Decode` call `self.finish(&given, cx)` once the fields are
//! read.
//! `#[record(open)]` says that fields with other names are allowed; only a `Decode` that is
//! written by hand can allow them.

#![forbid(unsafe_code)]

mod record;

use proc_macro2::TokenStream;
use quote::quote;
use record::{Field, Key, Record, Role};
use syn::{DeriveInput, Error, Lifetime, Result, parse_macro_input, parse_quote};

/// Writes `config::Decode` for a struct: each field is read from the mapping's field of that name.
#[proc_macro_derive(Decode, attributes(record, field))]
pub fn decode(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    Record::read(&input).map_or_else(Error::into_compile_error, |record| decoder(&record)).into()
}

/// Writes `config::Described` for a struct, with the docs of its fields.
#[proc_macro_derive(Described, attributes(record, field))]
pub fn described(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    Record::read(&input).and_then(|record| description(&record)).unwrap_or_else(Error::into_compile_error).into()
}

fn decoder(record: &Record) -> TokenStream {
    let Record { name, generics, .. } = record;
    let (_, of_type, _) = generics.split_for_impl();
    let mut with_text = generics.clone();
    let text: Lifetime = match generics.lifetimes().next() {
        Some(param) => param.lifetime.clone(),
        // A struct without borrowed fields can be read from any text.
        None => {
            with_text.params.insert(0, parse_quote!('a));
            parse_quote!('a)
        }
    };
    let (of_impl, _, _) = with_text.split_for_impl();
    let entries = record.fields.iter().flat_map(|field| table_entries(field, &text));
    let table = table(quote!(&mut [#(#entries),*]), &record.fields);
    let places = record.idents(Role::is_place).map(|field| quote!(self.#field = node.pos();));
    let givens = record.idents(Role::is_given).map(|field| quote!(self.#field = given;));
    let finish = record.finishes.then(|| quote!(self.finish(&given, cx)?;));
    let is_asked_for = record.finishes || record.idents(Role::is_given).next().is_some();
    let given = is_asked_for.then(|| quote!(let given =));
    quote! {
        impl #of_impl crate::config::Decode<#text> for #name #of_type {
            fn decode(
                &mut self,
                node: &::rustomize_yaml::Node<#text>,
                cx: &crate::config::Decoder<#text>,
            ) -> crate::diag::Result<()> {
                #(#places)*
                #given cx.object(node, #table)?;
                #finish
                #(#givens)*
                Ok(())
            }
        }
    }
}

/// The table that `Decoder::object` reads a mapping with: without the entries of fields that the
/// version of kustomize does not know.
fn table(entries: TokenStream, fields: &[Field]) -> TokenStream {
    let keys = fields.iter().filter_map(|field| match &field.role {
        Role::Key(key) => Some(key),
        _ => None,
    });
    let is_known = |key: &Key| match &key.only_if {
        Some(question) => quote!(cx.arena.compat().#question()),
        None => quote!(true),
    };
    if keys.clone().all(|key| key.only_if.is_none()) {
        return entries;
    }
    let known = keys.flat_map(|key| std::iter::repeat_n(is_known(key), key.parts.len().max(1)));
    quote!(crate::config::decode::known(#entries, [#(#known),*]))
}

/// The entries of a field in the table that `Decoder::object` reads a mapping with.
fn table_entries(field: &Field, text: &Lifetime) -> Vec<TokenStream> {
    let Role::Key(key) = &field.role else { return Vec::new() };
    let ident = &field.ident;
    let entry = |name: &str, value: TokenStream| quote!((#name, &mut #value as &mut dyn crate::config::Decode<#text>));
    match key {
        Key { parts, .. } if !parts.is_empty() => {
            parts.iter().map(|part| entry(&record::camel_case(part), quote!(self.#ident.#part))).collect()
        }
        Key { name, for_builtin: true, .. } => {
            vec![entry(name, quote!(crate::config::decode::ForBuiltin(&mut self.#ident)))]
        }
        Key { name, .. } => vec![entry(name, quote!(self.#ident))],
    }
}

fn description(record: &Record) -> Result<TokenStream> {
    let Record { name, generics, doc, is_open, .. } = record;
    let (of_impl, of_type, _) = generics.split_for_impl();
    let title = name.to_string();
    let described = record.fields.iter().map(field_descriptions).collect::<Result<Vec<_>>>()?;
    let fields = described.iter().flatten();
    Ok(quote! {
        impl #of_impl crate::config::Described for #name #of_type {
            const SHAPE: crate::config::Shape = crate::config::Shape::Record(&crate::config::Record {
                name: #title,
                doc: #doc,
                is_open: #is_open,
                fields: &[#(#fields),*],
            });
        }
    })
}

/// The descriptions of a field: one, or one of each part.
fn field_descriptions(field: &Field) -> Result<Vec<TokenStream>> {
    let Role::Key(key) = &field.role else { return Ok(Vec::new()) };
    let (ty, doc, words, is_deprecated) = (&field.ty, &field.doc, &key.words, key.is_deprecated);
    if doc.is_empty() {
        return Err(Error::new(field.ident.span(), "a field that users write has a doc"));
    }
    let one = |name: &str, shape: TokenStream| {
        quote! {
            crate::config::Field {
                name: #name,
                doc: #doc,
                shape: #shape,
                words: &[#(#words),*],
                is_deprecated: #is_deprecated,
            }
        }
    };
    let part = |part| {
        let shape = quote!(crate::config::Shape::of_part(|whole: &#ty| &whole.#part));
        one(&record::camel_case(part), shape)
    };
    match key.parts.as_slice() {
        [] => Ok(vec![one(&key.name, quote!(<#ty as crate::config::Described>::SHAPE))]),
        parts => Ok(parts.iter().map(part).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Record, description};
    use syn::{DeriveInput, parse_quote};

    #[track_caller]
    fn check(input: &DeriveInput, fault: &str) {
        let described = Record::read(input).and_then(|record| description(&record));
        assert_eq!(described.unwrap_err().to_string(), fault);
    }

    #[test]
    fn what_is_no_record_is_refused() {
        check(
            &parse_quote!(
                enum Order {
                    Fifo,
                }
            ),
            "only a struct is a record",
        );
        check(
            &parse_quote!(
                struct Order(bool);
            ),
            "the fields of a record have names",
        );
        check(
            &parse_quote!(
                struct Order {
                    fifo: bool,
                }
            ),
            "a field that users write has a doc",
        );
        let closed = parse_quote! {
            #[record(closed)]
            struct Order {}
        };
        check(&closed, "a record can be 'open', or 'finish'");
        let renamed = parse_quote! {
            struct Order { #[field(rename = "first")] fifo: bool }
        };
        check(&renamed, "a field knows 'name', 'parts', 'words', 'for_builtin', 'deprecated', 'only_if', 'skip'");
    }
}
