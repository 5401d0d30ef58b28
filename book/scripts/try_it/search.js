// Beam search as in coursepkg.decoding.beam: score(y) = log p(y | x) / ((5 + |y|) / 6)^alpha, |y| counting EOS.

export const penalty = (length, alpha) => ((5 + length) / 6) ** alpha;

// The `count` best continuations of all rows, best first. Sums are rounded to float32, as PyTorch's are.
function bestContinuations(logProbs, rows, nTokens, count) {
  const best = [];
  rows.forEach((row, parent) => {
    for (let token = 0; token < nTokens; token++) {
      const total = Math.fround(row.total + logProbs[parent * nTokens + token]);
      if (best.length === count && total <= best[count - 1].total) continue;
      let place = best.length;
      while (place > 0 && best[place - 1].total < total) place--;
      best.splice(place, 0, { total, parent, token });
      if (best.length > count) best.pop();
    }
  });
  return best;
}

// step(tokens, parents): feeds one token a row, each continuing the row `parents` says (null: the start), and gives
// { logProbs (R * V), alignment: R rows over the source }.
export async function beamSearch(step, { bos, eos, nTokens, limit, beamSize, alpha }) {
  let rows = [{ total: 0, ids: [], looks: [] }];
  let tokens = [bos];
  let parents = null;
  const finished = [];
  for (let length = 1; ; length++) {
    const { logProbs, alignment } = await step(tokens, parents);
    const found = bestContinuations(logProbs, rows, nTokens, 2 * beamSize).map((one) => ({
      ...one,
      ids: [...rows[one.parent].ids, one.token],
      looks: [...rows[one.parent].looks, alignment[one.parent]],
    }));
    for (const one of found.slice(0, beamSize).filter((one) => one.token === eos)) {
      const score = one.total / penalty(length, alpha);
      finished.push({ ...one, ids: one.ids.slice(0, -1), score, finished: true });
    }
    finished.sort((a, b) => b.score - a.score);
    rows = found.filter((one) => one.token !== eos).slice(0, beamSize);
    if (finished.length >= beamSize) return finished.slice(0, beamSize);
    if (length === limit) {
      const cut = rows.map((row) => ({ ...row, score: row.total / penalty(limit, alpha), finished: false }));
      return [...finished, ...cut].slice(0, beamSize);
    }
    tokens = rows.map((row) => row.token);
    parents = rows.map((row) => row.parent);
  }
}
