//! `add patch`, `remove patch`.

use super::{Place, usage, usage_as};
use crate::config::selector::Selector;
use crate::config::{Decode, Decoder, kustomization};
use crate::diag::Result;
use rustomize_yaml::{Key, Mapping, Node};

/// A patch, as flags describe it. Empty texts count as missing.
#[derive(Clone, Debug, Default)]
pub struct Patch {
    pub path: String,
    pub patch: String,
    /// The fields of the target and their texts.
    pub target: Vec<(&'static str, String)>,
}

impl Patch {
    fn check(&self) -> Result<()> {
        if !self.patch.is_empty() && !self.path.is_empty() {
            let error = usage("patch and path can't be set at the same time");
            return Err(error.hint("leave out --patch or --path"));
        }
        Ok(())
    }

    fn node<'a>(&self, text: impl Fn(&str) -> &'a str) -> Node<'a> {
        let mut entry = Mapping::new();
        let mut target = Mapping::new();
        let put = |mapping: &mut Mapping<'a>, name: &'static str, value: &str| {
            if !value.is_empty() {
                mapping.insert(Key::string(name), Node::string(text(value)));
            }
        };
        put(&mut entry, "path", &self.path);
        put(&mut entry, "patch", &self.patch);
        self.target.iter().for_each(|(name, value)| put(&mut target, name, value));
        if !target.is_empty() {
            entry.insert(Key::string("target"), target.into());
        }
        entry.into()
    }
}

/// Returns true if two entries are the same patch for the same target.
fn is_same<'a>(one: &Node<'a>, other: &Node<'a>, cx: &Decoder<'a>) -> Result<bool> {
    let (mut a, mut b) = (kustomization::Patch::default(), kustomization::Patch::default());
    a.decode(one, cx)?;
    b.decode(other, cx)?;
    let options = |patch: &kustomization::Patch<'_>| {
        (patch.options.given, patch.options.allow_name_change, patch.options.allow_kind_change)
    };
    let is_same_target = match (&a.target, &b.target) {
        (Some(a), Some(b)) => Selector::is_same(a, b),
        (a, b) => a.is_none() && b.is_none(),
    };
    Ok((a.path, a.patch.text) == (b.path, b.patch.text) && is_same_target && options(&a) == options(&b))
}

/// `add patch`.
///
/// # Errors
/// Both a path and a patch are given, or neither.
pub fn add(place: &mut Place, patch: &Patch) -> Result<()> {
    patch.check()?;
    if patch.patch.is_empty() && patch.path.is_empty() {
        return Err(usage_as(
            "must provide either patch or path",
            "add patch --path patch.yaml --kind Deployment --name web",
        ));
    }
    place.change(|draft| {
        let (arena, cx) = (draft.arena, Decoder::strict(draft.arena));
        let new = patch.node(|text| arena.text(text));
        let mut compared = draft.items("patches").map(|old| is_same(old, &new, &cx));
        if compared.find(|is_same| !matches!(is_same, Ok(false))).transpose()?.is_some() {
            drop(compared);
            draft.note(format!("patch {}{} already in kustomization file", patch.path, patch.patch));
            return Ok(());
        }
        drop(compared);
        draft.list("patches")?.push(new);
        Ok(())
    })
}

/// `remove patch`: removes all entries that are exactly this patch.
///
/// # Errors
/// Both a path and a patch are given.
pub fn remove(place: &mut Place, patch: &Patch) -> Result<()> {
    patch.check()?;
    place.change(|draft| {
        let (arena, cx) = (draft.arena, Decoder::strict(draft.arena));
        let wanted = patch.node(|text| arena.text(text));
        let is_meant: Vec<bool> =
            draft.items("patches").map(|old| is_same(old, &wanted, &cx)).collect::<Result<_>>()?;
        if !is_meant.contains(&true) {
            draft.note(format!("patch {} doesn't exist in kustomization file", patch.patch));
            return Ok(());
        }
        let mut is_meant = is_meant.into_iter();
        draft.list("patches")?.retain(|_| !is_meant.next().unwrap_or(false));
        draft.drop_if_empty("patches")
    })
}
