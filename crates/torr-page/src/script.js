"use strict";
// Pointing at a plot over time shows a line in all plots of its section, and the figures of that interval, which the table has.
(() => {
  let shown = [];
  const hide = () => { shown.forEach((part) => part.remove()); shown = []; };

  const cursor = (plot, share) => {
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    const { width, height } = plot.viewBox.baseVal;
    const ends = { x1: share * width, x2: share * width, y1: 0, y2: height, class: "cursor" };
    Object.entries(ends).forEach(([name, value]) => line.setAttribute(name, value));
    plot.append(line);
    return line;
  };

  const readout = (table, row, x, y) => {
    const names = [...table.querySelectorAll("thead th")];
    const list = document.createElement("dl");
    list.className = "readout";
    [...row.children].forEach((cell, at) => {
      const [name, figure] = [document.createElement("dt"), document.createElement("dd")];
      [name.textContent, figure.textContent] = [names[at].textContent, cell.textContent];
      list.append(name, figure);
    });
    document.body.append(list);
    // To the left of the pointer where there is no room to its right.
    const left = x + 16 + list.offsetWidth > innerWidth ? x - 16 - list.offsetWidth : x + 16;
    list.style.left = `${Math.max(4, left) + scrollX}px`;
    list.style.top = `${y + scrollY + 16}px`;
    return list;
  };

  const point = (event) => {
    hide();
    const plot = event.target.closest?.("svg.plot")?.querySelector(":scope > svg");
    const section = plot?.closest("section[data-until]");
    if (!section) return;
    const room = plot.getBoundingClientRect();
    const share = (event.clientX - room.left) / room.width;
    const rows = [...section.querySelectorAll("tr[data-t]")];
    const row = rows.find(({ dataset }) => Number(dataset.t) >= share * Number(section.dataset.until));
    if (share < 0 || !row) return;
    const plots = [...section.querySelectorAll("svg.plot > svg")];
    shown = plots.map((each) => cursor(each, share));
    shown.push(readout(row.closest("table"), row, event.clientX, event.clientY));
  };

  ["pointermove", "pointerdown"].forEach((kind) => document.addEventListener(kind, point));
  document.addEventListener("pointerleave", hide);
  addEventListener("scroll", hide, { passive: true });
})();
