// The form of the recogniser of lines.
import { linesOf, shown, toGray } from "./pictures.js";
import { Reader } from "./reader.js";

async function chosen(form) {
  const [file] = form.elements.file.files;
  if (!file) throw new Error("Choose a picture first, or take the example.");
  return createImageBitmap(file).catch(() => {
    throw new Error(`${file.name} is no picture that this browser can show; save it as PNG or JPEG.`);
  });
}

function item(line, text) {
  const made = document.createElement("li");
  const canvas = shown(line);
  canvas.setAttribute("aria-hidden", "true");
  const said = document.createElement("p");
  said.lang = "vi";
  said.textContent = text || "(nothing read)";
  made.append(canvas, said);
  return made;
}

export async function open(demo, root, say) {
  const reader = await Reader.load(root, say);
  const form = demo.querySelector("form");
  const answer = demo.querySelector(".try-it-answer");
  const list = demo.querySelector(".try-it-lines");
  const buttons = form.querySelectorAll("button");

  async function show(load) {
    if (buttons[0].disabled) return;
    for (const button of buttons) button.disabled = true;
    answer.textContent = "Reading …";
    list.replaceChildren();
    try {
      const gray = toGray(await load());
      const lines = form.elements.holds.value === "line" ? [gray] : linesOf(gray);
      for (const line of lines) list.append(item(line, await reader.read(line)));
      const count = lines.length === 1 ? "1 line" : `${lines.length} lines`;
      answer.textContent = lines.length ? `${count} read.` : "No line of print was found: does it run level?";
    } catch (error) {
      answer.textContent = error.message;
    } finally {
      for (const button of buttons) button.disabled = false;
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show(() => chosen(form));
  });
  form.elements.example.addEventListener("click", () => {
    form.elements.holds.value = "lines";
    show(async () => {
      const picture = demo.querySelector("img");
      // On a slow connection the button is there before the picture.
      await picture.decode();
      return createImageBitmap(picture);
    });
  });
}
