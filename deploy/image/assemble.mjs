// Makes the image's layers from a built checkout: `node deploy/image/assemble.mjs FOLDER SBOM`. Run by the
// Containerfile.
//
//   FOLDER/system Node.js, the libraries that it and the native modules load, users, what Debian knows of these
//   libraries FOLDER/model the embedded model FOLDER/modules dependencies, without what other platforms use FOLDER/code
//   the package, the health check and the list of components (CycloneDX)
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";

const [target, npmSbom] = process.argv.slice(2);
const root = path.join(import.meta.dirname, "../..");
const modules = path.join(root, "node_modules");
const manifest = readJson(path.join(root, "package.json"));
const layer = (name, ...rest) => path.join(target, name, ...rest);
const tool = (command, ...args) => execFileSync(command, args, { encoding: "utf8" });

removeOtherPlatforms();
removeUnread();
const packages = copySystem();
copyApp();
writeSbom(packages);

/** Native modules of other systems and processors. */
function removeOtherPlatforms() {
  const runtimes = path.join(modules, "onnxruntime-node/bin");
  for (const version of readdirSync(runtimes)) {
    keepOnly(path.join(runtimes, version), process.platform);
    keepOnly(path.join(runtimes, version, process.platform), process.arch);
  }
  const tokenizers = path.join(modules, "tokenizers");
  const own = `tokenizers.${process.platform}-${process.arch}-gnu.node`;
  if (!existsSync(path.join(tokenizers, own))) throw new Error(`there is no ${own}`);
  for (const file of readdirSync(tokenizers)) {
    if (file.endsWith(".node") && file !== own) rmSync(path.join(tokenizers, file));
  }
}

function keepOnly(folder, name) {
  if (!existsSync(path.join(folder, name))) throw new Error(`there is no ${name} in ${folder}`);
  for (const other of readdirSync(folder)) {
    if (other !== name) rmSync(path.join(folder, other), { recursive: true });
  }
}

/**
 * Files that no program reads: types, source maps, texts for people, tests, and the builds for bundlers, which Node.js
 * never takes.
 */
function removeUnread() {
  for (const entry of readdirSync(modules, { recursive: true, withFileTypes: true })) {
    const isText =
      /\.(md|markdown|ya?ml)$/i.test(entry.name) && !/^(licen[cs]e|notice|copying)/i.test(entry.name);
    const isUnread = isText || /\.(map|[cm]?ts|tsbuildinfo)$/.test(entry.name);
    if (entry.isFile() && isUnread) rmSync(path.join(entry.parentPath, entry.name));
  }
  for (const folder of packageFolders(modules)) {
    for (const name of [
      "test",
      "tests",
      "__tests__",
      "benchmark",
      "benchmarks",
      "bench",
      "examples",
      ".github",
    ]) {
      rmSync(path.join(folder, name), { recursive: true, force: true });
    }
    if (!folder.includes("@opentelemetry")) continue;
    for (const build of ["esm", "esnext"]) {
      rmSync(path.join(folder, "build", build), { recursive: true, force: true });
    }
  }
  rmSync(path.join(modules, ".bin"), { recursive: true, force: true });
}

/** Folders of all packages, also those inside others. */
function packageFolders(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const inner = path.join(folder, name);
    if (name.startsWith("@")) return packageFolders(inner);
    return name.startsWith(".") ? [] : [inner, ...packageFolders(path.join(inner, "node_modules"))];
  });
}

/** @returns the names of the Debian packages that the copied libraries come from */
function copySystem() {
  const node = layer("system/usr/local/bin/node");
  copy(process.execPath, node);
  tool("strip", "--strip-all", node);
  const license = path.join(path.dirname(process.execPath), "../LICENSE");
  if (existsSync(license)) copy(license, layer("system/usr/local/LICENSE"));
  // as in Debian, where /lib is a link
  for (const name of ["lib", "lib64"]) symlinkSync(`usr/${name}`, layer("system", name));
  const native = readdirSync(modules, { recursive: true }).filter((file) =>
    /\.(node|so(\.\d+)*)$/.test(file),
  );
  const programs = [process.execPath, ...native.map((file) => path.join(modules, file))];
  const libraries = [...new Set(programs.flatMap(librariesOf))];
  for (const library of libraries) {
    // the link's name, in the folder that it really is in
    const place = path.join(realpathSync(path.dirname(library)), path.basename(library));
    copy(realpathSync(library), layer("system", place));
  }
  const names = [...new Set([...libraries.map(packageOf), "base-files"])].sort();
  for (const name of names) {
    // where scanners look for packages in images without a package manager
    write(layer("system/var/lib/dpkg/status.d", name), tool("dpkg-query", "--status", name));
    const copyright = path.join("/usr/share/doc", name, "copyright");
    if (existsSync(copyright)) copy(copyright, layer("system", copyright));
  }
  copy(realpathSync("/etc/os-release"), layer("system/etc/os-release"));
  write(layer("system/etc/passwd"), "root:x:0:0::/:/none\ndecision:x:10001:10001::/tmp:/none\n");
  write(layer("system/etc/group"), "root:x:0:\ndecision:x:10001:\n");
  mkdirSync(layer("system/tmp"));
  tool("chmod", "1777", layer("system/tmp"));
  mkdirSync(layer("system/var/lib/typed-decisions"), { recursive: true });
  return names;
}

/** Paths of the system's libraries that a program loads. */
function librariesOf(program) {
  return [...tool("ldd", program).matchAll(/\s(\/(?:usr\/)?lib\S*) \(0x/g)].map(([, library]) => library);
}

/** Debian's list has some files at their old place, before /lib became a link. */
function packageOf(library) {
  const real = realpathSync(library);
  for (const file of [real, real.replace(/^\/usr/, "")]) {
    try {
      return /^[^:,\s]+/.exec(
        execFileSync("dpkg-query", ["--search", file], { encoding: "utf8", stdio: "pipe" }),
      )[0];
    } catch {} // not at this place
  }
  throw new Error(`no package has ${real}`);
}

function copyApp() {
  copy(modules, layer("modules/app/node_modules"));
  const packed = JSON.parse(tool("npm", "pack", "--dry-run", "--json", "--ignore-scripts"))[0].files;
  for (const { path: file } of packed) {
    if (/\.(map|d\.ts)$/.test(file)) continue;
    copy(path.join(root, file), layer(file.startsWith("model/") ? "model" : "code", "app", file));
  }
  copy(path.join(import.meta.dirname, "healthcheck.mjs"), layer("code/app/healthcheck.mjs"));
}

/** npm's list of components, with Node.js, Debian's packages and the model. */
function writeSbom(packages) {
  const sbom = readJson(npmSbom);
  const debian = packages.map((name) => {
    const status = tool("dpkg-query", "--status", name);
    const [version, arch] = ["Version", "Architecture"].map(
      (field) => new RegExp(`^${field}: (.*)$`, "m").exec(status)[1],
    );
    const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${arch}`;
    return { "bom-ref": purl, type: "library", name, version, purl };
  });
  const node = process.version.slice(1);
  const [model, revision] = readJson(path.join(root, "model/manifest.json")).id.split("@");
  sbom.components.push(
    {
      "bom-ref": `node@${node}`,
      type: "application",
      name: "node",
      version: node,
      purl: `pkg:generic/node@${node}`,
    },
    { "bom-ref": `${model}@${revision}`, type: "machine-learning-model", name: model, version: revision },
    ...debian,
  );
  write(layer("code/app/sbom.cdx.json"), `${JSON.stringify(sbom, null, 1)}\n`);
  console.log(`${manifest.name} ${manifest.version}: ${sbom.components.length} components`);
}

function copy(from, to) {
  mkdirSync(path.dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true, dereference: false, verbatimSymlinks: true });
}

function write(file, text) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}
