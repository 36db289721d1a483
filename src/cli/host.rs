//! The host of builds and installations: this process and its user, and the children of this
//! process.

use crate::progress::StderrProgress;
use crate::variable::variable;
use crate::{plugin_host, signals, status_line, writer};
use rustomize_base::host::{Host, Progress};
use rustomize_manager::policy::Policy;
use rustomize_process::Children;
use rustomize_sources::client::token_variable;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// This process: its environment, and its terminal.
#[derive(Debug, Default)]
struct ThisProcess {
    /// The answers of the user by question: roots of one command share their plugins.
    answers: Mutex<BTreeMap<String, bool>>,
}

/// The host of this process.
pub(super) fn host() -> Arc<dyn Host> {
    static HOST: LazyLock<Arc<ThisProcess>> = LazyLock::new(Arc::default);
    Arc::clone(&*HOST) as Arc<dyn Host>
}

/// All children of this process. Before the first one is started, a thread begins to wait for
/// signals: without plugins and their configurations a signal has nothing to clean up.
pub(super) fn children() -> &'static Children {
    static ALL: LazyLock<Children> = LazyLock::new(|| Children::of_process(host()));
    &ALL
}

impl Host for ThisProcess {
    fn variable(&self, name: &str) -> Option<OsString> {
        variable(name)
    }

    fn token(&self, server: &str) -> Option<String> {
        variable(&token_variable(server)?)?.into_string().ok()
    }

    fn password(&self, question: &str) -> Option<String> {
        rpassword::prompt_password(question).ok()
    }

    fn confirms(&self, question: &str) -> bool {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = answers.get(question) {
            return *answer;
        }
        let stdin = std::io::stdin();
        let is_ci = variable("CI").is_some_and(|value| Policy::is_ci(&value.to_string_lossy()));
        if is_ci || !stdin.is_terminal() || !writer::stderr_is_terminal() {
            return false;
        }
        status_line::end();
        writer::ask(question);
        let mut line = String::new();
        let is_read = stdin.read_line(&mut line).is_ok();
        let answer = is_read && matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes");
        answers.insert(question.to_owned(), answer);
        answer
    }

    fn say(&self, text: &str) {
        writer::say(text);
    }

    fn relay(&self, bytes: &[u8]) {
        writer::relay(bytes);
    }

    fn progress(&self) -> Arc<dyn Progress> {
        status_line::end();
        Arc::new(StderrProgress::new())
    }

    fn helper(&self) -> Option<PathBuf> {
        plugin_host::program()
    }

    fn prepare_for_children(&self) {
        if let Err(e) = signals::end_with_signals(|| children().end()) {
            writer::say(&format!("Warning: Ctrl-C will not clean up: {e}"));
        }
    }
}
