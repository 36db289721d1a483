/* What a program under wine needs beside it. Rust's standard library asks this library for random
   bytes, and wine has it since version 9. Wine takes the home and the place for temporary files
   from its registry, and puts directories of its own into PATH: when the program starts, the
   library sets those of the tests. */
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T count) {
    return RtlGenRandom(bytes, count);
}

/* Moves the value of a variable to others. Children keep what their parent decides for them. */
static void move(const char *from, const char *const *to) {
    char value[4096];
    DWORD length = GetEnvironmentVariableA(from, value, sizeof value);
    if (length == 0 || length >= sizeof value) return;
    for (; *to; to++) SetEnvironmentVariableA(*to, value);
    SetEnvironmentVariableA(from, NULL);
}

BOOL WINAPI DllMain(HINSTANCE library, DWORD reason, LPVOID reserved) {
    static const char *const home[] = {"HOME", "USERPROFILE", NULL};
    static const char *const roaming[] = {"APPDATA", NULL};
    static const char *const local[] = {"LOCALAPPDATA", NULL};
    static const char *const temporary[] = {"TEMP", "TMP", NULL};
    static const char *const path[] = {"PATH", NULL};
    (void)library, (void)reserved;
    if (reason == DLL_PROCESS_ATTACH) {
        move("UNDER_WINE_HOME", home);
        move("UNDER_WINE_APPDATA", roaming);
        move("UNDER_WINE_LOCALAPPDATA", local);
        move("UNDER_WINE_TEMP", temporary);
        move("UNDER_WINE_PATH", path);
    }
    return TRUE;
}
