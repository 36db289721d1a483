//! The console of Windows, under wine: its keys, its end, its colours and its lines.

use super::{GENERATOR, compile, compile_with, is_windows, processes_with, z};
use crate::support::{Tree, skip};
use std::fs;
use std::time::Duration;

/// A program that starts another one, whose words it is called with, and goes on when that one has
/// made the file `started`. The other one's stdout is the file `stdout`, and its stderr the file
/// `stderr`.
///
/// The console sends Ctrl-C to all of its processes, which need a console for that. The system
/// calls other handlers in a process by a thread that it makes there. Wine has no key for
/// Ctrl-Break and no console that ends, so this program makes the thread as the system does. It
/// ends a process whose handler returns from another event than a key, as the system does.
const CALLER: &str = r#"
    static BOOL WINAPI ignores(DWORD event) { return TRUE; }
    static HANDLE inherited(const char *name) {
        SECURITY_ATTRIBUTES is = {.nLength = sizeof is, .bInheritHandle = TRUE};
        DWORD shared = FILE_SHARE_READ | FILE_SHARE_WRITE;
        return CreateFileA(name, GENERIC_READ | GENERIC_WRITE, shared, &is, CREATE_ALWAYS, 0, NULL);
    }
    int main(int argc, char **argv) {
        char line[9999] = "";
        for (int i = 1; i < argc; i++) sprintf(line + strlen(line), "\"%s\" ", argv[i]);
        STARTUPINFOA start = {.cb = sizeof start, .dwFlags = STARTF_USESTDHANDLES};
        start.hStdOutput = inherited("stdout");
        start.hStdError = inherited("stderr");
        PROCESS_INFORMATION started;
        SetConsoleCtrlHandler(ignores, TRUE);
        if (!CreateProcessA(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &started)) return 91;
        HANDLE process = started.hProcess, thread = process;
        while (GetFileAttributesA("started") == INVALID_FILE_ATTRIBUTES)
            if (WaitForSingleObject(process, 20) != WAIT_TIMEOUT) return 92;
        if (EVENT == CTRL_C_EVENT) {
            if (!GenerateConsoleCtrlEvent(EVENT, 0)) return 93;
        } else {
            void *routine = GetProcAddress(GetModuleHandleA("kernelbase"), "CtrlRoutine");
            thread = CreateRemoteThread(process, NULL, 0, routine, (void *)(size_t)EVENT, 0, NULL);
            if (!thread) return 94;
        }
        DWORD status;
        WaitForSingleObject(thread, INFINITE);
        if (EVENT > CTRL_BREAK_EVENT && GetExitCodeThread(thread, &status) && status == TRUE)
            TerminateProcess(process, 95);
        WaitForSingleObject(process, INFINITE);
        GetExitCodeProcess(process, &status);
        return status;
    }
"#;

/// The statements of a plugin that sleeps for minutes, as does a process that it starts. It has a
/// file of the build open for itself, whose path it writes to the file `started`.
const SLEEPS: &str = r#"
    if (argc > 1 && !strcmp(argv[1], "linger")) { Sleep(600000); return 0; }
    char line[999];
    snprintf(line, sizeof line, "\"%s\" linger", argv[0]);
    STARTUPINFOA start = {.cb = sizeof start};
    PROCESS_INFORMATION process;
    if (!CreateProcessA(NULL, line, NULL, NULL, FALSE, 0, NULL, NULL, &start, &process)) return 7;
    if (CreateFileA(argv[1], GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL) == INVALID_HANDLE_VALUE) return 8;
    FILE *file = fopen("starts", "w");
    fputs(argv[1], file);
    fclose(file);
    rename("starts", "started");
    Sleep(600000);
"#;

/// A tree with a plugin of some statements, which the build of the tree runs.
fn tree_with_plugin(statements: &str) -> Tree {
    let tree = Tree::new(GENERATOR);
    let place = "../home/.config/kustomize/plugin/ex.io/v1/made";
    tree.write(&format!("{place}/README"), "");
    compile(&tree, &format!("{place}/Made.exe"), statements);
    tree
}

/// Lets a program of the tree start rustomize.
fn call_through(tree: &mut Tree, functions: &str, flags: &[&str]) {
    let caller = compile_with(tree, "../home/caller.exe", functions, flags);
    tree.variables.insert("UNDER_WINE_CALLER", z(&caller));
}

#[test]
fn every_event_of_a_console_ends_the_build_and_its_plugins() {
    if !is_windows() {
        return;
    }
    let mut tree = tree_with_plugin(SLEEPS);
    let own = tree.home().to_string_lossy().replace('/', "\\");
    for event in ["CTRL_C_EVENT", "CTRL_BREAK_EVENT", "CTRL_CLOSE_EVENT", "CTRL_LOGOFF_EVENT", "CTRL_SHUTDOWN_EVENT"] {
        call_through(&mut tree, CALLER, &[&format!("-DEVENT={event}")]);
        let ended = match event {
            "CTRL_C_EVENT" => tree.run_on_terminal("build --enable-alpha-plugins"),
            _ => Some(tree.run(&["build", "--enable-alpha-plugins"])),
        };
        let Some(ended) = ended else {
            skip("no program 'script'");
            continue;
        };
        let read = |name: &str| fs::read_to_string(tree.path().join(name)).unwrap();
        assert_eq!(ended.status, Some(130), "{event}: {}{}", ended.stdout, read("stderr"));
        assert_eq!(read("stdout"), "", "{event}");
        assert!(!read("stderr").contains("Error"), "{event}: {}", read("stderr"));
        let temporary = z(&tree.tmp());
        assert!(read("started").starts_with(&temporary), "{event}: {} is not in {temporary}", read("started"));
        tree.assert_nothing_left();
        // The plugin sleeps for minutes: if it is not ended, the test does not end either.
        while processes_with(&format!("{own}\\.config")) > 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
        fs::remove_file(tree.path().join("started")).unwrap();
    }
}

/// A program that types `KEYS` on its console, starts another one there, whose words it is
/// called with, and writes the mode of the console before and after it to the file `modes`. With
/// `-DAWAY` the other one's stdout is the file `stdout`.
const TYPES: &str = r#"
    #ifndef KEYS
    #define KEYS L""
    #endif
    int main(int argc, char **argv) {
        char line[9999] = "";
        for (int i = 1; i < argc; i++) sprintf(line + strlen(line), "\"%s\" ", argv[i]);
        for (const wchar_t *key = KEYS; *key; key++) {
            INPUT_RECORD typed = {.EventType = KEY_EVENT};
            typed.Event.KeyEvent.bKeyDown = TRUE;
            typed.Event.KeyEvent.wRepeatCount = 1;
            typed.Event.KeyEvent.uChar.UnicodeChar = *key;
            typed.Event.KeyEvent.wVirtualKeyCode = *key == '\r' ? VK_RETURN : 0;
            DWORD count;
            if (!WriteConsoleInputW(GetStdHandle(STD_INPUT_HANDLE), &typed, 1, &count)) return 91;
        }
        HANDLE console = GetStdHandle(STD_OUTPUT_HANDLE);
        STARTUPINFOA start = {.cb = sizeof start, .dwFlags = STARTF_USESTDHANDLES};
        start.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
        start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
        start.hStdOutput = console;
    #ifdef AWAY
        SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
        start.hStdOutput = CreateFileA("stdout", GENERIC_WRITE, 0, &inherited, CREATE_ALWAYS, 0, NULL);
    #endif
        DWORD before, after, status;
        PROCESS_INFORMATION started;
        if (!GetConsoleMode(console, &before)) return 92;
        if (!CreateProcessA(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &started)) return 93;
        WaitForSingleObject(started.hProcess, INFINITE);
        GetExitCodeProcess(started.hProcess, &status);
        GetConsoleMode(console, &after);
        FILE *modes = fopen("modes", "w");
        fprintf(modes, "%lu %lu", before, after);
        fclose(modes);
        return status;
    }
"#;

/// The statements of a plugin that fails, after it has written the mode of the console to the file
/// `mode`. It takes as long as a build must take for a line that shows its work.
const LOOKS: &str = r#"
    DWORD mode = 0;
    SECURITY_ATTRIBUTES is = {.nLength = sizeof is};
    DWORD shared = FILE_SHARE_READ | FILE_SHARE_WRITE;
    HANDLE console = CreateFileA("CONOUT$", GENERIC_READ | GENERIC_WRITE, shared, &is, OPEN_EXISTING, 0, NULL);
    if (!GetConsoleMode(console, &mode)) return 91;
    FILE *file = fopen("mode", "w");
    fprintf(file, "%lu", mode);
    fclose(file);
    Sleep(2000);
    return 3;
"#;

/// The flag of a console that shows colours.
const COLORS: u32 = 4;

/// The numbers in a file of the tree.
fn numbers(tree: &Tree, name: &str) -> Vec<u32> {
    let text = fs::read_to_string(tree.path().join(name)).unwrap();
    text.split(' ').map(|number| number.parse().unwrap()).collect()
}

#[test]
fn a_console_shows_colours_and_gets_its_mode_back() {
    if !is_windows() {
        return;
    }
    let mut tree = tree_with_plugin(LOOKS);
    for (flags, color) in [(&[][..], "auto"), (&["-DAWAY"], "auto"), (&[], "never")] {
        call_through(&mut tree, TYPES, flags);
        let Some(shown) = tree.run_on_terminal(&format!("build --enable-alpha-plugins --color {color}")) else {
            return skip("no program 'script'");
        };
        let shown = (shown.status, shown.stdout);
        assert_eq!(shown.0, Some(1), "{flags:?}: {}", shown.1);
        assert_eq!(shown.1.contains("\u{1b}[91mError"), color == "auto", "{flags:?}: {}", shown.1);
        assert!(shown.1.contains("running Made"), "{flags:?}: no line shows the work: {}", shown.1);
        let (during, modes) = (numbers(&tree, "mode")[0], numbers(&tree, "modes"));
        // The console of this machine's terminal begins without colours, as that of Windows does.
        assert_eq!((modes[0] & COLORS, during & COLORS), (0, COLORS), "{flags:?}");
        // The next program of a pipeline may rely on the colours of the same console.
        let is_alone = !flags.contains(&"-DAWAY");
        assert_eq!(modes[0] == modes[1], is_alone, "{flags:?}: {modes:?}");
    }
    tree.assert_nothing_left();
}

#[test]
fn a_console_is_read_by_lines() {
    if !is_windows() {
        return;
    }
    let files = "-- a/kustomization.yaml --\nimages: [{name: web, newTag: v2}]\n-- b/kustomization.yaml --\nimages: [{name: web, newTag: v1}]\n";
    let mut tree = Tree::new(files);
    let tag = |tree: &Tree| fs::read_to_string(tree.path().join("b/kustomization.yaml")).unwrap();
    for (keys, status, wants) in [("n\\r", 1, "newTag: v1"), ("y\\r", 0, "newTag: v2")] {
        call_through(&mut tree, TYPES, &[&format!("-DKEYS=L\"{keys}\"")]);
        let Some(asked) = tree.run_on_terminal("promote a b --color never") else {
            return skip("no program 'script'");
        };
        assert_eq!(asked.status, Some(status), "{}", asked.stdout);
        assert!(asked.stdout.contains("Write these lines?"), "{}", asked.stdout);
        assert!(tag(&tree).contains(wants), "{keys}: {}", tag(&tree));
    }
    // Ctrl-Z in a line of its own ends the input.
    let keys = r"apiVersion: v1\rkind: ConfigMap\rmetadata: {name: b\u00f6e}\r\x1a\r";
    call_through(&mut tree, TYPES, &["-DAWAY", &format!("-DKEYS=L\"{keys}\"")]);
    let read = tree.run_on_terminal("cfg cat").unwrap();
    assert_eq!(read.status, Some(0), "{}", read.stdout);
    let printed = fs::read_to_string(tree.path().join("stdout")).unwrap();
    assert_eq!(printed, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: böe}\n");
}
