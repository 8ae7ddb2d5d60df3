// node screenshots.mjs CHROMIUM REPORT.html FOLDER: pictures of a report for the documentation, light and dark, wide and narrow.
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";

const [chromium, report, folder] = process.argv.slice(2);
const browser = await launch(chromium);
for (const [name, width, height, scheme] of [["wide_light", 1280, 900, "light"], ["wide_dark", 1280, 900, "dark"], ["narrow_light", 390, 844, "light"], ["narrow_dark", 390, 844, "dark"]]) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(pathToFileURL(resolve(report)).href);
  await page.waitForSelector("#compare-body > *");
  await page.waitForTimeout(300);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await page.locator(".step > summary").last().click();
  await page.mouse.move(2, 2);
  await page.waitForTimeout(200);
  for (const view of ["story", "differences", "cloud", "tree", "operators", "parameters", "roofline", "lanes", "check", "compare"]) {
    await page.locator(`#${view}`).scrollIntoViewIfNeeded();
    await page.locator(`#${view}`).screenshot({ path: join(folder, `${name}_${view}.png`) });
  }
  await context.close();
}
await browser.close();
