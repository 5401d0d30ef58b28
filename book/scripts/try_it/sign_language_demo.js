// The form of the sign demo: camera, landmarks over its picture, enrolled words, and the nearest of them.
import { Signer } from "./signer.js";
import { flaws, refusal } from "./signs.js";

const RATE = 12;
const WIDTH = 480;
const BODY_LINES = [[11, 12], [11, 13], [13, 15], [12, 14], [14, 16], [11, 23], [12, 24], [23, 24], [0, 7], [0, 8]];
const FINGERS = [1, 5, 9, 13, 17];
const PALM_LINES = [[0, 5], [5, 9], [9, 13], [13, 17], [0, 17]];
const HAND_LINES = [...PALM_LINES, [0, 1], ...FINGERS.flatMap((k) => [[k, k + 1], [k + 1, k + 2], [k + 2, k + 3]])];
const REFUSALS = {
  NotAllowedError:
    "The camera stays off: this page has no permission. Allow the camera for it in the browser, and click again.",
  NotFoundError: "No camera was found on this machine. Connect one, and click again.",
  NotReadableError: "The camera gives no picture: does another program use it? Close that one, and click again.",
};

const percent = (share) => `${Math.round(100 * share)}%`;
const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

// Lines and points over the picture; left hand, right hand and body in colours that colour-blind readers tell apart.
function drawLandmarks(pen, { body, hands }) {
  const draw = (points, lines, colour) => {
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = 2.5;
    for (const [from, to] of lines) {
      pen.beginPath();
      pen.moveTo(points[from][0], points[from][1]);
      pen.lineTo(points[to][0], points[to][1]);
      pen.stroke();
    }
    for (const k of new Set(lines.flat())) pen.fillRect(points[k][0] - 2.5, points[k][1] - 2.5, 5, 5);
  };
  if (body) draw(body, BODY_LINES, "#ffffff");
  if (hands[0]) draw(hands[0], HAND_LINES, "#56b4e9");
  if (hands[1]) draw(hands[1], HAND_LINES, "#e69f00");
}

function whatIsSeen({ body, hands }) {
  const count = hands.filter(Boolean).length;
  const nobody = body ? "A person" : "No person";
  return `${nobody} and ${["no hand", "one hand", "two hands"][count]} in the picture.`;
}

class Camera {
  // signer: finds the landmarks. canvas: shows them. seen: receives what is in the picture, when that changes. ended:
  // receives why the camera stopped by itself.
  constructor(signer, canvas, seen, ended) {
    Object.assign(this, { signer, canvas, seen, ended, stream: null, busy: false });
    this.video = Object.assign(document.createElement("video"), { muted: true, playsInline: true });
    this.video.addEventListener("resize", () => this.video.videoWidth && this.#fit());
    this.grabber = new OffscreenCanvas(1, 1);
  }

  get isOn() {
    return this.stream !== null;
  }

  async start() {
    const wanted = { width: { ideal: 640 }, height: { ideal: 480 }, facingMode: "user" };
    this.stream = await navigator.mediaDevices.getUserMedia({ video: wanted, audio: false });
    this.stream.getVideoTracks()[0].addEventListener("ended", () => this.#end("The camera was disconnected."));
    this.video.srcObject = this.stream;
    await this.video.play();
    this.#fit();
    this.#preview().catch((error) => this.#end(`The pictures could not be looked at (${error.message}).`));
  }

  // Takes the size of the camera's pictures, which changes when a telephone is turned.
  #fit() {
    const scale = Math.min(1, WIDTH / this.video.videoWidth);
    for (const canvas of [this.canvas, this.grabber]) {
      canvas.width = Math.round(scale * this.video.videoWidth);
      canvas.height = Math.round(scale * this.video.videoHeight);
    }
  }

  #end(reason) {
    this.stop();
    this.ended(reason);
  }

  stop() {
    for (const track of this.stream?.getTracks() ?? []) track.stop();
    this.stream = this.video.srcObject = null;
  }

  // Now in the picture, as { picture, shown, seconds }.
  #grab() {
    const { width, height } = this.grabber;
    const pen = this.grabber.getContext("2d", { willReadFrequently: true });
    pen.drawImage(this.video, 0, 0, width, height);
    const shown = pen.getImageData(0, 0, width, height);
    const picture = { data: shown.data.slice(), width, height };
    return { picture, shown, seconds: performance.now() / 1000 };
  }

  async #look({ picture, shown, seconds }, begins) {
    const found = await this.signer.track(picture, seconds, begins);
    const pen = this.canvas.getContext("2d");
    pen.putImageData(shown, 0, 0);
    drawLandmarks(pen, found);
    return found;
  }

  // Landmarks of what the camera shows, one picture after another, until it stops.
  async #preview() {
    let begins = true;
    let said = "";
    while (this.isOn) {
      if (this.busy || document.hidden) {
        begins = true;
        await pause(0.1);
        continue;
      }
      const found = await this.#look(this.#grab(), begins);
      begins = false;
      if (this.busy || !this.isOn || whatIsSeen(found) === said) continue;
      said = whatIsSeen(found);
      this.seen(said);
    }
  }

  // A clip of some seconds. A machine that cannot look at the pictures as fast as they come goes on behind the last
  // one, after `filmed` is called.
  async film(seconds, filmed) {
    this.busy = true;
    try {
      const clip = { times: [], bodies: [], hands: [], nPeople: 0 };
      const grabbed = [];
      let ended = false;
      const looking = (async () => {
        while (!ended || grabbed.length) {
          if (!grabbed.length) {
            await pause(0.01);
            continue;
          }
          const one = grabbed.shift();
          const found = await this.#look(one, !clip.times.length);
          clip.times.push(one.seconds);
          clip.bodies.push(found.body);
          clip.hands.push(found.hands);
          clip.nPeople = found.nPeople;
        }
      })();
      looking.catch(() => (ended = true));
      const begin = performance.now() / 1000;
      for (let k = 0; k <= seconds * RATE && this.isOn && !ended; k++) {
        await pause(Math.max(0, begin + k / RATE - performance.now() / 1000));
        grabbed.push(this.#grab());
      }
      ended = true;
      filmed();
      await looking;
      return clip;
    } finally {
      this.busy = false;
    }
  }
}

function cell(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

// The words with their distances, the nearest first; "none of these" stands at a fixed distance.
function table({ words, none }, bound) {
  const made = document.createElement("table");
  made.append(cell("caption", "Nearest words"));
  const head = made.createTHead().insertRow();
  for (const text of ["Word", "Distance", "Probability"]) head.append(Object.assign(cell("th", text), { scope: "col" }));
  const rows = [...words].sort((a, b) => b.probability - a.probability).slice(0, 5);
  const body = made.createTBody();
  for (const { word, distance, probability } of [...rows, { word: "none of these", distance: bound, probability: none }]) {
    const row = body.insertRow();
    row.append(Object.assign(cell("th", word), { scope: "row" }));
    row.append(cell("td", distance.toFixed(1)), cell("td", percent(probability)));
  }
  return made;
}

export async function open(demo, root, say) {
  const signer = await Signer.load(root, say);
  const { matcher } = signer;
  const form = demo.querySelector("form");
  const { camera: button, word: field, enrol, ask } = form.elements;
  const answer = demo.querySelector(".try-it-answer");
  const nearest = demo.querySelector(".try-it-nearest");
  const list = demo.querySelector(".try-it-words");
  const seen = demo.querySelector(".try-it-seen");
  const camera = new Camera(signer, demo.querySelector("canvas"), (text) => (seen.textContent = text), ended);

  function ended(reason) {
    answer.textContent = reason;
    update();
  }

  function update() {
    if (!camera.isOn) seen.textContent = "";
    button.textContent = camera.isOn ? "Stop the camera" : "Start the camera";
    button.disabled = camera.busy;
    camera.canvas.hidden = !camera.isOn;
    enrol.disabled = !camera.isOn || camera.busy;
    ask.disabled = enrol.disabled || !matcher.words.length;
    list.replaceChildren(
      ...matcher.words.map(([word, count]) => {
        const remove = Object.assign(cell("button", "Remove"), { type: "button" });
        remove.setAttribute("aria-label", `Remove ${word}`);
        remove.addEventListener("click", () => {
          matcher.remove(word);
          update();
          field.focus();
        });
        const item = cell("li", `${word} (${count === 1 ? "1 clip" : `${count} clips`}) `);
        item.append(remove);
        return item;
      })
    );
  }

  // Films, and hands the clip on if it may show a sign.
  async function withClip(take) {
    nearest.replaceChildren();
    const seconds = Number(form.dataset.seconds);
    answer.textContent = `Sign now: ${seconds} seconds. Begin and end with your hands down.`;
    const filming = camera.film(seconds, () => (answer.textContent = "Looking at the pictures …"));
    update();
    try {
      const clip = await filming;
      const reason = refusal(clip);
      answer.textContent = [reason || (await take(clip)), ...(reason ? [] : flaws(clip))].join("\n");
    } catch (error) {
      answer.textContent = `The pictures could not be looked at (${error.message}). Try again.`;
    } finally {
      update();
    }
  }

  button.addEventListener("click", async () => {
    if (camera.isOn) {
      camera.stop();
      answer.textContent = "The camera is off.";
    } else {
      answer.textContent = "Waiting for the camera …";
      try {
        await camera.start();
        answer.textContent = "The camera is on.";
      } catch (error) {
        camera.stop();
        answer.textContent = REFUSALS[error.name] ?? `The camera did not start (${error.message}).`;
      }
    }
    update();
  });

  enrol.addEventListener("click", () => {
    const word = field.value.normalize("NFC").trim();
    if (!word) {
      answer.textContent = "Write the word first, then sign it.";
      field.focus();
      return;
    }
    withClip(async (clip) => {
      await matcher.enrol(word, clip);
      return `${word} is enrolled. Enrol it once more or another word, or name a sign.`;
    });
  });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (ask.disabled) return;
    withClip(async (clip) => {
      const found = await matcher.name(clip);
      nearest.replaceChildren(table(found, matcher.weights.none));
      const best = found.words.reduce((a, b) => (b.probability > a.probability ? b : a));
      if (found.none > best.probability) return `None of these words (${percent(found.none)}); the nearest is ${best.word}.`;
      return `${best.word} (${percent(best.probability)}).`;
    });
  });

  window.addEventListener("pagehide", () => {
    camera.stop();
    update();
  });
  update();
}
