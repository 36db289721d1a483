//! [`Amendment`]: adds one rule to `trust.yaml` for `plugin trust`. Other lines stay as they are,
//! and the new rule withdraws no grant and no required signature of an older rule.

use super::trust::{EVERYWHERE, KIND, Trust, TrustRule};
use crate::diag::{Error, Result};
use crate::id::head::API_VERSION;
use crate::id::pattern::{SourcePattern, matches};
use rustomize_base::duration;
use rustomize_plugins::permissions::Permissions;
use std::path::Path;

/// A rule to add.
#[derive(Clone, Debug)]
pub struct Amendment {
    pub pattern: SourcePattern,
    /// Where the plugins come from; `None` for the place that their source names.
    pub from: Option<String>,
    pub is_denied: bool,
    /// Public keys; a signature of one of them is required. Empty if none is.
    pub keys: Vec<String>,
    /// The minimal age of a release, such as `72h`.
    pub min_age: Option<String>,
    /// The permissions that are granted.
    pub granted: Permissions,
}

/// A trust file with its new rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Amended {
    /// The whole file.
    pub text: String,
    /// The rule in it.
    pub rule: String,
}

/// A text in the quotes of YAML.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl Amendment {
    /// Adds the rule to the text of a trust file. The rule is placed behind narrower rules and in
    /// front of wider ones. The new rule also has the grants and the required signature of the
    /// older rule for its sources. A new file also gets a rule for all other sources, because
    /// without a file every source is allowed.
    ///
    /// # Errors
    /// The file, or its new text, does not have the form of a trust file, or its notation leaves no
    /// place for another line.
    pub fn amend(&self, path: &Path, text: &str) -> Result<Amended> {
        let text = match text.trim().is_empty() {
            true => format!("apiVersion: {API_VERSION}\nkind: {KIND}\nrules:\n- {{source: '**', from: '**'}}\n"),
            false if text.ends_with('\n') => text.to_owned(),
            false => format!("{text}\n"),
        };
        let mut rules = Trust::parse(path, text.clone())?.rules;
        let rule = self.rule(&rules);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let Some(field) = lines.iter().position(|line| line.starts_with("rules:")) else {
            return checked(path, format!("{text}rules:\n- {rule}\n"), rule, rules.len() + 1);
        };
        let rest = lines[field]["rules:".len()..].trim_start();
        if !(rest.is_empty() || rest.starts_with('#')) {
            let error = Error::input(format!("'rules' in '{}' is written on one line", path.display()));
            return Err(error.hint(format!("add it by hand: - {rule}")));
        }
        let indent = rules.first().map_or(0, |first| indent_of(&lines[dash(&lines, first)]));
        // The same rule as it was, if it is on one line, makes way.
        if let Some(at) = rules.iter().position(|rule| self.is_same(rule)) {
            let line = dash(&lines, &rules[at]);
            if lines[line].trim_start().starts_with("- {") && lines[line].trim_end().ends_with('}') {
                lines.remove(line);
                rules.remove(at);
                for later in &mut rules[at..] {
                    later.place = later.place.take().map(|mut place| {
                        place.line -= 1;
                        place
                    });
                }
            }
        }
        let covering = rules.iter().find(|rule| self.is_before(rule));
        let covered = rules.iter().rfind(|rule| self.pattern.covers(&rule.pattern));
        let at = match (covering, covered) {
            (Some(covering), _) => dash(&lines, covering),
            (None, Some(covered)) => end(&lines, dash(&lines, covered)),
            (None, None) => field + 1,
        };
        lines.insert(at, format!("{}- {rule}", " ".repeat(indent)));
        checked(path, lines.join("\n") + "\n", rule, rules.len() + 1)
    }

    fn is_same(&self, rule: &TrustRule) -> bool {
        rule.pattern == self.pattern && rule.from == self.from
    }

    /// Returns true if this rule has to come before another one to have an effect. A rule for
    /// plugins from everywhere comes after rules that name an origin, unless it denies.
    fn is_before(&self, rule: &TrustRule) -> bool {
        let is_narrower =
            rule.pattern == self.pattern && !self.comes_from(rule) && self.from.as_deref() == Some(EVERYWHERE);
        rule.pattern.covers(&self.pattern) && (self.is_denied || !is_narrower)
    }

    /// Returns whether another rule is for plugins from all places that this one is for.
    fn comes_from(&self, rule: &TrustRule) -> bool {
        match (&rule.from, &self.from) {
            (Some(wide), _) if wide == EVERYWHERE => true,
            (Some(wide), Some(narrow)) => matches(wide, narrow),
            (wide, narrow) => wide == narrow,
        }
    }

    /// The rule as a line, with what the rule that counted until now asks for and grants.
    fn rule(&self, rules: &[TrustRule]) -> String {
        let mut parts = vec![format!("source: {}", quoted(self.pattern.text()))];
        parts.extend(self.from.iter().map(|from| format!("from: {}", quoted(from))));
        if self.is_denied {
            parts.push("deny: true".to_owned());
            return format!("{{{}}}", parts.join(", "));
        }
        let same = rules.iter().find(|rule| self.is_same(rule));
        let wider = || rules.iter().find(|rule| rule.pattern.covers(&self.pattern) && self.comes_from(rule));
        let before = same.or_else(wider).filter(|rule| rule.is_allowed);
        let keys = before.filter(|_| self.keys.is_empty()).map_or(&self.keys, |before| &before.keys);
        if !keys.is_empty() {
            let keys: Vec<String> = keys.iter().map(|key| quoted(key)).collect();
            parts.push(format!("require: minisign, keys: [{}]", keys.join(", ")));
        }
        let age = self.min_age.clone().or_else(|| before?.min_age.map(duration::print));
        parts.extend(age.map(|age| format!("minReleaseAge: {}", quoted(&age))));
        let known = before.and_then(|before| before.permissions.clone());
        if known.is_some() || !self.granted.is_empty() {
            parts.push(format!("permissions: {}", permissions(&known.unwrap_or_default().and(&self.granted))));
        }
        format!("{{{}}}", parts.join(", "))
    }
}

fn permissions(granted: &Permissions) -> String {
    let lists =
        [("read", &granted.read), ("write", &granted.write), ("sockets", &granted.sockets), ("env", &granted.env)];
    let lists = lists.iter().filter(|(_, values)| !values.is_empty()).map(|(name, values)| {
        let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
        format!("{name}: [{}]", values.join(", "))
    });
    let network = granted.network.then(|| "network: true".to_owned());
    format!("{{{}}}", network.into_iter().chain(lists).collect::<Vec<_>>().join(", "))
}

/// The line with the dash of a rule.
fn dash(lines: &[String], rule: &TrustRule) -> usize {
    let line = rule.place.as_ref().map_or(0, |place| place.line.saturating_sub(1)).min(lines.len() - 1);
    (0..=line).rev().find(|at| lines[*at].trim_start().starts_with('-')).unwrap_or(line)
}

/// The line behind a rule whose dash is on `line`.
fn end(lines: &[String], line: usize) -> usize {
    let belongs = |text: &&String| !text.trim().is_empty() && indent_of(text) > indent_of(&lines[line]);
    line + 1 + lines[line + 1..].iter().take_while(belongs).count()
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Holds the text to the number of rules that it should have: the field may be spelled in a way
/// that is read and that no line was found for.
fn checked(path: &Path, text: String, rule: String, count: usize) -> Result<Amended> {
    if Trust::parse(path, text.clone())?.rules.len() == count {
        return Ok(Amended { text, rule });
    }
    let error = Error::input(format!("cannot add a line to 'rules' in '{}'", path.display()));
    Err(error.hint(format!("add it by hand: - {rule}")))
}

#[cfg(test)]
mod tests {
    use super::{Amendment, Permissions, SourcePattern};
    use std::path::Path;

    const HEAD: &str = "apiVersion: rustomize.dev/v1\nkind: TrustPolicy\n";

    fn amendment(pattern: &str) -> Amendment {
        let pattern = SourcePattern::parse(pattern).unwrap();
        let (from, is_denied, keys, min_age, granted) = Default::default();
        Amendment { pattern, from, is_denied, keys, min_age, granted }
    }

    fn amend(text: &str, amendment: &Amendment) -> String {
        amendment.amend(Path::new("trust.yaml"), text).unwrap().text
    }

    #[test]
    fn a_rule_stands_between_what_is_narrower_and_what_is_wider() {
        let all = "- {source: '**', from: '**'}\n";
        let one = "- {source: 'a.io/b/c'}\n";
        assert_eq!(amend("", &amendment("a.io/b/c")), format!("{HEAD}rules:\n{one}{all}"));
        let text = format!("{HEAD}# whom\nrules: # first wins\n  # old\n  - source: a.io/b/*\n    deny: true\n");
        let want = text.replace("  - source: a", "  - {source: 'a.io/b/c'}\n  - source: a");
        assert_eq!(amend(&text, &amendment("a.io/b/c")), want);
        let want = format!("{text}  - {{source: 'a.io/**'}}\n# behind\n");
        assert_eq!(amend(&format!("{text}# behind\n"), &amendment("a.io/**")), want);
        // The same again: one line, at its place.
        let text = format!("{HEAD}rules:\n{one}{all}");
        assert_eq!(amend(&text, &amendment("a.io/b/c")), text);
        let ban = Amendment { is_denied: true, ..amendment("**") };
        assert_eq!(amend(&text, &ban), format!("{HEAD}rules:\n{one}- {{source: '**', deny: true}}\n{all}"));
        let ban = Amendment { is_denied: true, ..amendment("a.io/b/c") };
        assert_eq!(amend(&text, &ban), format!("{HEAD}rules:\n- {{source: 'a.io/b/c', deny: true}}\n{all}"));
        let flow = format!("{HEAD}rules: []\n");
        let error = amendment("**").amend(Path::new("trust.yaml"), &flow).unwrap_err().to_string();
        assert!(error.contains("on one line"), "{error}");
        // Read as `rules`, and not found as a line.
        for field in ["rUles", "'rules'"] {
            let spelled = format!("{HEAD}{field}:\n- {{source: '**', deny: true}}\n");
            let error = amendment("a.io/b/c").amend(Path::new("trust.yaml"), &spelled).unwrap_err().to_string();
            assert!(error.contains("cannot add a line") && error.contains("- {source: 'a.io/b/c'}"), "{error}");
        }
    }

    #[test]
    fn what_was_asked_for_and_granted_stays() {
        let net = Permissions { network: true, ..Permissions::default() };
        let env = Permissions { env: vec!["A".to_owned()], ..Permissions::default() };
        let one = amend("", &Amendment { granted: net, min_age: Some("48h".to_owned()), ..amendment("a.io/b/*") });
        let two = amend(&one, &Amendment { granted: env, ..amendment("a.io/b/c") });
        let rule = "- {source: 'a.io/b/c', minReleaseAge: '2d', permissions: {network: true, env: ['A']}}\n";
        assert!(two.contains(rule), "{two}");
        // A plugin from elsewhere begins with its own path.
        let from = Some("/w/c".to_owned());
        let three = amend(&two, &Amendment { from, ..amendment("a.io/b/c") });
        assert!(three.contains("- {source: 'a.io/b/c', from: '/w/c'}\n"), "{three}");
    }
}
