//! Random texts of YAML with comments, into which a replacement leads. Each is printed again, and
//! the comments must stand where kustomize puts them. Half of the texts have anchors, aliases, merge
//! keys and tags, too.
//!
//! `RUSTOMIZE_TEXTS=100000 RUSTOMIZE_SEED=1 cargo test random_texts` builds that many.

use super::{number, ours_in_memory, shown};
use crate::support::reference::{Files, Server};

/// Makes texts.
struct Maker {
    random: fastrand::Rng,
    out: String,
    /// Paths of fields that are in the text, or can be made in it.
    paths: Vec<String>,
    /// The rate of a comment or empty line in each place that allows one, of 100.
    often: u32,
    /// True for a text with anchors, aliases, merge keys and tags.
    has_properties: bool,
    /// The number of anchors so far, and the names of those whose nodes are complete.
    anchors: usize,
    complete: Vec<String>,
}

/// The mapping or list that is written.
#[derive(Clone)]
struct Place {
    indent: usize,
    depth: usize,
    /// `None` below a list, where no path of these leads.
    path: Option<String>,
}

impl Place {
    fn below(&self, indent: usize, key: Option<&str>) -> Place {
        let path = self.path.as_ref().zip(key).map(|(path, key)| format!("{path}.{key}"));
        Place { indent, depth: self.depth + 1, path }
    }
}

impl Maker {
    fn one_in(&mut self, n: u32) -> bool {
        self.random.u32(..n) == 0
    }

    fn often(&mut self) -> bool {
        self.random.u32(..100) < self.often
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.random.usize(..from.len())]
    }

    fn pad(&mut self, columns: usize) {
        self.out.push_str(&" ".repeat(columns));
    }

    fn comment(&mut self) {
        let end = self.pick(&["", "", "  ", " x: y", "#", " - z"]);
        self.out.push_str(&format!("# c{}{end}", self.random.u8(..9)));
    }

    /// Lines without content, mostly as deep as what is around them.
    fn gap(&mut self, indent: usize) {
        while self.often() {
            if self.one_in(3) {
                let blanks = self.pick(&["", "", "  ", "      "]);
                self.out.push_str(blanks);
            } else {
                let column = if self.one_in(2) { indent } else { self.random.usize(..7) };
                self.pad(column);
                self.comment();
            }
            self.out.push('\n');
        }
    }

    /// The end of a line.
    fn end_line(&mut self) {
        if self.often() {
            self.out.push(' ');
            self.comment();
        }
        self.out.push('\n');
    }

    /// An anchor, a tag or both in front of a node, each behind a blank. Returns the anchor's name.
    fn properties(&mut self) -> Option<String> {
        let (has_anchor, has_tag) = (self.has_properties && self.one_in(4), self.has_properties && self.one_in(6));
        let tag = self.pick(&["!!str", "!Ref", "!!int", "!a-b", "!", "!<tag:yaml.org,2002:str>"]);
        let is_tag_first = has_tag && self.one_in(4);
        if is_tag_first {
            self.out.push_str(&format!(" {tag}"));
        }
        let name = has_anchor.then(|| {
            self.anchors += 1;
            format!("a{}", self.anchors)
        });
        if let Some(name) = &name {
            self.out.push_str(&format!(" &{name}"));
        }
        if has_tag && !is_tag_first {
            self.out.push_str(&format!(" {tag}"));
        }
        name
    }

    /// The name of a complete anchor, in one of `n` places that may have an alias.
    fn alias(&mut self, n: u32) -> Option<String> {
        let has_one = self.has_properties && self.one_in(n) && !self.complete.is_empty();
        has_one.then(|| self.complete[self.random.usize(..self.complete.len())].clone())
    }

    /// A mapping or list in brackets, in one line or in many.
    fn brackets(&mut self, indent: usize, depth: usize) {
        let (open, close) = if self.one_in(2) { ("[", "]") } else { ("{", "}") };
        let lines = self.one_in(2);
        let count = self.random.usize(..4);
        self.out.push_str(open);
        for i in 0..count {
            if lines {
                self.end_line();
                self.gap(indent + 2);
                self.pad(indent + 2);
            }
            if open == "{" {
                self.out.push_str(&format!("f{i}: "));
            }
            match self.alias(6) {
                Some(name) => self.out.push_str(&format!("*{name}")),
                None if depth < 2 && self.one_in(4) => self.brackets(indent + 2, depth + 1),
                None => {
                    let scalar = self.pick(&["a", "'b'", "\"c\"", "1"]);
                    self.out.push_str(scalar);
                }
            }
            if i + 1 < count || self.one_in(4) {
                self.out.push(',');
            }
            if !lines {
                self.out.push(' ');
            }
        }
        if lines {
            self.end_line();
            self.gap(indent + 2);
            self.pad(indent + 1);
        }
        self.out.push_str(close);
    }

    /// A text over several lines, in quotes or not.
    fn lines(&mut self, indent: usize) {
        let quote = self.pick(&["", "'", "\""]);
        self.out.push_str(quote);
        self.out.push_str("one");
        for _ in 0..self.random.usize(1..4) {
            let end = self.pick(&["\n", "\n", "  \n", "\n\n", "\n \n\n"]);
            self.out.push_str(end);
            self.pad(indent + 1);
            let word = self.pick(&["two", "  three", "it's four", "a-b, c"]);
            self.out.push_str(if quote == "'" { word.split('\'').next().unwrap() } else { word });
        }
        self.out.push_str(quote);
    }

    fn block_text(&mut self, indent: usize) {
        let end = self.pick(&["|\n", "|-\n", "|+\n", ">\n", ">-\n", ">+\n"]);
        self.out.push_str(end);
        self.pad(indent + 4);
        self.out.push_str("text\n");
        for _ in 0..self.random.usize(..3) {
            let line = self.pick(&["", "", "text", "# no comment", "  deeper"]);
            if !line.is_empty() {
                self.pad(indent + 4);
            }
            self.out.push_str(line);
            self.out.push('\n');
        }
    }

    /// A mapping or list. With `inline` it begins behind a dash.
    fn block(&mut self, place: &Place, mut inline: bool) {
        let is_list = place.depth > 0 && self.one_in(3);
        let indent = place.indent;
        for i in 0..self.random.usize(1..4) {
            if !std::mem::take(&mut inline) {
                self.gap(indent);
                self.pad(indent);
            }
            let key = format!("k{i}");
            match is_list {
                true => self.out.push('-'),
                false if self.one_in(4) => self.out.push_str(&format!("'{key}':")),
                false => self.out.push_str(&format!("{key}:")),
            }
            let key = (!is_list).then_some(key.as_str());
            let path = place.below(0, key).path;
            if let Some(name) = self.alias(8) {
                self.out.push_str(&format!(" *{name}"));
                self.end_line();
                self.paths.extend(path);
                continue;
            }
            let anchor = self.properties();
            match self.random.u8(..20) {
                0..7 if place.depth < 4 => {
                    let deeper = indent + if is_list || self.one_in(2) { 2 } else { 4 };
                    if is_list && self.out.ends_with('-') && self.one_in(2) {
                        self.out.push(' ');
                        self.block(&place.below(indent + 2, key), true);
                    } else {
                        self.end_line();
                        self.block(&place.below(deeper, key), false);
                    }
                }
                7..9 => {
                    self.out.push(' ');
                    self.block_text(indent);
                    self.paths.extend(path);
                }
                9..11 => {
                    self.out.push(' ');
                    self.brackets(indent, 0);
                    self.end_line();
                }
                11 => self.end_line(),
                12..14 => {
                    self.out.push(' ');
                    self.lines(indent);
                    self.end_line();
                    self.paths.extend(path);
                }
                _ => {
                    let scalar = self.pick(&[" v", " 1", " 'q'", " \"d\"", " a b", " true", " ~"]);
                    self.out.push_str(scalar);
                    self.end_line();
                    self.paths.extend(path);
                }
            }
            self.complete.extend(anchor);
        }
        if let Some(name) = self.alias(6).filter(|_| !is_list) {
            self.pad(indent);
            self.out.push_str(&format!("<<: *{name}"));
            self.end_line();
        }
        if let (false, Some(path)) = (is_list, &place.path) {
            self.paths.push(format!("{path}.new"));
        }
        self.gap(indent);
    }
}

/// A text, and the path of the field that is replaced in it.
fn text(seed: u64) -> (String, String) {
    let random = fastrand::Rng::with_seed(seed);
    let mut maker = Maker {
        random,
        out: String::new(),
        paths: Vec::new(),
        often: 0,
        has_properties: false,
        anchors: 0,
        complete: Vec::new(),
    };
    maker.often = [5, 15, 30, 60][maker.random.usize(..4)];
    maker.has_properties = maker.one_in(2);
    if maker.one_in(5) {
        maker.gap(0);
        maker.out.push_str("---");
        maker.end_line();
    }
    maker.block(&Place { indent: 0, depth: 0, path: Some(String::new()) }, false);
    if maker.one_in(4) {
        maker.out.pop();
    }
    let path = maker.paths.swap_remove(maker.random.usize(..maker.paths.len()));
    (maker.out, path)
}

fn tree((text, path): &(String, String)) -> Files {
    let kustomization = format!(
        "resources: [r.yaml]\nreplacements:\n- source: {{kind: ConfigMap, fieldPath: data.value}}\n  targets:\n  \
         - select: {{kind: ConfigMap}}\n    fieldPaths: [\"data.text{path}\"]\n    options: {{create: true}}\n"
    );
    let text = serde_json::to_string(text).unwrap();
    let resource =
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m}}\ndata:\n  value: replaced\n  text: {text}\n");
    Files::from([
        ("/kustomization.yaml".to_owned(), kustomization.into_bytes()),
        ("/r.yaml".to_owned(), resource.into_bytes()),
    ])
}

#[test]
fn random_texts_are_printed_anew_as_kustomize_prints_them() {
    let Some(mut server) = Server::find() else {
        crate::support::skip(".ci/oracle has not been run");
        return;
    };
    let (count, seed) = (number("RUSTOMIZE_TEXTS", 1_000), number("RUSTOMIZE_SEED", 1));
    let most = number("RUSTOMIZE_FOUND", 10);
    let (mut built, mut differences) = (0, Vec::new());
    for i in 0..count {
        let text = text((seed as u64) << 32 | i as u64);
        let files = tree(&text);
        let ours = ours_in_memory(&files, "/");
        let theirs = server.build(&files, &["/"]).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        built += usize::from(theirs.is_ok());
        let agree = match (&ours, &theirs) {
            (Ok(ours), Ok(theirs)) => ours == theirs,
            (ours, theirs) => ours.is_err() && theirs.is_err(),
        };
        if !agree {
            let (text, path) = &text;
            let (ours, theirs) = (shown(&ours), shown(&theirs));
            differences.push(format!("==== text {i}, {path}\n{text}\n---- ours\n{ours}---- theirs\n{theirs}"));
            if differences.len() >= most {
                break;
            }
        }
    }
    println!("{count} texts from seed {seed}: {built} build, {} differ", differences.len());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(built * 4 > count * 3, "many texts do not build: they test nothing");
}
