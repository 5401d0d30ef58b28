// Runs inside a page; returns what a test wants to know of it.
() => {
  const article = document.querySelector(".bd-article") ?? document.querySelector("main");
  const shown = (element) => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const brief = (element) => `${element.tagName.toLowerCase()}: ${element.textContent.trim().slice(0, 60)}`;

  const channels = (color) => {
    const numbers = (color.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
    const scale = color.startsWith("color(") ? 255 : 1;
    return [...numbers.slice(0, 3).map((n) => n * scale), numbers[3] ?? 1];
  };
  const over = (top, bottom) => top.slice(0, 3).map((n, i) => n * top[3] + bottom[i] * (1 - top[3]));
  const backdrop = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const layer = channels(getComputedStyle(at).backgroundColor);
      if (layer[3] > 0) layers.push(layer);
      if (layer[3] === 1) break;
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((n) => n / 255).map((n) => (n <= 0.04045 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (element) => {
    const behind = backdrop(element);
    const ink = over(channels(getComputedStyle(element).color), behind);
    const [high, low] = [luminance(ink), luminance(behind)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const holdsText = (element) =>
    [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
  const faint = [...article.querySelectorAll("*")]
    .filter((e) => holdsText(e) && shown(e) && !e.closest("script, style, svg, .katex, .headerlink, button"))
    .map((e) => [contrast(e), e])
    .filter(([ratio]) => ratio < 4.5)
    .map(([ratio, e]) => `${ratio.toFixed(1)} ${brief(e)}`);

  const wide = [...article.querySelectorAll("*")]
    .filter((e) => e.getBoundingClientRect().right > innerWidth + 1)
    .map(brief);
  const images = [...article.querySelectorAll("img")];
  const figures = images.filter((e) => shown(e) && e.closest(".cell_output, figure"));
  const formulas = [...article.querySelectorAll(".math")];
  // A formula is cut where a part of it lies outside a box that hides what does not fit and cannot scroll.
  const isCut = (formula) => {
    const parts = [...formula.querySelectorAll(".base")].map((e) => e.getBoundingClientRect());
    const scroller = formula.querySelector(".katex-display") ?? formula.closest(".pst-scrollable-table-container");
    if (scroller) return scroller.scrollHeight > scroller.clientHeight + 1;
    const { right } = article.getBoundingClientRect();
    return getComputedStyle(formula).overflowX === "hidden" || parts.some((part) => part.right > right + 1);
  };
  return {
    theme: document.documentElement.dataset.theme,
    overflow: document.documentElement.scrollWidth - innerWidth,
    wide: wide.slice(0, 5),
    height: document.documentElement.scrollHeight,
    scrolledTables: [...article.querySelectorAll("table")]
      .filter((e) => shown(e) && e.parentElement.scrollWidth > e.parentElement.clientWidth + 1)
      .map(brief),
    faint: [...new Set(faint)].slice(0, 8),
    plainLinks: [...article.querySelectorAll(":is(p, li, td) a")]
      .filter((e) => e.textContent.trim() && shown(e) && !getComputedStyle(e).textDecorationLine.includes("underline"))
      .map(brief),
    unnamed: images.filter((e) => !e.alt.trim()).map((e) => e.src.slice(0, 80)),
    broken: images.filter((e) => shown(e) && e.complete && e.naturalWidth === 0).map((e) => e.src.slice(0, 80)),
    uncarded: figures
      .filter((e) => getComputedStyle(e).backgroundColor !== "rgb(255, 255, 255)" || getComputedStyle(e).filter !== "none")
      .map((e) => e.alt),
    formulas: formulas.length,
    raw: formulas.filter((e) => !e.querySelector(".katex-html")).map(brief),
    mathErrors: [...article.querySelectorAll(".katex-error")].map(brief),
    unplayed: document.querySelectorAll("script[type='application/vnd.jupyter.widget-view+json']").length,
    cutFormulas: formulas.filter(isCut).map((e) => e.querySelector("annotation").textContent),
    wideCode: [...article.querySelectorAll("pre")]
      .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
      .map(brief),
    unsized: images.filter((e) => !e.getAttribute("width") || !e.getAttribute("height")).map((e) => e.src.slice(-40)),
  };
}
