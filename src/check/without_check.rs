//! Kinds without their schemas, in a program that was built without the feature `check`: no field
//! is unknown.

use crate::resource::ResMap;
use crate::schema::{Gvk, is_scope_known};
use rustomize_yaml::{Node, Pos};
use std::marker::PhantomData;

/// As with the feature.
pub const MOST_UNKNOWN: usize = 100;

/// No schemas.
#[derive(Debug)]
pub struct Kinds<'a>(PhantomData<&'a str>);

/// An unknown field of a kind. No value of this type is made.
#[derive(Debug)]
pub struct Unknown<'n> {
    path: PhantomData<&'n str>,
    /// As with the feature.
    pub pos: Pos,
    /// As with the feature.
    pub hint: Option<String>,
}

impl Unknown<'_> {
    /// As with the feature.
    pub fn path(&self) -> String {
        let Unknown { path: PhantomData, .. } = self;
        String::new()
    }

    /// As with the feature.
    pub fn is_in(&self, _resource: &Node<'_>) -> bool {
        true
    }
}

impl Kinds<'_> {
    /// Knows nothing.
    pub fn new(_map: &ResMap<'_>, _is_wanted: impl Fn(&str) -> bool) -> Self {
        Kinds(PhantomData)
    }

    /// Returns true for a kind that kustomize itself knows.
    pub fn is_of_kubernetes(&self, gvk: &Gvk<'_>) -> bool {
        is_scope_known(gvk)
    }

    /// Finds nothing.
    pub fn unknown<'n>(&self, _gvk: &Gvk<'_>, _patch: &'n Node<'_>) -> Vec<Unknown<'n>> {
        Vec::new()
    }

    /// Finds nothing.
    pub fn unknown_at<'n>(&self, _gvk: &Gvk<'_>, _way: &[&'n str], _value: Option<&'n Node<'_>>) -> Vec<Unknown<'n>> {
        Vec::new()
    }
}
