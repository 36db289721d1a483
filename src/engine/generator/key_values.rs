//! The sources of ConfigMaps and Secrets: env files, literals and files become keys with values.

use crate::config::Written;
use crate::config::kustomization::GeneratorArgs;
use crate::diag::{Code, Error, Errors, Result};
use crate::load::Root;
use crate::load::path::last_name;
use crate::stage::Build;
use rustomize_base::memory;
use rustomize_base::meter::FastMap;
use rustomize_yaml::{Arena, Pos, Source};
use std::borrow::Cow;

/// A key, and its value as bytes, which a literal has already.
#[derive(Debug, PartialEq, Eq)]
pub struct Pair<'a> {
    pub key: &'a str,
    pub value: Cow<'a, [u8]>,
    /// The literal, or the entry that names its file.
    pub pos: Pos,
    /// In a traced build, the line of an env file, or the beginning of a file. It may have a
    /// secret: no error is placed there.
    pub line: Option<Pos>,
}

/// The longest line of an env file, in bytes, a carriage return included. As upstream, a longer
/// line ends the file without an error.
pub(super) const MAX_ENV_LINE: usize = 65_535;

/// Reads all sources of an entry: env files, then literals, then files, each in the given order.
///
/// # Errors
/// A source cannot be read or is malformed, or a key occurs twice.
pub fn load<'a>(build: &Build<'a>, root: &Root, args: &GeneratorArgs<'a>) -> Result<Vec<Pair<'a>>> {
    let arena = build.arena;
    let files = &build.cx.files;
    let mut pairs = Vec::with_capacity(args.literals.len() + args.files.len());
    let mut errors = Errors::default();
    for path in &args.envs {
        let unread = |e| Error::from(e).through(path.pos, "loading KV pairs: env source files");
        let read = files.bytes(root, path).map_err(unread).and_then(|bytes| {
            env_file(arena, &bytes, Lines { entry: path.pos, source: traced_text(build, root, path) }, &mut pairs)
                .map_err(|e| e.through(path.pos, format!("in env file '{path}'")))
        });
        errors.note(read);
    }
    literals(args, &mut pairs, &mut errors);
    let mut read: FastMap<&str, usize> = FastMap::default();
    for source in &args.files {
        let Some((key, path)) = errors.note(file_source(source.text).map_err(|e| e.at(source.pos))) else { continue };
        let unread = |e| Error::from(e).through(source.pos, "loading KV pairs: file sources");
        let value = match read.get(path) {
            Some(&first) => Some(shared(arena, &mut pairs[first])),
            None => errors.note(files.bytes(root, path).map_err(unread)).map(Cow::Owned),
        };
        let Some(value) = value else { continue };
        // The output has the text once for each key.
        memory::made(value.len());
        arena.check().map_err(|spent| Error::from(spent).at(source.pos))?;
        read.entry(path).or_insert(pairs.len());
        let line = traced_text(build, root, path).map(|text| text.pos(0));
        pairs.push(Pair { key, value, pos: source.pos, line });
    }
    errors.end(())?;
    distinct(args, pairs)
}

/// The text of a file, whose lines are the places of its values: `None` in a build without a trace,
/// and for a file that is not a text.
fn traced_text<'a>(build: &Build<'a>, root: &Root, path: &str) -> Option<&'a Source> {
    build.trace.as_ref().and_then(|_| build.cx.files.text(root, path).ok())
}

/// The value of a pair, for another key: a text is kept once. O(size) for the first one.
fn shared<'a>(arena: Arena<'a>, pair: &mut Pair<'a>) -> Cow<'a, [u8]> {
    if let Cow::Owned(bytes) = &pair.value
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        pair.value = Cow::Borrowed(arena.text(text).as_bytes());
    }
    pair.value.clone()
}

/// The pairs of an entry that has no sources but literals; `None` for another entry. Nothing of the
/// build is needed for them.
///
/// # Errors
/// A literal is malformed, or a key occurs twice.
pub(super) fn of_literals<'a>(args: &GeneratorArgs<'a>) -> Option<Result<Vec<Pair<'a>>>> {
    (args.envs.is_empty() && args.files.is_empty()).then(|| {
        let mut pairs = Vec::with_capacity(args.literals.len());
        let mut errors = Errors::default();
        literals(args, &mut pairs, &mut errors);
        errors.end(())?;
        distinct(args, pairs)
    })
}

/// Adds the pairs of the literals of an entry.
fn literals<'a>(args: &GeneratorArgs<'a>, pairs: &mut Vec<Pair<'a>>, errors: &mut Errors) {
    for literal in &args.literals {
        pairs.extend(errors.note(self::literal(literal).map_err(|e| e.at(literal.pos))));
    }
}

/// The pairs, whose keys must all be different.
fn distinct<'a>(args: &GeneratorArgs<'a>, pairs: Vec<Pair<'a>>) -> Result<Vec<Pair<'a>>> {
    match repeated(&pairs) {
        Some((_, pos)) if pairs.iter().any(|pair| pair.key.starts_with("<<<<<<< ")) => {
            let error = Error::new(Code::DuplicateKey, "a merge conflict is not resolved in an env file").at(pos);
            Err(error.hint("keep one of the two sides, and remove the lines '<<<<<<<', '=======' and '>>>>>>>'"))
        }
        Some((key, pos)) => {
            let message = format!("configmap {} illegally repeats the key `{key}`", args.name);
            let hint = match args.files.iter().find(|file| file.pos == pos) {
                Some(file) => format!("remove one of them, or give the file another key: {key}-2={}", path_of(file)),
                None => "remove one of the two entries".to_owned(),
            };
            Err(Error::new(Code::DuplicateKey, message).at(pos).hint(hint))
        }
        None => Ok(pairs),
    }
}

/// The path of `path` or `key=path`.
fn path_of(source: &str) -> &str {
    file_source(source).map_or(source, |(_, path)| path)
}

/// The first key, in the order of texts, that occurs twice, and its second place.
fn repeated<'a>(pairs: &[Pair<'a>]) -> Option<(&'a str, Pos)> {
    let mut keys: Vec<(&str, Pos)> = pairs.iter().map(|pair| (pair.key, pair.pos)).collect();
    keys.sort_by_key(|(key, _)| *key);
    keys.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1])
}

/// Returns true if all sources of an entry are literals and files of this machine.
pub fn are_local(args: &GeneratorArgs<'_>) -> bool {
    let is_local = |source: &Written<'_>| !source.contains("://");
    args.envs.iter().chain(&args.files).all(is_local)
}

/// Reads `key=value`; one pair of quotes around the value is removed.
fn literal<'a>(source: &Written<'a>) -> Result<Pair<'a>> {
    let fault = || {
        // The text may be a secret: it is not shown.
        let is_file = !source.contains([' ', '=']) && source.contains('.');
        let hint = match () {
            () if source.contains(": ") => "write '=' in place of ': '",
            () if is_file => "write KEY=VALUE, or list a file under 'files'",
            () => "write KEY=VALUE, with a key in front of the first '='",
        };
        Error::new(Code::BadSource, "invalid literal source, expected key=value").hint(hint)
    };
    let (key, value) = source.text.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(fault)?;
    let unquoted = ['"', '\''].iter().find_map(|&q| value.strip_prefix(q)?.strip_suffix(q));
    Ok(Pair { key, value: unquoted.unwrap_or(value).as_bytes().into(), pos: source.pos, line: None })
}

/// The key and the path of `path` or `key=path`.
///
/// # Errors
/// Key or path is empty, or the source has several `=`.
pub fn file_source(source: &str) -> Result<(&str, &str)> {
    match source.split_once('=') {
        None => Ok((last_name(source), source)),
        Some(("", path)) => Err(Error::new(Code::BadSource, format!("missing key name for file path '{path}'"))
            .hint("write KEY=PATH, or the path alone")),
        Some((key, "")) => Err(Error::new(Code::BadSource, format!("missing file path for key name '{key}'"))
            .hint("write KEY=PATH, or the path alone")),
        Some((_, path)) if path.contains('=') => {
            Err(Error::new(Code::BadSource, format!("source '{source}': key name or file path contains '='"))
                .hint("rename the file: the first '=' ends the key, and a path has none"))
        }
        Some((key, path)) => Ok((key, path)),
    }
}

/// The places of the lines of an env file.
struct Lines<'a> {
    /// The entry that names the file.
    entry: Pos,
    /// The text of the file, in a traced build.
    source: Option<&'a Source>,
}

/// Reads the lines of an env file.
fn env_file<'a>(arena: Arena<'a>, bytes: &[u8], places: Lines<'_>, pairs: &mut Vec<Pair<'a>>) -> Result<()> {
    let mark = '\u{feff}';
    let mut start = places.source.filter(|source| source.text.starts_with(mark)).map_or(0, |_| mark.len_utf8());
    for (i, raw) in bytes.split(|&b| b == b'\n').enumerate() {
        if raw.len() > MAX_ENV_LINE {
            return Ok(());
        }
        let line = raw.strip_suffix(b"\r").unwrap_or(raw);
        let Ok(line) = std::str::from_utf8(line) else {
            let error = Error::new(Code::Encoding, format!("line {} has invalid utf8 bytes", i + 1));
            return Err(error.hint("save the file as UTF-8, or list it under 'files'"));
        };
        let line = if i == 0 { line.strip_prefix(mark).unwrap_or(line) } else { line };
        let end = start + line.len();
        let line = line.trim_start();
        let at = places.source.map(|source| source.pos(end - line.len()));
        start = end + 1;
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        if !key.is_empty() {
            pairs.push(Pair {
                key: arena.text(key),
                value: value.as_bytes().to_vec().into(),
                pos: places.entry,
                line: at,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustomize_yaml::Heap;
    use rustomize_yaml::encoding::Text;

    #[track_caller]
    fn check_env(text: &str, want: &[(&str, &str)]) {
        let (heap, mut pairs) = (Heap::new(), Vec::new());
        let source = heap.arena().add_file("a.env", Text::from(text.to_owned()));
        let lines = Lines { entry: Pos::NONE, source: Some(source) };
        env_file(heap.arena(), text.as_bytes(), lines, &mut pairs).unwrap();
        for pair in &pairs {
            let offset = (pair.line.unwrap().0 - source.base) as usize;
            assert!(source.text[offset..].starts_with(pair.key), "{}", pair.key);
        }
        let got: Vec<(&str, &str)> = pairs.iter().map(|p| (p.key, std::str::from_utf8(&p.value).unwrap())).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn env_files() {
        check_env(
            "\u{feff}A=1\r\n# no\n\n  B = 2 # x\nexport C=3\nFOO \n=x\n",
            &[("A", "1"), ("B ", " 2 # x"), ("export C", "3"), ("FOO ", "")],
        );
        let long = "x".repeat(65_536);
        check_env(&format!("A=1\n{long}\nB=2\n"), &[("A", "1")]);
    }

    #[test]
    fn literals() {
        let value = |text| {
            let pair = literal(&Written { text, pos: Pos::NONE });
            pair.map(|p| String::from_utf8(p.value.into_owned()).unwrap()).map_err(|_| ())
        };
        assert_eq!(value("a='b'"), Ok("b".into()));
        assert_eq!(value("a=\"b'"), Ok("\"b'".into()));
        assert_eq!(value("a='"), Ok("'".into()));
        assert_eq!(value("a==b"), Ok("=b".into()));
        assert_eq!(value("=b"), Err(()));
        assert_eq!(value("ab"), Err(()));
    }

    #[test]
    fn file_sources() {
        assert_eq!(file_source("a/b.txt").unwrap(), ("b.txt", "a/b.txt"));
        assert_eq!(file_source("k=a/b.txt").unwrap(), ("k", "a/b.txt"));
        assert!(file_source("k=").is_err() && file_source("=p").is_err() && file_source("a=b=c").is_err());
    }
}
