// Runs before the first paint, by itself and blocking: the page never flashes in the wrong theme.
{
  let chosen = null;
  try {
    chosen = localStorage.getItem("theme");
  } catch {
    // Storage can be forbidden: then the system decides.
  }
  const dark =
    chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}
