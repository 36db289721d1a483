// The program that stands for Python in a virtual environment of Windows: it runs the python.exe of
// the directory that pyvenv.cfg names as 'home', and tells it where it was started.
#include <stdio.h>
#include <wchar.h>
#include <windows.h>

int wmain(void) {
    static wchar_t own[4096], line[4096], program[4200];
    GetModuleFileNameW(NULL, own, 4096);
    // The environment is two names up: its Scripts\python.exe is this program.
    wcscpy(program, own);
    *wcsrchr(program, L'\\') = 0;
    *wcsrchr(program, L'\\') = 0;
    wcscat(program, L"\\pyvenv.cfg");
    FILE *settings = _wfopen(program, L"r, ccs=UTF-8");
    program[0] = 0;
    while (settings && fgetws(line, 4096, settings))
        if (!wcsncmp(line, L"home = ", 7)) {
            line[wcscspn(line, L"\r\n")] = 0;
            swprintf(program, 4200, L"%ls\\python.exe", line + 7);
        }
    SetEnvironmentVariableW(L"__PYVENV_LAUNCHER__", own);
    STARTUPINFOW start = {.cb = sizeof start};
    PROCESS_INFORMATION process;
    if (!CreateProcessW(program, GetCommandLineW(), NULL, NULL, TRUE, 0, NULL, NULL, &start, &process)) return 101;
    DWORD status = 102;
    WaitForSingleObject(process.hProcess, INFINITE);
    GetExitCodeProcess(process.hProcess, &status);
    return status;
}
