// Debian's chromium, led by playwright-core, with nothing that asks the network by itself.
import { chromium } from "playwright-core";

export async function launch(executablePath) {
  return chromium.launch({
    executablePath,
    headless: true,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}
