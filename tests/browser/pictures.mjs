// Makes the pictures of the documents again, from real runs on loopback: see docs/pictures/make.

import { join } from "node:path";
import { browse, folder, open, start, torr } from "./machine.mjs";

const target = process.argv[2] ?? ".";
const WIDTH = 1000;
const made = await folder();
const browser = await browse();

/** Takes a picture of the upper part of a page, or of a part of it with what follows. */
async function picture(name, url, height, from) {
  const { page, close } = await open(browser, url, { width: WIDTH });
  const top = from ? (await page.locator(from).first().boundingBox()).y - 16 : 0;
  await page.screenshot({ path: join(target, `${name}.png`), fullPage: true, clip: { x: 0, y: top, width: WIDTH, height } });
  await close();
}

const server = await start(/http:\/\/\S+/, "serve", "--listen", "127.0.0.1:0", "--workers", "1");
const url = server.url.replace(/\/$/, "");
const report = (name, ...args) => torr(...args, "-q", "--json", made.file(`${name}.json`), "--report", made.file(`${name}.html`));
try {
  const run = await start(/(?<=dashboard: )\S+/, `${url}/`, "--stages", "8s:2000,20s:2000,5s:4000,60s:4000", "-c", "50", "--dashboard");
  const { page, close } = await open(browser, run.url, { width: WIDTH });
  await page.waitForFunction(() => document.querySelector(".state")?.textContent.includes("25 s"));
  await page.click("[data-wish=mark]");
  await page.waitForFunction(() => document.querySelector(".state").textContent.includes("45 s"));
  await page.screenshot({ path: join(target, "dashboard.png"), clip: { x: 0, y: 0, width: WIDTH, height: 850 } });
  await close();
  await run.end();

  // A path that is missing is loaded for some of the time, so that there are errors.
  await made.write("urls", `${url}/\n${url}/json\n${url}/sleep/2\n${url}/missing\n`);
  await report("run", "--urls", made.file("urls"), "--stages", "10s:1500,10s:1500,10s:3000", "-c", "50");
  await picture("run", made.url("run.html"), 1000, "section[data-until]");
  await report("limit", "limit", `${url}/cpu/200`, "--slo", "p99<50ms,errors<0.1%", "--budget", "40s");
  await picture("limit", made.url("limit.html"), 950);
  await report("doctor", "doctor", `${url}/sleep/20`, "-c", "16", "--budget", "40s");
  await picture("doctor", made.url("doctor.html"), 830);
  await report("compare", "compare", `${url}/`, `${url}/json`, "--budget", "40s");
  await picture("compare", made.url("compare.html"), 695);
} finally {
  await server.end();
}
await torr("demo", "--json", made.file("demo.json"), "--report", made.file("demo.html"));
await picture("report", made.url("demo.html"), 700);
await browser.close();
await made.remove();
