// Cuts GitHub's description of its interface to what package forge uses: node cut.js api.github.com.json, a file of the
// npm package @octokit/openapi, writes testdata/github.json.gz.
"use strict";
const fs = require("fs");
const path = require("path");
const zlib = require("zlib");

const repo = "/repos/{owner}/{repo}";
const used = {
  "/user": ["get"],
  [repo + "/pulls"]: ["get", "post"],
  [repo + "/pulls/{pull_number}"]: ["get", "patch"],
  [repo + "/pulls/{pull_number}/reviews"]: ["get"],
  [repo + "/pulls/{pull_number}/comments"]: ["get"],
  [repo + "/pulls/{pull_number}/requested_reviewers"]: ["post"],
  [repo + "/commits/{ref}/check-runs"]: ["get"],
  [repo + "/check-runs/{check_run_id}/annotations"]: ["get"],
  [repo + "/actions/jobs/{job_id}"]: ["get"],
  [repo + "/actions/jobs/{job_id}/logs"]: ["get"],
  [repo + "/commits/{ref}/status"]: ["get"],
  [repo + "/issues/{issue_number}"]: ["get"],
  [repo + "/issues/{issue_number}/comments"]: ["get", "post"],
  [repo + "/issues/{issue_number}/labels"]: ["post"],
  [repo + "/issues/comments/{comment_id}"]: ["patch"],
};
const whole = JSON.parse(fs.readFileSync(process.argv[2]));
const prose = new Set(["description", "summary", "example", "examples", "externalDocs", "tags", "operationId", "x-github"]);

// bare removes prose, but no property that is called like it.
function bare(v, names) {
  if (Array.isArray(v)) return v.map((e) => bare(e));
  if (v === null || typeof v !== "object") return v;
  const out = {};
  for (const [k, e] of Object.entries(v)) if (names || !prose.has(k)) out[k] = bare(e, k === "properties" && !names);
  return out;
}
const cut = { openapi: whole.openapi, info: { title: "GitHub", version: whole.info.version, license: whole.info.license }, paths: {}, components: {} };
const add = (v) => {
  for (const m of JSON.stringify(v).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
    const of = (cut.components[m[1]] ??= {});
    if (m[2] in of) continue;
    of[m[2]] = bare(whole.components[m[1]][m[2]]);
    add(of[m[2]]);
  }
};
for (const [p, methods] of Object.entries(used)) {
  cut.paths[p] = {};
  for (const m of methods) add((cut.paths[p][m] = { responses: {}, ...bare(whole.paths[p][m]) }));
}
for (const item of Object.values(cut.paths)) for (const op of Object.values(item)) for (const r of Object.values(op.responses)) if (!r.$ref) r.description = "";
for (const r of Object.values(cut.components.responses || {})) r.description = "";
const to = path.join(__dirname, "testdata", "github.json.gz");
fs.writeFileSync(to, zlib.gzipSync(JSON.stringify(cut), { level: 9 }));
console.log(JSON.stringify(cut).length, "bytes,", fs.statSync(to).size, "packed,", Object.keys(cut.components.schemas).length, "schemas");
