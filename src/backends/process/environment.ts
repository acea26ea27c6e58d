/** Environment variables of every inference process: folders, libraries and locale. No keys and no tokens. */
const NEEDED = [
  ...["HOME", "XDG_CACHE_HOME", "TMPDIR", "TMP", "TEMP", "PATH", "LANG", "LC_ALL", "TZ"],
  ...["LD_LIBRARY_PATH", "LD_PRELOAD", "DYLD_LIBRARY_PATH"],
  ...["SystemRoot", "SystemDrive", "USERPROFILE", "LOCALAPPDATA", "APPDATA", "PATHEXT"],
];

/**
 * When glibc's allocator returns memory to the system, unless the operator sets these variables. By default it raises the
 * thresholds at run time and keeps the memory of large tensors. With these, tensors from 512 KiB on, such as the keys and
 * values of cached states, have their own pages, which are returned as soon as they are freed. Other allocators ignore
 * these variables.
 */
const ALLOCATOR = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: String(512 * 2 ** 10), // bytes
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
