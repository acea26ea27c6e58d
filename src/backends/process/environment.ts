/** What a process that computes may know: where folders and libraries are, and how allocators are to behave. No key, no token. */
const NEEDED = [
  ...["HOME", "XDG_CACHE_HOME", "TMPDIR", "TMP", "TEMP", "PATH", "LANG", "LC_ALL", "TZ"],
  ...["LD_LIBRARY_PATH", "LD_PRELOAD", "DYLD_LIBRARY_PATH"],
  ...["SystemRoot", "SystemDrive", "USERPROFILE", "LOCALAPPDATA", "APPDATA", "PATHEXT"],
];

/**
 * How glibc's allocator hands memory back to the system, unless the operator says otherwise. Without the thresholds it raises them by
 * itself, and keeps what large tensors leave behind. Keys and values of cached states come and go one by one: from 512 KiB on they have
 * pages of their own, which are given back at once. Other allocators ignore these variables.
 */
const ALLOCATOR = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: String(512 * 2 ** 10), // bytes
  MALLOC_TRIM_THRESHOLD_: String(32 * 2 ** 20), // bytes
} as const;

/**
 * The environment of a process that computes. `MALLOC_*` and `MIMALLOC_*`, `GLIBC_TUNABLES` tune allocators.
 *
 * @param isNeeded whether it needs a further variable
 */
export function environmentOf(
  env: NodeJS.ProcessEnv,
  isNeeded: (name: string) => boolean,
): NodeJS.ProcessEnv {
  const isKept = (name: string) =>
    NEEDED.includes(name) || /^(MALLOC_|MIMALLOC_|GLIBC_TUNABLES$)/.test(name) || isNeeded(name);
  return { ...ALLOCATOR, ...Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name))) };
}
