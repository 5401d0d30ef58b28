// The form of the translator.
import { Translator } from "./translator.js";

function cell(name, text, scope) {
  const made = document.createElement(name);
  made.textContent = text;
  if (scope) made.scope = scope;
  return made;
}

// Cross-attention as a table: a row for each piece of the translation, a column for each piece of the source.
function alignmentTable({ sourcePieces, pieces, alignment }) {
  const shown = (piece) => piece.replace("▁", " ").trim() || "␣";
  const table = document.createElement("table");
  table.append(cell("caption", "Where each piece of the translation looks in the source, in per cent"));
  const head = table.createTHead().insertRow();
  head.append(cell("td", ""), ...sourcePieces.map((piece) => cell("th", shown(piece), "col")));
  const body = table.createTBody();
  pieces.forEach((piece, i) => {
    const row = body.insertRow();
    row.append(cell("th", shown(piece), "row"));
    for (const weight of alignment[i]) {
      const percent = Math.round(100 * weight);
      const box = cell("td", percent ? String(percent) : "");
      box.style.setProperty("--weight", weight.toFixed(3));
      box.classList.toggle("strong", weight > 0.5);
      row.append(box);
    }
  });
  return table;
}

export async function open(demo, root, say) {
  const translator = await Translator.load(root, say);
  const form = demo.querySelector("form");
  const answer = demo.querySelector(".try-it-answer");
  const picture = demo.querySelector(".try-it-alignment");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    if (button.disabled) return;
    button.disabled = true;
    const [source, target] = form.elements.way.value.split("-");
    answer.textContent = "Translating …";
    picture.replaceChildren();
    try {
      const found = await translator.translate(form.elements.text.value, source, target);
      answer.lang = target;
      answer.textContent = [found.text, found.note].filter(Boolean).join("\n");
      if (found.pieces.length) picture.append(alignmentTable(found));
    } catch (error) {
      answer.lang = "en";
      answer.textContent = error.message;
    } finally {
      button.disabled = false;
    }
  });
}
