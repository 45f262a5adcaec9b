// Makes the files of the npm packages: node npm/pack.js DIST VERSION, where GoReleaser has left its files. Each platform
// has a package with its programs; git-liza depends on all of them, optionally, and on exactly this version.
"use strict";
const { execFileSync } = require("child_process");
const fs = require("fs");
const path = require("path");

const [dist, version] = process.argv.slice(2);
const out = path.join(dist, "npm");
const main = JSON.parse(fs.readFileSync(path.join(__dirname, "package.json")));
main.version = version;
main.optionalDependencies = {};

function pack(manifest, files) {
  const dir = path.join(out, manifest.name.replace("/", "-"));
  for (const [to, [from, mode]] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(dir, to)), { recursive: true });
    fs.copyFileSync(from, path.join(dir, to));
    fs.chmodSync(path.join(dir, to), mode);
  }
  fs.writeFileSync(path.join(dir, "package.json"), JSON.stringify(manifest, null, 2) + "\n");
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", out, dir], { stdio: ["ignore", "ignore", "inherit"], shell: process.platform === "win32" });
  fs.rmSync(dir, { recursive: true });
}

fs.rmSync(out, { recursive: true, force: true });
fs.mkdirSync(out, { recursive: true });
const license = [path.join(__dirname, "..", "LICENSE"), 0o644];
const binaries = JSON.parse(fs.readFileSync(path.join(dist, "artifacts.json"))).filter((a) => a.type === "Binary");
const platforms = {};
for (const b of binaries) {
  const os = b.goos === "windows" ? "win32" : b.goos, cpu = b.goarch === "amd64" ? "x64" : b.goarch;
  platforms[`${os}-${cpu}`] ??= { os, cpu, files: { LICENSE: license } };
  platforms[`${os}-${cpu}`].files[`bin/${path.basename(b.path)}`] = [path.join(dist, "..", b.path), 0o755];
}
for (const [name, { os, cpu, files }] of Object.entries(platforms)) {
  const { license, homepage, repository } = main;
  pack({ name: `@git-liza/${name}`, version, description: `git-liza for ${name}`, license, homepage, repository, os: [os], cpu: [cpu], files: ["bin"] }, files);
  main.optionalDependencies[`@git-liza/${name}`] = version;
}
const pages = path.join(__dirname, "..", ".release", "man");
const man = {};
for (const page of fs.readdirSync(pages)) man[`man/${page}`] = [path.join(pages, page), 0o644];
main.man = Object.keys(man); // npm install -g links them
main.files.push("man");
const own = (name, mode) => [path.join(__dirname, name), mode];
pack(main, { LICENSE: license, ...man, "README.md": own("README.md", 0o644), "git-liza.js": own("git-liza.js", 0o755) });
