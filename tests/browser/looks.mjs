// What is looked for in every page, within the browser.

import axe from "axe-core";

/** Returns what is wrong with the plots: none to be seen, texts that are cut off or lie over each other. */
export function plots() {
  const wrong = [];
  const body = document.documentElement;
  if (body.scrollWidth > innerWidth) wrong.push(`the page is ${body.scrollWidth} wide, in ${innerWidth}`);
  for (const plot of document.querySelectorAll("svg.plot")) {
    const name = plot.getAttribute("aria-label") ?? plot.querySelector("title")?.textContent;
    const room = plot.getBoundingClientRect();
    if (room.width < 100 || room.height < 50) wrong.push(`${name} is ${room.width} x ${room.height}`);
    if (!plot.querySelector("path, rect")) wrong.push(`${name} shows nothing`);
    const texts = [...plot.querySelectorAll("text")].filter((text) => text.textContent && text.checkVisibility());
    const boxes = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
    boxes.forEach(([text, box], at) => {
      if (box.left < -1 || box.right > innerWidth + 1) wrong.push(`${name}: '${text}' is cut off`);
      for (const [other, beside] of boxes.slice(at + 1)) {
        const across = Math.min(box.right, beside.right) - Math.max(box.left, beside.left);
        const down = Math.min(box.bottom, beside.bottom) - Math.max(box.top, beside.top);
        // The box of a line of text is higher than its letters.
        if (across > 2 && down > 5) wrong.push(`${name}: '${text}' lies over '${other}'`);
      }
    });
  }
  return wrong;
}

/** Returns the violations of the rules for pages that everyone can use. */
export async function violations(page) {
  await page.evaluate(axe.source);
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(" ")}`);
}

/** Returns what the Tab key does not reach although it can be used. */
export async function unreached(page) {
  const all = await page.evaluate(() => {
    const parts = [...document.querySelectorAll("a, summary, .wide, pre, button, .plots")].filter((part) => part.checkVisibility());
    parts.forEach((part, at) => (part.dataset.test = at));
    return parts.length;
  });
  const reached = new Set();
  for (let presses = 0; presses < all + 5; presses += 1) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement?.dataset.test));
  }
  return [...Array(all).keys()].filter((at) => !reached.has(String(at)));
}

/** Reads a time such as `1.25 ms` in microseconds. */
export function micros(text) {
  const [figure, unit] = text.trim().split(" ");
  return Number(figure.replaceAll(",", "")) * { us: 1, ms: 1e3, s: 1e6 }[unit];
}
