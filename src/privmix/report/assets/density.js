// Reading values off the density: by pointer, or by the slider under it. Without scripts the picture stands as it is.
(function () {
  "use strict";
  const source = document.getElementById("density-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const plot = document.getElementById("density-plot");
  const svg = plot.querySelector("svg");
  const tip = document.getElementById("density-tip");
  const reader = document.getElementById("density-reader");
  const slider = document.getElementById("density-at");
  const value = document.getElementById("density-value");
  const curves = ["mean", "lower", "upper", "simultaneous_lower", "simultaneous_upper", "prior"];

  function place(number, limits, from, to) {
    return from + ((number - limits[0]) / (limits[1] - limits[0])) * (to - from);
  }
  const across = (y) => place(y, data.xlim, data.left, data.right);
  const up = (height) => Math.max(data.top, place(height, data.ylim, data.bottom, data.top));

  function add(kind, attributes) {
    const element = document.createElementNS(svg.namespaceURI, kind);
    for (const [name, text] of Object.entries(attributes)) element.setAttribute(name, text);
    mark.appendChild(element);
    return element;
  }
  const mark = document.createElementNS(svg.namespaceURI, "g");
  mark.setAttribute("visibility", "hidden");
  mark.setAttribute("aria-hidden", "true");
  svg.appendChild(mark);
  const rule = add("line", { y1: data.top, y2: data.bottom, stroke: "#1b1f24", "stroke-width": 0.8 });
  const dots = curves.map((name) =>
    add("circle", { r: name === "mean" ? 3.2 : 2, fill: name === "prior" ? "#4d4d4d" : "#0072B2", stroke: "white", "stroke-width": 0.6 })
  );

  function shown(number) {
    if (Math.abs(number) < 1e-6) return "0";
    return Math.abs(number) < 0.0001 ? number.toExponential(1) : String(Number(number.toPrecision(3)));
  }

  function lines(i) {
    const at = (name) => shown(data[name][i]);
    return [
      "y = " + at("y"),
      "density " + at("mean"),
      data.level + " pointwise: " + at("lower") + " to " + at("upper"),
      data.level + " simultaneous: " + at("simultaneous_lower") + " to " + at("simultaneous_upper"),
      "prior mean " + at("prior"),
    ];
  }

  function show(i) {
    const x = across(data.y[i]);
    rule.setAttribute("x1", x);
    rule.setAttribute("x2", x);
    curves.forEach((name, k) => {
      dots[k].setAttribute("cx", x);
      dots[k].setAttribute("cy", up(data[name][i]));
    });
    mark.setAttribute("visibility", "visible");
    const text = lines(i);
    slider.value = i;
    slider.setAttribute("aria-valuetext", text.join(", "));
    value.textContent = text.join(" · ");
    return text;
  }

  function nearest(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const y = data.xlim[0] + ((point.x - data.left) / (data.right - data.left)) * (data.xlim[1] - data.xlim[0]);
    let best = 0;
    data.y.forEach((other, i) => {
      if (Math.abs(other - y) < Math.abs(data.y[best] - y)) best = i;
    });
    return best;
  }

  function hover(event) {
    const text = show(nearest(event));
    tip.replaceChildren(...text.map((line) => Object.assign(document.createElement("div"), { textContent: line })));
    tip.hidden = false;
    const box = plot.getBoundingClientRect();
    const x = event.clientX - box.left;
    const left = x + 14 + tip.offsetWidth > box.width ? x - 14 - tip.offsetWidth : x + 14;
    tip.style.left = Math.max(0, Math.min(left, box.width - tip.offsetWidth)) + "px";
    tip.style.top = Math.max(0, event.clientY - box.top - tip.offsetHeight - 10) + "px";
  }

  svg.addEventListener("pointermove", hover);
  svg.addEventListener("pointerdown", hover);
  svg.addEventListener("pointerleave", () => {
    tip.hidden = true;
    mark.setAttribute("visibility", "hidden");
  });
  slider.addEventListener("input", () => {
    tip.hidden = true;
    show(Number(slider.value));
  });
  slider.addEventListener("focus", () => show(Number(slider.value)));
  slider.addEventListener("blur", () => mark.setAttribute("visibility", "hidden"));
  reader.hidden = false;
})();
