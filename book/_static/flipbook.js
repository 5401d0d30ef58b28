// Turns the pictures of an interactive figure as its sliders move.
for (const figure of document.querySelectorAll(".flipbook")) {
  const sliders = [...figure.querySelectorAll("input[type=range]")];
  const pages = [...figure.querySelectorAll(".flipbook-page")];

  const turn = () => {
    const at = sliders.map((slider) => slider.value);
    const place = at.length === 1 ? `0,${at[0]}` : at.join(",");
    for (const page of pages) page.hidden = page.dataset.at !== place;
    for (const slider of sliders) {
      const label = JSON.parse(slider.dataset.labels)[slider.value];
      slider.setAttribute("aria-valuetext", label);
      slider.nextElementSibling.value = label;
    }
  };
  // The hidden pictures are fetched when a reader first reaches for the figure, so that none appears late.
  const fetchAll = () => figure.querySelectorAll("img[loading=lazy]").forEach((image) => (image.loading = "eager"));

  for (const slider of sliders) {
    slider.addEventListener("input", turn);
    slider.addEventListener("focus", fetchAll, { once: true });
    slider.addEventListener("pointerenter", fetchAll, { once: true });
  }
  // A browser keeps the position of a slider when a page is loaded again.
  turn();
}
