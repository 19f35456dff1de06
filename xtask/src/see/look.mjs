// Opens a report in a browser as people do: light, dark and on paper. Prints what axe finds, what the
// page asked the network for, and what it complained about; keeps a picture of each.
//   node look.mjs BROWSER REPORT PICTURES
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const [browserPath, report, pictures] = process.argv.slice(2);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await puppeteer.launch({
  executablePath: browserPath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  timeout: 50_000,
});
const looks = [
  { name: "light", media: "screen", scheme: "light", width: 1000 },
  { name: "dark", media: "screen", scheme: "dark", width: 1000 },
  { name: "narrow", media: "screen", scheme: "light", width: 400 },
  { name: "print", media: "print", scheme: "dark", width: 794 },
];
const found = [];
for (const look of looks) {
  const page = await browser.newPage();
  const asked = [];
  const complaints = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.setViewport({ width: look.width, height: 1200 });
  // Both in one call: each alone would undo the other.
  const session = await page.createCDPSession();
  const features = [{ name: "prefers-color-scheme", value: look.scheme }];
  await session.send("Emulation.setEmulatedMedia", { media: look.media, features });
  await page.goto(pathToFileURL(report).href, { waitUntil: "load" });
  const path = `${pictures}/report-${look.name}.png`;
  await page.screenshot({ path, clip: { x: 0, y: 0, width: look.width, height: 1200 } });
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  // Not as a script of the page, which its own policy forbids.
  await page.evaluate(axe);
  const result = await page.evaluate(() => globalThis.axe.run({ resultTypes: ["violations"] }));
  found.push({
    look: look.name,
    violations: result.violations.map((violation) => ({
      rule: violation.id,
      help: violation.help,
      places: violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)),
    })),
    passes: result.passes.length,
    asked: asked.filter((url) => !url.startsWith("file:")),
    complaints,
    overflow,
  });
  await page.close();
}
await browser.close();
console.log(JSON.stringify(found));
