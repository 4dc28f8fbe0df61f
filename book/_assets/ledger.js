/* Filters the ledger of claims by paper, part, verdict and words.

   It works from a folder, without a server. The state stands in the address after the
   number sign, as #paper=single-location&verdict=differs; a plain #name leads to a
   claim, as without this script. */

(() => {
  const form = document.querySelector("form.sharp-ledger-filter");
  const rows = [...document.querySelectorAll("table.sharp-ledger tr[data-status]")];
  if (!form || rows.length === 0) return;

  const fields = ["paper", "part", "verdict", "text"];
  const attributes = { paper: "paper", part: "part", verdict: "status" };
  const texts = new Map(rows.map(row => [row, row.textContent.toLowerCase()]));
  const tables = [...new Set(rows.map(row => row.closest("table")))];

  function matches(row) {
    for (const [name, attribute] of Object.entries(attributes)) {
      const wanted = form.elements[name].value;
      if (wanted && row.dataset[attribute] !== wanted) return false;
    }
    const words = form.elements.text.value.toLowerCase().split(/\s+/);
    return words.every(word => texts.get(row).includes(word));
  }

  function show() {
    for (const row of rows) row.hidden = !matches(row);
    for (const table of tables) {
      table.hidden = !table.querySelector("tr[data-status]:not([hidden])");
    }
    const count = rows.filter(row => !row.hidden).length;
    form.querySelector("[role=status]").textContent =
      count === rows.length ? `All ${count} claims are shown.`
        : `${count} of ${rows.length} claims are shown.`;
  }

  function write() {
    const state = new URLSearchParams();
    for (const name of fields) {
      const value = form.elements[name].value.trim();
      if (value) state.set(name, value);
    }
    const hash = state.toString();
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  }

  function read() {
    const hash = location.hash.slice(1);
    const state = new URLSearchParams(hash.includes("=") ? hash : "");
    for (const name of fields) {
      const field = form.elements[name];
      field.value = state.get(name) ?? "";
      if (field.selectedIndex === -1) field.value = "";  // no such choice
    }
    show();
  }

  form.addEventListener("input", () => { show(); write(); });
  form.addEventListener("submit", event => event.preventDefault());
  /* The fields are empty only after the event. */
  form.addEventListener("reset", () => setTimeout(() => { show(); write(); }));
  addEventListener("hashchange", read);
  form.hidden = false;
  read();
})();
