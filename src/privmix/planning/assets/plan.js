// Sliders for budget and people: everything was computed beforehand. Without scripts the page stands as planned.
(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("plan-data").textContent);
  const find = (name) => document.getElementById(name);
  const budget = find("budget-at");
  const people = find("people-at");

  function place(number, limits, from, to) {
    return from + ((number - limits[0]) / (limits[1] - limits[0])) * (to - from);
  }
  function path(frame, points) {
    const spots = points.map(([x, y]) => place(x, frame.xlim, frame.left, frame.right).toFixed(2) + " " + place(y, frame.ylim, frame.bottom, frame.top).toFixed(2));
    return "M " + spots.join(" L ");
  }
  function redraw(name, points, frame, end) {
    const drawn = find(name) && find(name).querySelector("path");
    if (drawn) drawn.setAttribute("d", points.length ? path(frame, points) + end : "");
  }

  function showBand(key, band) {
    const figure = find(key + "-figure");
    if (!figure) return;
    figure.hidden = !band;
    if (!band) return;
    const frame = data.frames[key];
    const top = frame.ylim[1] * 4; // far outside: the picture clips it
    const along = (values) => values.map((value, i) => [data.y[i], Math.min(value, top)]);
    redraw(key + "-band", along(band.lower).concat(along(band.upper).reverse()), frame, " Z");
    redraw(key + "-mean", along(band.mean), frame, "");
    find(key + "-heading").textContent = band.heading;
    figure.querySelector("svg").setAttribute("aria-label", "The assumed density with the band to be expected under " + band.heading + ".");
  }

  function showCurves(row, n) {
    const frame = { ...data.frames.curves };
    frame.xlim = frame.xlim.map(Math.log10);
    frame.ylim = frame.ylim.map(Math.log10);
    data.names.forEach((_, k) => {
      const known = data.numbers.map((number, j) => [number, row[j].l1[k]]).filter((point) => point[1] !== null);
      redraw("curves-line-" + k, known.map((point) => point.map(Math.log10)), frame, "");
    });
    redraw("curves-people", frame.ylim.map((y) => [Math.log10(n), y]), frame, "");
  }

  function showTable(node) {
    const rows = node.rows.map((texts, k) => {
      const row = document.createElement("tr");
      if (k === node.best) row.className = "best";
      texts.forEach((text, c) => {
        const cell = document.createElement(c ? "td" : "th");
        if (!c) cell.scope = "row";
        cell.textContent = !c && k === node.best ? text + " (best)" : text;
        row.appendChild(cell);
      });
      return row;
    });
    find("live").replaceChildren(...rows);
  }

  function show() {
    const i = Number(budget.value);
    const j = Number(people.value);
    const node = data.nodes[i][j];
    const n = data.numbers[j].toLocaleString("en-GB");
    find("budget-value").textContent = data.budgets[i];
    find("people-value").textContent = "n = " + n;
    budget.setAttribute("aria-valuetext", data.budgets[i]);
    people.setAttribute("aria-valuetext", n + " people");
    showTable(node);
    showBand("best", node.bands[0]);
    showBand("other", node.bands[1]);
    showCurves(data.nodes[i], data.numbers[j]);
    find("protocol").textContent = node.protocol;
    find("told").textContent = "At " + data.budgets[i] + " with " + n + " people " + node.rows[node.best][0] + " is best, with expected L1 " + node.rows[node.best][1] + ".";
  }

  budget.addEventListener("input", show);
  people.addEventListener("input", show);
  find("planned").addEventListener("click", () => {
    [budget.value, people.value] = data.at;
    show();
  });
  find("sliders").hidden = false;
  show();
})();
