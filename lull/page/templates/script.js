// SPDX-License-Identifier: GPL-2.0-only
// The page is whole without this: it copies the text, opens what a link points
// into, and opens all that is folded for the printer.
"use strict";

for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    const text = source.textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const range = document.createRange();
      range.selectNodeContents(source);
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      document.execCommand("copy");
    }
    button.nextElementSibling.textContent = "copied";
  });
}

function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let node = target; node; node = node.parentElement) {
    if (node.tagName === "DETAILS") node.open = true;
  }
  if (target) target.scrollIntoView();
}
addEventListener("hashchange", unfold);
unfold();

let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const node of opened) node.open = true;
});
addEventListener("afterprint", () => {
  for (const node of opened) node.open = false;
});
