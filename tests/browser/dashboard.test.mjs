// A run that is followed in browsers.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { plots, unreached, violations } from "./looks.mjs";
import { browse, folder, open, start } from "./machine.mjs";

let browser, made, server;

before(async () => {
  browser = await browse();
  made = await folder();
  server = await start(/http:\/\/\S+/, "serve", "--listen", "127.0.0.1:0", "--workers", "1");
});

after(async () => {
  await browser?.close();
  await server?.end();
  await made?.remove();
});

const hasPlots = (page) => page.waitForSelector("#report svg.plot >> nth=2");

test("browsers follow a run, steer it, and have its report at the end", async () => {
  const run = await start(/(?<=dashboard: )\S+/, server.url, "-r", "300", "-c", "8", "-d", "120s", "--dashboard",
    "--json", made.file("run.json"));
  try {
    const one = await open(browser, run.url);
    await hasPlots(one.page);
    await one.page.click("[data-wish=raise]");
    await one.page.waitForFunction(() => document.querySelector("#panel").textContent.includes("now 330 requests/s"));
    await one.page.click("[data-wish=pause]");
    await one.page.waitForFunction(() => document.querySelector("#panel strong").textContent === "PAUSED");
    await one.page.click("text=Continue");
    // What is folded out stays so while the report is replaced.
    await one.page.locator("#report summary").first().click();
    const before = await one.page.textContent(".state");
    await one.page.waitForFunction((before) => document.querySelector(".state").textContent !== before, before);
    assert.equal(await one.page.locator("#report details").first().evaluate((fold) => fold.open), true);
    assert.deepEqual(await unreached(one.page), []);
    // While the run goes on, its figures stand once on the page, and a mark stands in the plots of the last minute.
    assert.equal(await one.page.locator("dl.figures:visible").count(), 1);
    await one.page.click("[data-wish=mark]");
    await one.page.waitForFunction(() => [...document.querySelectorAll(".minute svg text")].some((text) => text.textContent === "mark 1"));
    // One that comes late, on a phone at night.
    const late = await open(browser, run.url, { width: 390, scheme: "dark" });
    await hasPlots(late.page);
    assert.ok((await late.page.textContent("#panel")).includes("rate 330 requests/s"));
    for (const { page } of [one, late]) {
      assert.deepEqual(await page.evaluate(plots), []);
      assert.deepEqual(await violations(page), []);
    }
    await one.page.click("[data-wish=end]");
    for (const { page, told } of [one, late]) {
      await page.waitForSelector("#save:not([hidden])");
      assert.equal(await page.isVisible("#controls"), false);
      assert.deepEqual(told.filter((line) => line !== "dialog: End the run?"), []);
    }
    assert.equal(await run.ended, 0);
    const result = await made.json("run.json");
    const responses = await late.page.locator("#report dl.figures dd").nth(1).textContent();
    assert.equal(Number(responses.replaceAll(",", "")), result.requests);
    const [download] = await Promise.all([one.page.waitForEvent("download"), one.page.click("#save")]);
    await download.saveAs(made.file("saved.html"));
    const saved = await open(browser, made.url("saved.html"));
    assert.deepEqual(await saved.page.evaluate(plots), []);
    // No button steers any more; that of the plots is hidden while they show the whole run.
    assert.deepEqual([await saved.page.locator("button:visible").count(), saved.told], [0, []]);
    // Its plots still tell their figures. The first movement may scroll the page, which hides them.
    const plot = saved.page.locator("section[data-until] svg.plot").first();
    await plot.hover();
    await plot.hover({ position: { x: 200, y: 50 } });
    await saved.page.waitForSelector(".readout");
    for (const { close } of [one, late, saved]) await close();
  } finally {
    await run.end();
  }
});

test("a run that was killed is said to be gone, and its figures stay", async () => {
  const run = await start(/(?<=dashboard: )\S+/, server.url, "-r", "100", "-c", "4", "-d", "120s", "--dashboard");
  const { page, close } = await open(browser, run.url);
  await hasPlots(page);
  await run.kill();
  await page.waitForFunction(() => document.querySelector("#connection").textContent.includes("Cannot reach the run"));
  assert.ok(await page.locator("#report svg.plot").count());
  await close();
});

for (const [name, args, code] of [
  ["a diagnosis", ["doctor", "--budget", "60s", "-c", "8"], 130], ["a search", ["limit", "--budget", "60s"], 130],
]) {
  test(`${name} is followed in browsers, step by step, and has its report at the end`, async () => {
    const [command, ...rest] = args;
    const run = await start(/(?<=dashboard: )\S+/, command, server.url, ...rest, "--dashboard", "--json", made.file(`${command}.json`));
    try {
      const one = await open(browser, run.url);
      const phone = await open(browser, run.url, { width: 390, scheme: "dark" });
      for (const { page } of [one, phone]) {
        await page.waitForSelector("#panel tbody tr >> nth=2");
        await page.waitForSelector(".minute svg.plot >> nth=1");
        assert.deepEqual(await page.evaluate(plots), []);
        assert.deepEqual(await violations(page), []);
      }
      await phone.page.click("[data-wish=end]");
      for (const { page, told, close } of [one, phone]) {
        await page.waitForSelector("#save:not([hidden])");
        assert.deepEqual(told.filter((line) => !line.startsWith("dialog: End ")), []);
        assert.deepEqual(await violations(page), []);
        const result = await made.json(`${command}.json`);
        const shown = await page.locator(command === "doctor" ? "#report ol.trail > li" : "#report table").count();
        assert.ok(command === "doctor" ? shown === result.trail.length : shown > 0, `${shown} are shown`);
        await close();
      }
      assert.equal(await run.ended, code);
    } finally {
      await run.end();
    }
  });
}
