//! A real browser that a test drives: Chromium, without a window.

use crate::support::{in_path, skip};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// A page in a browser, which speaks Chrome's protocol for developers over pipes.
pub struct Page {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The number of the last command.
    last: u64,
    /// The browser's name for the page; empty until the page is open.
    session: String,
    /// The browser's own files.
    _profile: TempDir,
}

impl Page {
    /// Opens a file in a window of a size; `None` on a machine without a browser, where the test is
    /// skipped.
    pub fn open(file: &Path, (width, height): (u32, u32)) -> Option<Page> {
        let Some(browser) = ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(in_path) else {
            skip("this machine has no Chromium");
            return None;
        };
        let profile = TempDir::new().unwrap();
        // The browser has the pipes as descriptors 3 and 4. A browser that hangs is ended.
        #[expect(clippy::disallowed_methods, reason = "the browser")]
        let mut child = Command::new("sh")
            .args(["-c", "exec timeout 300 \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1"])
            .arg(browser)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(format!("--window-size={width},{height}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut page = Page { child, input, output, last: 0, session: String::new(), _profile: profile };
        let target = page.send("Target.createTarget", json!({"url": "about:blank"}));
        let attached = page.send("Target.attachToTarget", json!({"targetId": target["targetId"], "flatten": true}));
        page.session = attached["sessionId"].as_str().unwrap().to_owned();
        page.send("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        page.evaluate(
            "new Promise(done => document.readyState === 'complete' ? done(1) : addEventListener('load', () => done(1)))",
        );
        Some(page)
    }

    /// Sends a command, and gives its result.
    #[track_caller]
    pub fn send(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        self.input.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut bytes = Vec::new();
            self.output.read_until(0, &mut bytes).unwrap();
            assert!(bytes.pop().is_some(), "the browser has ended");
            let answer: Value = serde_json::from_slice(&bytes).unwrap();
            if answer["id"] == self.last {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
        }
    }

    /// The value of an expression in the page.
    #[track_caller]
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let result = self.send("Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].clone()
    }

    /// As [`Page::evaluate`], for a text.
    #[track_caller]
    pub fn text(&mut self, expression: &str) -> String {
        let value = self.evaluate(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression}: {value}")).to_owned()
    }

    /// Presses a key, which types a text if it is one character.
    #[track_caller]
    pub fn press(&mut self, key: &str) {
        let mut parameters = json!({"type": "keyDown", "key": key, "code": key});
        match key {
            // Chromium moves the focus, and presses buttons, by these numbers.
            "Tab" => parameters["windowsVirtualKeyCode"] = 9.into(),
            "Enter" => parameters["windowsVirtualKeyCode"] = 13.into(),
            _ => {}
        }
        if key == "Enter" {
            parameters["text"] = "\r".into();
        } else if key.chars().count() == 1 {
            parameters["text"] = key.into();
        }
        self.send("Input.dispatchKeyEvent", parameters.clone());
        parameters["type"] = "keyUp".into();
        self.send("Input.dispatchKeyEvent", parameters);
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // `timeout` hands its end on.
        #[expect(clippy::disallowed_methods, reason = "the browser")]
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}
