// Makes the pictures of the documents again: node pictures.mjs FOLDER, with TORR set to a release build, on an idle machine.

import { join } from "node:path";
import { browse, folder, open, start, torr } from "./machine.mjs";

const target = process.argv[2] ?? ".";
const made = await folder();
const browser = await browse();
const server = await start(/http:\/\/\S+/, "serve", "--listen", "127.0.0.1:0", "--workers", "1");
try {
  const run = await start(/(?<=dashboard: )\S+/, server.url, "-r", "5000", "-c", "50", "-d", "60s", "--dashboard");
  const { page, close } = await open(browser, run.url, { width: 1000 });
  await page.waitForFunction(() => document.querySelector(".state").textContent.includes("15 s"));
  await page.screenshot({ path: join(target, "dashboard.png"), clip: { x: 0, y: 0, width: 1000, height: 640 } });
  await close();
  await run.end();
} finally {
  await server.end();
}
await torr("demo", "--json", made.file("demo.json"), "--report", made.file("demo.html"));
const { page, close } = await open(browser, made.url("demo.html"), { width: 1000 });
await page.screenshot({ path: join(target, "report.png"), clip: { x: 0, y: 0, width: 1000, height: 700 } });
await close();
await browser.close();
await made.remove();
