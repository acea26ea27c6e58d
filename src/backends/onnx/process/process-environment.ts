/** Keeps ONNX Runtime from sending and storing usage events, whatever the caller's environment says. */
export const NO_TELEMETRY = { ORT_DISABLE_TELEMETRY: "1" } as const;

/** What a process that computes may know: where folders and libraries are, and how Node and its allocator are to behave. No key, no token. */
const NEEDED = [
  ...["HOME", "XDG_CACHE_HOME", "TMPDIR", "TMP", "TEMP", "PATH", "LANG", "LC_ALL", "TZ"],
  ...["LD_LIBRARY_PATH", "LD_PRELOAD", "DYLD_LIBRARY_PATH", "NODE_OPTIONS", "NODE_V8_COVERAGE"],
  ...["SystemRoot", "SystemDrive", "USERPROFILE", "LOCALAPPDATA", "APPDATA", "PATHEXT"],
];

/**
 * How glibc's allocator hands memory back to the system, unless the operator says otherwise. Without the thresholds it raises them by
 * itself, and keeps what large tensors leave behind. Other allocators ignore these variables.
 */
const ALLOCATOR = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: String(8 * 2 ** 20), // bytes
  MALLOC_TRIM_THRESHOLD_: String(32 * 2 ** 20), // bytes
} as const;

/** The environment of a process that loads ONNX Runtime. `MALLOC_*` and `MIMALLOC_*`, `GLIBC_TUNABLES` tune allocators. */
export function processEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isNeeded = (name: string) =>
    NEEDED.includes(name) || /^(MALLOC_|MIMALLOC_|GLIBC_TUNABLES$)/.test(name);
  return {
    ...ALLOCATOR,
    ...Object.fromEntries(Object.entries(env).filter(([name]) => isNeeded(name))),
    ...NO_TELEMETRY,
  };
}
