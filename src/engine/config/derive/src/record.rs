//! [`Record`]: a struct as the derives see it, with the attributes of its fields.

use proc_macro2::Ident;
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, Fields, Generics, Lit, LitStr, Meta, Result, Token, Type, parenthesized,
};

/// A struct that is read from a mapping.
pub struct Record {
    pub name: Ident,
    pub generics: Generics,
    pub doc: String,
    pub is_open: bool,
    /// True if its `finish` is called once the fields are read.
    pub finishes: bool,
    pub fields: Vec<Field>,
}

/// A field of the struct.
pub struct Field {
    pub ident: Ident,
    pub ty: Type,
    pub doc: String,
    pub role: Role,
}

/// The source of a field's value.
pub enum Role {
    /// A field of the mapping.
    Key(Key),
    /// The place of the mapping.
    Place,
    /// The fields that the mapping has.
    Given,
    /// None: the field is not read from the mapping.
    Skipped,
}

/// The attributes of a field.
#[derive(Default)]
pub struct Key {
    pub name: String,
    pub parts: Vec<Ident>,
    pub words: Vec<LitStr>,
    pub for_builtin: bool,
    pub is_deprecated: bool,
    /// The question to which the versions of kustomize that know the field say yes.
    pub only_if: Option<Ident>,
    is_skipped: bool,
}

impl Role {
    /// Returns true if the field gets the place of the mapping.
    pub fn is_place(&self) -> bool {
        matches!(self, Role::Place)
    }

    /// Returns true if the field gets the list of given fields.
    pub fn is_given(&self) -> bool {
        matches!(self, Role::Given)
    }
}

impl Record {
    /// Reads the struct that a derive is attached to.
    ///
    /// # Errors
    /// The item is not a struct with named fields, or has an unknown attribute.
    pub fn read(input: &DeriveInput) -> Result<Record> {
        let fields = match &input.data {
            Data::Struct(data) => &data.fields,
            _ => return Err(Error::new(input.ident.span(), "only a struct is a record")),
        };
        let Fields::Named(fields) = fields else {
            return Err(Error::new(input.ident.span(), "the fields of a record have names"));
        };
        let mut record = Record {
            name: input.ident.clone(),
            generics: input.generics.clone(),
            doc: doc(&input.attrs),
            is_open: false,
            finishes: false,
            fields: fields.named.iter().map(Field::read).collect::<Result<_>>()?,
        };
        for attribute in input.attrs.iter().filter(|a| a.path().is_ident("record")) {
            attribute.parse_nested_meta(|meta| record.apply(&meta))?;
        }
        Ok(record)
    }

    fn apply(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        match word(meta).as_str() {
            "open" => self.is_open = true,
            "finish" => self.finishes = true,
            _ => return Err(meta.error("a record can be 'open', or 'finish'")),
        }
        Ok(())
    }

    /// The names of the fields for whose role `has_role` returns true.
    pub fn idents(&self, has_role: fn(&Role) -> bool) -> impl Iterator<Item = &Ident> {
        self.fields.iter().filter(move |field| has_role(&field.role)).map(|field| &field.ident)
    }
}

impl Field {
    fn read(field: &syn::Field) -> Result<Field> {
        let Some(ident) = field.ident.clone() else {
            return Err(Error::new_spanned(&field.ty, "the fields of a record have names"));
        };
        let mut key = Key { name: camel_case(&ident), ..Key::default() };
        for attribute in field.attrs.iter().filter(|a| a.path().is_ident("field")) {
            attribute.parse_nested_meta(|meta| key.apply(&meta))?;
        }
        let role = match type_name(&field.ty).as_str() {
            _ if key.is_skipped => Role::Skipped,
            "Pos" => Role::Place,
            "Given" => Role::Given,
            _ => Role::Key(key),
        };
        Ok(Field { ident, ty: field.ty.clone(), doc: doc(&field.attrs), role })
    }
}

impl Key {
    fn apply(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        match word(meta).as_str() {
            "name" => self.name = meta.value()?.parse::<LitStr>()?.value(),
            "parts" => self.parts = listed(meta)?,
            "words" => self.words = listed(meta)?,
            "for_builtin" => self.for_builtin = true,
            "deprecated" => self.is_deprecated = true,
            "only_if" => {
                let mut questions = listed(meta)?;
                self.only_if = questions.pop();
            }
            "skip" => self.is_skipped = true,
            _ => {
                return Err(meta
                    .error("a field knows 'name', 'parts', 'words', 'for_builtin', 'deprecated', 'only_if', 'skip'"));
            }
        }
        Ok(())
    }
}

/// The name of an attribute; empty if it is a path.
fn word(meta: &ParseNestedMeta<'_>) -> String {
    meta.path.get_ident().map(Ident::to_string).unwrap_or_default()
}

/// The list in the parentheses of an attribute.
fn listed<T: syn::parse::Parse>(meta: &ParseNestedMeta<'_>) -> Result<Vec<T>> {
    let inside;
    parenthesized!(inside in meta.input);
    Ok(Punctuated::<T, Token![,]>::parse_terminated(&inside)?.into_iter().collect())
}

/// The `///` lines above an item, joined to one line.
fn doc(attributes: &[Attribute]) -> String {
    let text = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(expr) => match &expr.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    attributes.iter().filter_map(text).collect::<Vec<_>>().join(" ")
}

/// The last word of the path to a type.
fn type_name(ty: &Type) -> String {
    match ty {
        Type::Path(ty) => ty.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default(),
        _ => String::new(),
    }
}

/// A Rust name as users write it: `name_prefix` is `namePrefix`.
pub fn camel_case(ident: &Ident) -> String {
    let name = ident.to_string();
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let mut letters = word.chars();
        name.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        name + letters.as_str()
    })
}
