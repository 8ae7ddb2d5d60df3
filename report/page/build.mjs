// node build.mjs OUTPUT: bundles src/ and puts script and style into index.html, with a policy that names their digests, so that no
// other script and no other style can run. Warnings are errors.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const folder = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2];
if (!output) throw new Error("usage: node build.mjs OUTPUT");

async function bundled(entry, loader) {
  const result = await build({
    entryPoints: [join(folder, entry)],
    bundle: true,
    minify: true,
    write: false,
    format: loader === "js" ? "iife" : undefined,
    target: ["chrome109", "firefox115", "safari16"],
    legalComments: "none",
    charset: "ascii",
    logLevel: "error",
  });
  if (result.warnings.length > 0) throw new Error(JSON.stringify(result.warnings));
  const text = result.outputFiles[0].text.trim();
  if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${entry}: its bundle would end its element`);
  return text;
}

const digest = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
const script = await bundled("src/main.ts", "js");
const style = await bundled("src/style.css", "css");
const policy = [
  "default-src 'none'",
  `script-src ${digest(script)}`,
  `style-src ${digest(style)}`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
].join("; ");
let page = readFileSync(join(folder, "index.html"), "utf8");
for (const [place, text] of [["EVO_PAGE_POLICY", policy], ["EVO_PAGE_STYLE", style], ["EVO_PAGE_SCRIPT", script]]) {
  page = page.replace(place, () => text);
}
mkdirSync(dirname(output), { recursive: true });
writeFileSync(output, page);
