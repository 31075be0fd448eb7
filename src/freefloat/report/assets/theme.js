// Light or dark: what the reader chose before, or what the system says. Print is always light.

function chosenTheme() {
  let asked = null;
  try { asked = localStorage.getItem("freefloat-theme"); } catch { /* a file may have no storage */ }
  asked ||= matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  document.documentElement.dataset.theme = asked;
  return asked;
}

// `page` has a theme, and a function drawTheme that draws everything anew.
function themeControls(page) {
  const turn = (theme, keep) => {
    page.theme = theme;
    document.documentElement.dataset.theme = theme;
    try { if (keep) localStorage.setItem("freefloat-theme", theme); } catch { /* a file may have no storage */ }
    return page.drawTheme(theme);
  };
  let before = page.theme;
  document.getElementById("theme").addEventListener("click", () => turn(page.theme === "dark" ? "light" : "dark", true));
  window.addEventListener("beforeprint", () => { before = page.theme; turn("light", false); });
  window.addEventListener("afterprint", () => turn(before, false));
}
