/** Environment variables of every inference process: folders, libraries and locale. No keys and no tokens. */
const NEEDED = [
  ...["HOME", "XDG_CACHE_HOME", "TMPDIR", "TMP", "TEMP", "PATH", "LANG", "LC_ALL", "TZ"],
  ...["LD_LIBRARY_PATH", "LD_PRELOAD", "DYLD_LIBRARY_PATH"],
  ...["SystemRoot", "SystemDrive", "USERPROFILE", "LOCALAPPDATA", "APPDATA", "PATHEXT"],
];

/**
 * How glibc's allocator keeps memory, unless the operator sets these variables. Other allocators ignore them. All
 * threads share one heap; only the thread of small forwards has tensors in a heap of the runtime. The shared heap takes
 * tensors of up to 16 MiB and returns its end to the system as soon as 32 MiB of it are free. With larger thresholds it keeps
 * more memory. With smaller ones the system has to clear the same pages again and again: docs/performance.md has the
 * figures.
 */
const ALLOCATOR = {
  MALLOC_ARENA_MAX: "1",
  MALLOC_MMAP_THRESHOLD_: String(16 * 2 ** 20), // bytes
  MALLOC_TRIM_THRESHOLD_: String(32 * 2 ** 20), // bytes
} as const;

/**
 * The environment of an inference process. The variables of allocators (`MALLOC_*`, `MIMALLOC_*`, `GLIBC_TUNABLES`) are
 * passed on.
 *
 * @param isNeeded whether the process needs another variable, by its name
 */
export function environmentOf(
  env: NodeJS.ProcessEnv,
  isNeeded: (name: string) => boolean,
): NodeJS.ProcessEnv {
  const isKept = (name: string) =>
    NEEDED.includes(name) || /^(MALLOC_|MIMALLOC_|GLIBC_TUNABLES$)/.test(name) || isNeeded(name);
  return { ...ALLOCATOR, ...Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name))) };
}
