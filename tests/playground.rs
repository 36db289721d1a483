//! The playground, in a real browser, from the disk and without a network.

use crate::browser::Page;
use crate::support::skip;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The page, if `bindings/js/pack` has made it.
fn file() -> Option<PathBuf> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/embed/playground.html");
    if !file.exists() {
        skip("there is no target/embed/playground.html, which bindings/js/pack makes");
        return None;
    }
    Some(file)
}

/// The page with a fragment, once its first build has ended.
fn open(fragment: &str, size: (u32, u32)) -> Option<Page> {
    let file = file()?;
    let mut page = Page::open(&file, size)?;
    if !fragment.is_empty() {
        page.evaluate(&format!("{{ location.hash = {}; }}", json!(fragment)));
    }
    page.evaluate("new Promise(done => setTimeout(done, 100))");
    settled(&mut page, "/Built|error|no tree/");
    Some(page)
}

/// Waits until the status line matches a pattern, and gives it.
#[track_caller]
fn settled(page: &mut Page, pattern: &str) -> String {
    page.text(&format!(
        "new Promise(done => {{ const look = () => {{ const text = document.getElementById('status').textContent; \
         {pattern}.test(text) ? done(text) : setTimeout(look, 20); }}; look(); }})"
    ))
}

/// Goes to a fragment, and waits until the status line matches a pattern.
#[track_caller]
fn go(page: &mut Page, fragment: &str, pattern: &str) -> String {
    let fragment = json!(fragment);
    page.evaluate(&format!("{{ document.getElementById('status').textContent = ''; location.hash = {fragment}; }}"));
    settled(page, pattern)
}

/// The text of the output.
fn output(page: &mut Page) -> String {
    page.text("[...document.querySelectorAll('#output .cm-line')].map(line => line.textContent).join('\\n')")
}

/// The fragment for a tree, made by the browser itself.
fn fragment(page: &mut Page, tree: &Value) -> String {
    page.text(&format!(
        "(async () => {{ const stream = new Blob([JSON.stringify({tree})]).stream().pipeThrough(new CompressionStream('deflate-raw')); \
         const bytes = new Uint8Array(await new Response(stream).arrayBuffer()); \
         return 't=' + btoa([...bytes].map(byte => String.fromCharCode(byte)).join('')).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''); }})()"
    ))
}

#[test]
fn the_page_builds_explains_and_leads_to_lines() {
    let Some(mut page) = open("", (1440, 900)) else { return };
    assert!(output(&mut page).contains("name: prod-web"), "{}", output(&mut page));
    // Nothing was fetched, and nothing can be.
    assert_eq!(
        page.evaluate(
            "performance.getEntriesByType('resource').filter(entry => !entry.name.startsWith('blob:')).length"
        ),
        0
    );
    let refused = page.text("fetch('http://127.0.0.1:1/').then(() => 'sent', () => 'refused')");
    assert_eq!(refused, "refused");
    // Enter explains the line of the cursor.
    page.evaluate(
        "{ const lines = [...document.querySelectorAll('#output .cm-line')]; \
         const line = lines.find(line => line.textContent.includes('replicas: 3')); \
         const box = line.getBoundingClientRect(); \
         line.dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: box.x + 20, clientY: box.y + 5})); }",
    );
    let explained = page.text(
        "new Promise(done => { const look = () => { const text = document.getElementById('explain').textContent; \
         text.includes('spec.replicas') ? done(text) : setTimeout(look, 20); }; look(); })",
    );
    assert!(
        explained.contains("Deployment/prod/prod-web") && explained.contains("overlays/prod/kustomization.yaml:"),
        "{explained}"
    );
    page.evaluate("[...document.querySelectorAll('#explain .place')].find(b => b.textContent.includes('base/deployment.yaml')).click()");
    let current = page.text("document.querySelector('#files [aria-current]').textContent");
    assert_eq!(current, "base/deployment.yaml");
    assert_eq!(page.evaluate("document.activeElement.closest('#editor') !== null"), true);
}

#[test]
fn faults_are_on_their_lines_and_go_when_they_are_mended() {
    let Some(mut page) = open("example=codes/no-match", (1440, 900)) else { return };
    let status = settled(&mut page, "/error/");
    assert_eq!(status, "1 error");
    let problems = page.text("document.getElementById('problems').textContent");
    assert!(problems.contains("[no-match]") && problems.contains("patch.yaml:1"), "{problems}");
    assert_eq!(page.text("document.querySelector('[role=tab][aria-selected=true]').id"), "tab-problems");
    page.evaluate("document.querySelector('#problems .place').click()");
    assert_eq!(page.text("document.querySelector('#files [aria-current]').textContent"), "patch.yaml");
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    assert!(page.evaluate("document.querySelectorAll('#editor .cm-lintRange-error').length").as_u64().unwrap() > 0);
    // The keys of the arrows choose a tab.
    page.evaluate("document.getElementById('tab-problems').focus()");
    page.press("ArrowRight");
    assert_eq!(page.text("document.activeElement.id"), "tab-explain");
    // Typed text is built: it has no patches.
    page.evaluate(
        "[...document.querySelectorAll('#files button')].find(b => b.textContent === 'kustomization.yaml').click()",
    );
    page.evaluate("document.querySelector('#editor .cm-content').focus()");
    // The editor itself selects all: it would see a selection of the browser later.
    let all = json!({"type": "keyDown", "key": "a", "code": "KeyA", "modifiers": 2, "windowsVirtualKeyCode": 65});
    page.send("Input.dispatchKeyEvent", all);
    page.send("Input.insertText", json!({"text": "resources: [settings.yaml]"}));
    settled(&mut page, "/Built/");
    assert!(output(&mut page).contains("name: settings"));
}

#[test]
fn every_example_of_the_reference_opens() {
    let Some(mut page) = open("", (800, 900)) else { return };
    let names = page.evaluate("[...document.querySelectorAll('#example option')].map(option => option.value)");
    let names: Vec<String> = names.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    assert!(names.len() > 60, "{names:?}");
    let mut faulty = Vec::new();
    for name in names.iter().filter(|name| !name.starts_with("codes/")) {
        if !go(&mut page, &format!("example={name}"), "/Built|error/").starts_with("Built") {
            faulty.push(name.clone());
        }
    }
    assert_eq!(faulty, Vec::<String>::new());
}

#[test]
fn a_shared_tree_is_the_same_tree() {
    let Some(mut page) = open("", (390, 844)) else { return };
    let tree = json!({"files": {"kustomization.yaml": "namePrefix: ä-\nresources: [a.yaml]\n", "a.yaml": "apiVersion: v1\nkind: A\nmetadata: {name: a}\n"}, "root": "."});
    let shared = fragment(&mut page, &tree);
    go(&mut page, &shared, "/Built/");
    assert!(output(&mut page).contains("name: ä-a"));
    page.evaluate("document.getElementById('share').click()");
    settled(&mut page, "/address/");
    let again = page.text("location.hash.slice(1)");
    go(&mut page, "example=start", "/Built/");
    go(&mut page, &again, "/Built/");
    assert!(output(&mut page).contains("name: ä-a"));
}

#[test]
fn a_hostile_fragment_does_not_stop_the_page() {
    let Some(mut page) = open("", (1440, 900)) else { return };
    let bomb: String =
        (1..40).map(|i| format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 9].join(", "))).collect();
    let head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    let trees = [
        format!("{head}a0: &a0 [x]\n{bomb}"),
        format!("{head}data: {}", "[".repeat(900_000)),
        "- ".repeat(450_000),
        "&a ".repeat(300_000),
        format!("{head}data:\n{}", "  k: v\n".repeat(120_000)),
        "x".repeat(990_000),
        "\u{1b}[2J<img src=x onerror=alert(1)>".repeat(20_000),
    ];
    for text in trees {
        let tree = json!({"files": {"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": text}, "root": "."});
        let hostile = fragment(&mut page, &tree);
        go(&mut page, &hostile, "/Built|error/");
        page.evaluate(
            "{ [...document.querySelectorAll('#files button')].find(b => b.textContent === 'a.yaml')?.click(); }",
        );
        assert_eq!(page.evaluate("1 + 1"), 2);
        assert_eq!(page.evaluate("document.querySelectorAll('img[src]').length"), 0);
    }
    for broken in
        ["t=", "t=%", "t=AAAA", "example=%", "example=__proto__", "nothing", &format!("t={}", "A".repeat(1_100_000))]
    {
        let pattern = if broken.starts_with("t=") || broken == "example=%" { "/no tree/" } else { "/Built/" };
        go(&mut page, broken, pattern);
    }
    // A bomb of the compression.
    let zeros = json!({"files": {"a": "0".repeat(3_000_000)}});
    let hostile = fragment(&mut page, &zeros);
    go(&mut page, &hostile, "/no tree: the tree has more than 1000000 bytes/");
}

/// The control that has the focus: its id or text, or the part of the page that an editor is in.
fn focused(page: &mut Page) -> String {
    page.text(
        "(() => { const e = document.activeElement; \
         return e.classList.contains('cm-content') ? `${e.closest('[id]').id} text` : e.id || e.textContent; })()",
    )
}

/// Presses Tab until a control has the focus. Gives the controls on the way.
#[track_caller]
fn tab_to(page: &mut Page, wanted: &str) -> Vec<String> {
    let mut passed = Vec::new();
    while passed.len() < 40 {
        page.press("Tab");
        passed.push(focused(page));
        if passed.last().is_some_and(|name| name == wanted) {
            return passed;
        }
    }
    panic!("Tab does not lead to {wanted}: {passed:#?}");
}

#[test]
fn a_tree_is_edited_built_explained_and_shared_by_keys_alone() {
    let Some(mut page) = open("", (1440, 900)) else { return };
    let before = tab_to(&mut page, "editor text");
    let files = ["base/deployment.yaml", "base/kustomization.yaml", "overlays/prod/kustomization.yaml"];
    let at = |name: &str| before.iter().position(|passed| passed.contains(name));
    let order = [&["example", "root", "share", "theme"], &files[..], &["add", "rename", "remove"]].concat();
    let places: Vec<_> = order.iter().map(|name| at(name).unwrap_or_else(|| panic!("{name}: {before:#?}"))).collect();
    assert!(places.is_sorted(), "{before:#?}");
    // A comment is typed, and the next Tab leaves the editor.
    for key in ["#", "!", "Enter"] {
        page.press(key);
    }
    settled(&mut page, "/Built/");
    assert_eq!(tab_to(&mut page, "output text"), ["tab-output", "output text"]);
    assert_eq!(page.text("document.querySelector('#editor .cm-line').textContent"), "#!");
    // Enter explains the line of the cursor: the second line names the kind.
    page.press("ArrowDown");
    page.press("Enter");
    page.text(
        "new Promise(done => { const look = () => { const panel = document.getElementById('explain'); \
         !panel.hidden && panel.querySelector('.place') ? done(panel.textContent) : setTimeout(look, 20); }; look(); })",
    );
    tab_to(&mut page, "share");
    page.press("Enter");
    settled(&mut page, "/address/");
    let shared = page.text("location.hash.slice(1)");
    assert!(shared.starts_with("t="), "{shared}");
    let Some(mut copy) = open(&shared, (1440, 900)) else { return };
    settled(&mut copy, "/Built/");
    assert_eq!(copy.text("document.querySelector('#editor .cm-line').textContent"), "#!");
}

/// Each control can be reached and named, and nothing is wider than the window.
#[test]
fn the_page_fits_and_has_names_for_everything() {
    for (width, height) in [(1440, 900), (800, 900), (390, 844)] {
        let Some(mut page) = open("", (width, height)) else { return };
        page.send(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}),
        );
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
        assert_eq!(page.evaluate("document.documentElement.scrollWidth"), width, "{width}");
        let nameless = page.evaluate(
            "[...document.querySelectorAll('button, select, input, [role=textbox]')].filter(e => !(e.textContent.trim() || e.labels?.length || e.getAttribute('aria-label'))).length",
        );
        assert_eq!(nameless, 0);
        let pictures = std::env::var_os("RUSTOMIZE_PICTURES").map(PathBuf::from);
        for theme in ["light", "dark"] {
            page.evaluate(&format!("{{ document.documentElement.dataset.theme = '{theme}'; }}"));
            let contrast = page.evaluate("(() => { const rgb = c => c.match(/\\d+/g).slice(0, 3).map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); const light = c => { const [r, g, b] = rgb(c); return 0.2126 * r + 0.7152 * g + 0.0722 * b; }; const style = getComputedStyle(document.getElementById('status')); const [a, b] = [light(style.color), light(getComputedStyle(document.querySelector('header')).backgroundColor)].sort((x, y) => y - x); return (a + 0.05) / (b + 0.05); })()");
            assert!(contrast.as_f64().unwrap() >= 4.5, "{theme}: {contrast}");
            if let Some(folder) = &pictures {
                let shot = page.send("Page.captureScreenshot", json!({"format": "png"}));
                use base64::Engine;
                let bytes = base64::engine::general_purpose::STANDARD.decode(shot["data"].as_str().unwrap()).unwrap();
                std::fs::write(folder.join(format!("playground-{width}-{theme}.png")), bytes).unwrap();
            }
        }
    }
}
