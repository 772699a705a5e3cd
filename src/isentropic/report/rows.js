/* Row by row: further ways to colour the maps, by what speaks against the place of a row. */

panels.push((app) => {
  const { maps, rows, kinds } = app.data, unknown = new Uint8Array(rows.n).fill(255);
  for (const { kind, title, words, worst } of kinds) {
    const codes = (map) => (map[kind] ? app.once(`${kind}${map.run}`, () => bytes(map[kind].values)) : unknown);
    const { high } = maps.find((map) => map[kind])[kind];
    const tip = (row, map) => {
      const code = codes(map)[row];
      return code === 255 ? "" : `${title}: ${code === 254 && kind === "jump" ? "≥ " : ""}${((code / 254) * high).toFixed(2)}`;
    };
    const legend = () => [words, "0", `${high}${kind === "jump" ? " and more" : ""}`];
    app.addColoring({ value: kind, title, group: "Row by row", own: kind !== "agreed", worst, codes, legend, tip });
  }
});
