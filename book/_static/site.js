// What the theme leaves to Bootstrap's 80 kB and to its own scripts, as far as this book uses it.

// The theme makes tooltips with Bootstrap; here the browser shows each title itself.
window.bootstrap = { Tooltip: class {} };

// Menus of the header.
for (const button of document.querySelectorAll("[data-bs-toggle=dropdown]")) {
  const menu = button.nextElementSibling;
  const show = (open) => {
    menu.classList.toggle("show", open);
    button.setAttribute("aria-expanded", open);
  };
  button.addEventListener("click", () => show(!menu.classList.contains("show")));
  document.addEventListener("click", (event) => button.parentElement.contains(event.target) || show(false));
  button.parentElement.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    show(false);
    button.focus();
  });
}

// On a wide screen the button of the contents hides them; on a narrow one the theme opens them as a dialog.
const contents = document.querySelector("#pst-primary-sidebar");
document.querySelector(".primary-toggle")?.addEventListener(
  "click",
  (event) => {
    if (!matchMedia("(min-width: 992px)").matches) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    contents.classList.toggle("pst-sidebar-hidden");
  },
  true
);

window.toggleFullScreen = () =>
  document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen();

// What scrolls sideways can be reached by the keyboard, and only that.
// Names that a screen reader speaks, in English and Vietnamese.
const isVietnamese = document.documentElement.lang === "vi";
const kinds = {
  pre: isVietnamese ? "Mã" : "Code",
  ".math > .katex-display": isVietnamese ? "Công thức" : "Formula",
  ".pst-scrollable-table-container": isVietnamese ? "Bảng" : "Table",
  ".cell_output .output": isVietnamese ? "Kết quả" : "Output",
};
const watcher = new ResizeObserver((entries) => entries.forEach(({ target }) => reach(target)));
const reach = (element) => {
  const name = Object.entries(kinds).find(([kind]) => element.matches(kind))[1];
  const scrolls = element.scrollWidth > element.clientWidth;
  const wanted = scrolls ? { tabindex: "0", role: "group", "aria-label": name } : {};
  for (const key of ["tabindex", "role", "aria-label"])
    wanted[key] ? element.setAttribute(key, wanted[key]) : element.removeAttribute(key);
};
addEventListener("load", () =>
  document.querySelectorAll(Object.keys(kinds).join()).forEach((element) => watcher.observe(element))
);
