/* What a style sheet can't do, in a few lines. */

/* Everything that scrolls sideways can be reached and scrolled with the keyboard. */
function makeScrollersReachable() {
  const scrollers = "mjx-container, div.math, .amsmath, .output.text_html, .pst-scrollable-table-container, pre";
  for (const element of document.querySelectorAll(scrollers)) {
    if (element.scrollWidth > element.clientWidth && element.tabIndex < 0) {
      element.tabIndex = 0;
    }
  }
}

/* A button's name for a screen reader starts with the words that can be seen on it. */
function nameButtonsByTheirWords() {
  for (const button of document.querySelectorAll("button[aria-label], a[aria-label]")) {
    const words = button.textContent.replace(/\s+/g, " ").trim();
    if (words && !button.ariaLabel.toLowerCase().includes(words.toLowerCase())) {
      button.ariaLabel = `${words}: ${button.ariaLabel}`;
    }
  }
}

/* The arrows that unfold a part of the contents say which part. */
function nameTheArrows() {
  for (const arrow of document.querySelectorAll(".bd-sidebar-primary summary")) {
    const chapter = arrow.closest("li")?.querySelector("a")?.textContent.trim();
    if (!arrow.textContent.trim() && chapter) arrow.ariaLabel = `Pages of ${chapter}`;
  }
}

addEventListener("load", () => {
  nameTheArrows();
  nameButtonsByTheirWords();
  makeScrollersReachable();
  addEventListener("resize", makeScrollersReachable);
  /* Formulas get their width only when MathJax has set them. */
  window.MathJax?.startup?.promise?.then(makeScrollersReachable);
});
