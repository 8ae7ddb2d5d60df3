// node page_test.mjs CHROMIUM FOLDER BUILD: FOLDER has evo.html, hostile.html and evo.db of report_fixture.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";

const [chromium, folder, build] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const views = ["progress", "story", "differences", "cloud", "tree", "operators", "parameters", "roofline", "lanes", "check", "compare"];
const browser = await launch(chromium);

// Opens a page; afterwards `close` checks that it asked nobody (but `origin`), reported no error and ran nothing of the database.
async function open(url, { width = 1280, height = 900, scheme = "light", origin = null } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: "reduce" });
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && wrong.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error}`));
  page.on("dialog", (dialog) => (wrong.push("a dialog opened"), dialog.dismiss()));
  page.on("request", (request) => {
    const to = request.url();
    if (to !== url && !to.startsWith("data:") && !(origin && to.startsWith(origin))) wrong.push(`request: ${to}`);
  });
  await page.goto(url);
  await page.waitForSelector("#compare-body > *");
  return { page, close: async () => {
    assert.equal(await page.evaluate("window.hacked"), undefined, "a text of the database was run");
    assert.deepEqual(wrong, []);
    await context.close();
  } };
}

async function accessible(page, what) {
  const found = await page.evaluate(`${axe}; axe.run(document, { resultTypes: ["violations"] })`);
  const list = found.violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.html).join(" | ")}`);
  assert.deepEqual(list, [], `accessibility of ${what}`);
}

// How many pixels of a canvas are not its background.
const drawnPixels = (page, view) => page.$$eval(`#${view} canvas`, (all) => all.map((canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let drawn = 0;
  for (let i = 3; i < data.length; i += 4) drawn += data[i] > 0 ? 1 : 0;
  return drawn;
}));

const file = (name) => pathToFileURL(join(folder, name)).href;
const tests = {
  async everyViewIsDrawn() {
    const { page, close } = await open(file("evo.html"));
    await page.waitForTimeout(200);
    for (const view of views) {
      const body = await page.$eval(`#${view}-body`, (element) => ({ text: element.innerText, height: element.offsetHeight }));
      assert.ok(body.height > 20, view);
      // A message of the run says "y is NaN".
      assert.doesNotMatch(body.text.replaceAll("y is NaN", ""), /could not be drawn|undefined|NaN|\[object/, view);
    }
    for (const view of ["progress", "cloud", "roofline", "lanes", "compare"]) {
      for (const pixels of await drawnPixels(page, view)) assert.ok(pixels > 500, `${view} has a chart`);
    }
    assert.match(await page.innerText("#progress"), /PyTorch<\/script>|peer/);
    assert.match(await page.innerText("#check"), /held-out ok|verified/);
    assert.match(await page.innerText("#parameters"), /BLOCK/);
    assert.match(await page.innerText("#operators"), /parent bound by/i);
    assert.match(await page.innerText("#story"), /bound by (memory|arithmetic|latency)/);
    assert.match(await page.innerText("#progress"), /ceiling/);
    await close();
  },
  async clicksShowWhatTheyPromise() {
    const { page, close } = await open(file("evo.html"));
    assert.equal(await page.locator(".step").count(), 4);
    await page.locator(".step > summary").last().click();
    const changed = page.locator(".step").last();
    assert.match(await changed.locator("tr.removed").first().innerText(), /128/);
    assert.match(await changed.locator("tr.added").first().innerText(), /256/);
    await changed.getByRole("button", { name: "Candidate 6" }).click();
    assert.match(await page.innerText(".panel"), /Candidate 6[\s\S]*BLOCK=256/);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator(".panel").count(), 0);
    assert.match(await page.innerText("#differences"), /BLOCK 256|BLOCK 64/);
    await page.getByRole("button", { name: "Champion and its parent" }).click();
    assert.match(await page.innerText("#differences .removed"), /128/);
    await close();
  },
  async searchAndFilterWork() {
    const { page, close } = await open(file("evo.html"));
    const status = () => page.innerText("#cloud [role=status]");
    assert.match(await status(), /^7 of 7/);
    await page.keyboard.press("/");
    await page.keyboard.type("NaN");
    await page.waitForFunction(() => /^1 of 7/.test(document.querySelector("#cloud [role=status]").textContent));
    await page.fill("#cloud-search", "BLOCK=256");
    await page.waitForFunction(() => /^2 of 7/.test(document.querySelector("#cloud [role=status]").textContent));
    await page.fill("#cloud-search", "");
    await page.waitForFunction(() => /^7 of 7/.test(document.querySelector("#cloud [role=status]").textContent));
    await page.uncheck("input[data-outcome=ok]");
    assert.match(await status(), /^2 of 7/);
    await page.selectOption("#cloud-operator", "crossover");
    assert.match(await status(), /^1 of 7/);
    await page.locator("#cloud .scroll button.link").first().click();
    assert.match(await page.innerText(".panel"), /compile error/);
    await close();
  },
  async chartsAreUsedByKeys() {
    const { page, close } = await open(file("evo.html"));
    const canvas = page.locator("#cloud canvas");
    await canvas.focus();
    const before = await canvas.screenshot();
    await page.keyboard.press("+");
    await page.waitForTimeout(100);
    assert.notDeepEqual(await canvas.screenshot(), before, "zoomed");
    await page.keyboard.press("0");
    await page.waitForTimeout(100);
    assert.deepEqual(await canvas.screenshot(), before, "all again");
    const box = await canvas.boundingBox();
    // The champion is ringed; a click near a point opens the panel.
    const [x, y] = await canvas.evaluate((element, { left, top, right, bottom }) => {
      for (let px = left; px < right; px += 5) {
        for (let py = top; py < bottom; py += 5) {
          element.dispatchEvent(new PointerEvent("pointermove", { clientX: px, clientY: py }));
          if (element.style.cursor === "pointer") return [px, py];
        }
      }
      throw new Error("no point is found under the pointer");
    }, { left: box.x + 80, top: box.y + 20, right: box.x + box.width, bottom: box.y + box.height - 40 });
    await page.mouse.click(x, y);
    assert.equal(await page.locator(".panel").count(), 1);
    await close();
  },
  async isAccessible() {
    for (const [width, scheme] of [[1280, "light"], [1280, "dark"], [390, "light"]]) {
      const { page, close } = await open(file("evo.html"), { width, scheme });
      await page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))");
      await page.waitForTimeout(150);
      await accessible(page, `${width} pixels, ${scheme}`);
      const wide = await page.evaluate("document.documentElement.scrollWidth");
      assert.ok(wide <= width, `no sideways scrolling at ${width}: ${wide}`);
      await page.locator("#cloud .scroll button.link").first().click();
      await accessible(page, `the panel at ${width} pixels, ${scheme}`);
      await close();
    }
  },
  async prints() {
    const { page, close } = await open(file("evo.html"));
    assert.ok((await page.pdf({ format: "A4" })).length > 20_000);
    await close();
  },
  async hostileDatabaseIsText() {
    const { page, close } = await open(file("hostile.html"));
    await page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))");
    for (const button of await page.locator("#cloud .scroll button.link").all()) {
      await button.click();
      await page.keyboard.press("Escape");
    }
    assert.equal(await page.locator("img").count(), 0);
    assert.equal(await page.locator("script").count(), 2, "the data and the page's own");
    assert.match(await page.innerText("h1"), /<\/script><script>window\.hacked=1/);
    assert.match(await page.innerText("#check"), /window\.hacked/);
    for (const view of views) assert.doesNotMatch(await page.innerText(`#${view}-body`), /could not be drawn/, view);
    await accessible(page, "a hostile database");
    await close();
  },
  async hundredThousandCandidates() {
    const html = readFileSync(join(folder, "evo.html"), "utf8");
    const at = html.indexOf(">", html.indexOf('id="data"')) + 1;
    const end = html.indexOf("</script>", at);
    const data = JSON.parse(html.slice(at, end));
    const columns = Object.keys(data.candidates).filter((name) => Array.isArray(data.candidates[name]) && data.candidates[name].length === 7);
    for (let id = 8; id <= 100_000; ++id) {
      const from = id % 7;
      for (const name of columns) data.candidates[name].push(data.candidates[name][from]);
      data.candidates.id[id - 1] = id;
      data.candidates.generation[id - 1] = Math.floor(id / 100);
      data.candidates.parent[id - 1] = Math.max(1, id - 150);
      if (data.candidates.score_ns[id - 1] !== null) data.candidates.score_ns[id - 1] = 1000 + ((id * 7919) % 3000);
    }
    data.candidates.total = 100_000;
    const large = join(folder, "large.html");
    writeFileSync(large, html.slice(0, at) + JSON.stringify(data).replace(/</g, "\\u003c") + html.slice(end));
    assert.ok(statSync(large).size < 10 * 1024 * 1024, "under 10 MiB");
    const began = Date.now();
    const { page, close } = await open(pathToFileURL(large).href);
    const opened = Date.now() - began;
    await page.locator("#cloud canvas").focus();
    // The time that a zoomed frame takes to draw, in the page's own clock.
    const took = await page.evaluate(async () => {
      const canvas = document.querySelector("#cloud canvas");
      const times = [];
      for (let i = 0; i < 12; ++i) {
        const start = performance.now();
        canvas.dispatchEvent(new KeyboardEvent("keydown", { key: i < 6 ? "+" : "-", bubbles: true, cancelable: true }));
        await new Promise((next) => requestAnimationFrame(() => setTimeout(next)));
        times.push(performance.now() - start);
      }
      return times.sort((a, b) => a - b)[6];
    });
    console.log(`100,000 candidates: ${(statSync(large).size / 1e6).toFixed(1)} MB, drawn ${opened} ms after opening, a zoomed frame ${took.toFixed(0)} ms`);
    assert.ok(took < 150, `a zoomed frame takes ${took} ms`);
    assert.ok(opened < 20_000);
    await close();
  },
  async servedPageFollowsTheRun() {
    const server = spawn(join(build, "bin/evo"), ["serve", "--db", join(folder, "evo.db"), "--run", "1", "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const url = await new Promise((found, failed) => {
        let said = "";
        server.stdout.on("data", (text) => {
          said += text;
          const match = /(http:\/\/127\.0\.0\.1:\d+\/) shows /.exec(said);
          if (match) found(match[1]);
        });
        server.on("exit", (status) => failed(new Error(`evo serve ended: ${status}`)));
      });
      const pages = [await open(url, { origin: url }), await open(url, { origin: url })];
      const champion = (page) => page.innerText(".tiles");
      for (const { page } of pages) assert.match(await champion(page), /champion\s+6/);
      await pages[0].page.locator("#cloud .scroll button.link").first().click();
      await pages[0].page.waitForFunction(() => document.querySelector(".panel")?.innerText.includes("median"));
      await pages[0].page.keyboard.press("Escape");
      execFileSync(join(build, "tests/report_fixture"), [folder, "grow"]);
      for (const { page } of pages) await page.waitForFunction(() => /champion\s+10/.test(document.querySelector(".tiles").innerText), null, { timeout: 40_000 });
      for (const { close } of pages) await close();
      const status = await new Promise((ended) => {
        server.removeAllListeners("exit");
        server.on("exit", ended);
        server.kill("SIGINT");
      });
      assert.ok(status === 0 || status === 130, `evo serve ends with ${status}`);
    } finally {
      server.kill("SIGKILL");
    }
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  const began = Date.now();
  try {
    await test();
    console.log(`ok      ${name} (${Date.now() - began} ms)`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${name}: ${error.stack}`);
  }
}
// Pages of a failed test may still wait for their server.
await Promise.race([browser.close(), new Promise((wake) => setTimeout(wake, 5000))]);
process.exit(failed === 0 ? 0 : 1);
