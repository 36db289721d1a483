use crate::serve;
use serde_json::Value;
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex};

/// A stream that others can read afterwards.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn message(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut message = u32::try_from(payload.len() + 1).unwrap().to_le_bytes().to_vec();
    message.push(kind);
    message.extend_from_slice(payload);
    message
}

fn file(path: &str, content: &str) -> Vec<u8> {
    message(b'F', format!("{path}\0{content}").as_bytes())
}

fn request(text: &str) -> Vec<u8> {
    message(b'R', text.as_bytes())
}

/// The messages that the core writes when it reads these.
fn told(input: &[Vec<u8>]) -> (io::Result<()>, Vec<(char, String)>) {
    let output = Written::default();
    let result = serve(io::Cursor::new(input.concat()), output.clone());
    let bytes = output.0.lock().unwrap().clone();
    let (mut rest, mut messages) = (&bytes[..], Vec::new());
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let (message, after) = after.split_at(u32::from_le_bytes(*length) as usize);
        messages.push((message[0].into(), String::from_utf8_lossy(&message[1..]).into_owned()));
        rest = after;
    }
    (result, messages)
}

/// The last message of a request with these files.
#[track_caller]
fn end(files: &[(&str, &str)], text: &str) -> (String, Value) {
    let mut input: Vec<Vec<u8>> = files.iter().map(|(path, content)| file(path, content)).collect();
    input.push(request(text));
    let (result, messages) = told(&input);
    result.unwrap();
    let output = messages.iter().filter(|(kind, _)| *kind == 'y').map(|(_, text)| text.as_str()).collect();
    let (kind, last) = messages.last().unwrap();
    assert_eq!(*kind, '.');
    (output, serde_json::from_str(last).unwrap())
}

const APP: &[(&str, &str)] = &[
    ("app/kustomization.yaml", "namePrefix: blue-\nresources: [web.yaml]\nimages: [{name: none, newTag: x}]\n"),
    ("app/web.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"),
];

#[test]
fn a_build_prints_the_output() {
    let (output, end) = end(APP, r#"{"op":"build","root":"app"}"#);
    assert_eq!(output, "apiVersion: v1\nkind: Service\nmetadata:\n  name: blue-web\n");
    assert_eq!(end["ok"], true);
    assert_eq!(end["files"][0], "/app/kustomization.yaml");
}

#[test]
fn lint_explain_and_diff_answer_as_the_command() {
    let (_, found) = end(APP, r#"{"op":"lint","root":"app"}"#);
    assert_eq!((&found["findings"][0]["code"], &found["findings"][0]["line"]), (&"no-effect".into(), &3.into()));
    let mut allowed = APP.to_vec();
    allowed.push(("rustomize.yaml", "lint: {allow: [{code: no-effect, path: app/*, reason: soon}]}\n"));
    let (_, found) = end(&allowed, r#"{"op":"lint","root":"app"}"#);
    assert_eq!(found["findings"], serde_json::json!([]));
    let (_, all) = end(APP, r#"{"op":"explain","root":"app"}"#);
    assert_eq!(all["explanation"]["resources"][0]["name"], "blue-web");
    let (_, one) = end(APP, r#"{"op":"explain","root":"app","resource":"Service/web","field":"metadata.name"}"#);
    assert_eq!(one["explanation"]["fields"][0]["writes"][0]["step"], "PrefixTransformer");
    let text = r#"{"op":"diff","before":{"text":"kind: Service\napiVersion: v1\nmetadata: {name: blue-web}\n"},
        "after":{"root":"app"}}"#;
    assert_eq!(end(APP, text).1["difference"]["summary"]["same"], 1);
    let text = r#"{"op":"diff","before":{"text":""},"after":{"root":"app"}}"#;
    assert_eq!(end(APP, text).1["difference"]["resources"][0]["change"], "added");
}

/// A schema of another kind than those of the tree.
const SCHEMA: &str = r#"{"definitions": {"x.Y": {"type": "object",
    "x-kubernetes-group-version-kind": [{"group": "x", "version": "v1", "kind": "Y"}]}}}"#;

#[test]
fn schemas_of_a_tree_take_the_place_of_the_built_in_ones_or_add_to_them() {
    let files = [
        ("kustomization.yaml", "openapi: {path: s.json}\nresources: [a.yaml]\npatches: [{path: p.yaml}]\n"),
        ("s.json", SCHEMA),
        ("a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: x, image: web}]}\n"),
        ("p.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: x, tty: true}]}\n"),
    ];
    let has_image = |options: &str| {
        let (output, end) = end(&files, &format!(r#"{{"op":"build","root":".","options":{options}}}"#));
        assert_eq!(end["ok"], true, "{end}");
        output.contains("image: web")
    };
    assert!(!has_image("{}") && has_image(r#"{"openapiAdds":true}"#));
}

#[test]
fn faults_have_their_places_and_unknown_options_are_errors() {
    let (output, fault) = end(&[("kustomization.yaml", "namePrefx: a\n")], r#"{"op":"build","root":"."}"#);
    assert_eq!((output.as_str(), &fault["ok"]), ("", &false.into()));
    assert_eq!((&fault["errors"][0]["code"], &fault["errors"][0]["line"]), (&"unknown-field".into(), &1.into()));
    for (text, word) in [
        (r#"{"op":"build","root":".","options":{"compt":"1"}}"#, "compt"),
        (r#"{"op":"build","root":".","options":{"compat":"9"}}"#, "'9'"),
        (r#"{"op":"build","root":".","options":{"reorder":"x"}}"#, "reorder"),
        (r#"{"op":"build","root":".","options":{"loadRestrictor":"x"}}"#, "loadRestrictor"),
        (r#"{"op":"build"}"#, "root"),
        (r#"{"op":"bild"}"#, "bild"),
        ("{", "invalid request"),
    ] {
        let message = end(APP, text).1["errors"][0]["message"].to_string();
        assert!(message.contains(word), "{message}");
    }
    let (_, known) = end(&[], r#"{"op":"version"}"#);
    assert!(known["kustomize"].to_string().contains("5.8.3"));
}

/// The messages of the core for a request, whose questions `answer` answers.
fn asked(text: &str, answer: impl Fn(char, &str) -> Vec<u8>) -> Vec<(char, String)> {
    let ((input, mut to), (mut from, output)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let core = std::thread::spawn(move || serve(input, output));
    to.write_all(&request(text)).unwrap();
    let mut messages = Vec::new();
    loop {
        let mut length = [0; 4];
        from.read_exact(&mut length).unwrap();
        let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
        from.read_exact(&mut bytes).unwrap();
        let (kind, payload) = (char::from(bytes[0]), String::from_utf8(bytes[1..].to_vec()).unwrap());
        messages.push((kind, payload.clone()));
        match kind {
            'y' => {}
            '.' => break,
            kind => to.write_all(&answer(kind, &payload)).unwrap(),
        }
    }
    drop(to);
    core.join().unwrap().unwrap();
    messages
}

#[test]
fn without_files_the_host_is_asked() {
    let none = || message(b'-', b"n\0");
    let messages = asked(r#"{"op":"build","root":"app"}"#, |kind, path| match (kind, path) {
        ('d', "app") => message(b'+', b"/t/app"),
        ('o', "/t/app/kustomization.yaml") => message(b'+', b"/t/app/kustomization.yaml"),
        ('o', "/t/app/web.yaml") => message(b'+', b"/t/app/web.yaml"),
        ('r', "/t/app/kustomization.yaml") => message(b'+', b"resources: [web.yaml]\n"),
        ('r', "/t/app/web.yaml") => message(b'+', b"apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"),
        _ => none(),
    });
    let reads: Vec<&str> = messages.iter().filter(|(kind, _)| *kind == 'r').map(|(_, path)| path.as_str()).collect();
    assert_eq!(reads, ["/t/app/kustomization.yaml", "/t/app/web.yaml"]);
    assert!(messages.iter().any(|(kind, text)| *kind == 'y' && text.contains("name: web")), "{messages:#?}");
    let messages = asked(r#"{"op":"build","root":"app"}"#, |kind, path| match (kind, path) {
        ('d', "app") => message(b'+', b"/t/app"),
        ('o', "/t/app/kustomization.yaml") => message(b'-', b"o/t/app/kustomization.yaml\0the jail is closed"),
        _ => none(),
    });
    assert!(messages.last().unwrap().1.contains("the jail is closed"), "{messages:#?}");
}

#[test]
fn remote_parts_are_asked_for_once_if_the_host_has_them() {
    let text = "resources: ['https://example.com/a.yaml', 'https://example.com/r.git//app?ref=v1']\n";
    let build = |remote: bool| {
        asked(&format!(r#"{{"op":"build","root":"/","options":{{"remote":{remote}}}}}"#), |kind, path| {
            match (kind, path) {
                ('d', "/") => message(b'+', b"/"),
                ('o', "/kustomization.yaml") => message(b'+', b"/kustomization.yaml"),
                ('r', "/kustomization.yaml") => message(b'+', text.as_bytes()),
                ('h', "https://example.com/a.yaml") => {
                    message(b'+', b"apiVersion: v1\nkind: Service\nmetadata: {name: a}\n")
                }
                ('g', _) => message(b'+', b"/clone"),
                ('D', "/clone" | "/clone/app") => message(b'+', path.as_bytes()),
                ('O', "/clone/app/kustomization.yaml") => message(b'+', path.as_bytes()),
                ('R', _) => message(b'+', b"namePrefix: b-\n"),
                _ => message(b'-', b"n\0"),
            }
        })
    };
    let messages = build(true);
    let count = |of: char| messages.iter().filter(|(kind, _)| *kind == of).count();
    // A URL is a file if the server has it, and a repository otherwise.
    assert_eq!((count('h'), count('g'), count('R')), (2, 1, 1), "{messages:#?}");
    let clone = &messages.iter().find(|(kind, _)| *kind == 'g').unwrap().1;
    assert!(clone.contains(r#""ref":"v1""#) && clone.contains("https://example.com/r.git"), "{clone}");
    assert!(messages.last().unwrap().1.contains(r#""ok":true"#), "{messages:#?}");
    let refused = build(false);
    assert!(refused.last().unwrap().1.contains("not-enabled"), "{refused:#?}");
}

#[test]
fn a_host_that_breaks_the_protocol_ends_the_program() {
    let build = || request(r#"{"op":"build","root":"app"}"#);
    for input in [
        vec![message(b'x', b"")],
        vec![message(b'F', b"no path")],
        vec![vec![0, 0, 0, 0]],
        vec![vec![9, 0]],
        vec![message(b'R', b"{}")[..3].to_vec()],
        vec![build(), message(b'x', b"")],
        vec![build()],
        vec![build(), vec![255, 255, 255, 255, b'+', 1]],
    ] {
        assert!(told(&input).0.is_err(), "{input:?}");
    }
}
