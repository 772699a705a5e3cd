/* Row by row: further ways to colour the maps, by what speaks against the place of a row. */

panels.push((app) => {
  const { maps, rows, kinds } = app.data, unknown = new Uint8Array(rows.n).fill(255);
  for (const { kind, title, text, worst, all } of kinds) {
    const of = (map) => all ?? map[kind];
    const codes = (map) => (of(map) ? app.once(`${kind}${all ? "" : map.run}`, () => bytes(of(map).values)) : unknown);
    const { high } = all ?? maps.find(of)[kind], more = kind === "jump";
    const tip = (row, map) => {
      const code = codes(map)[row];
      return code === 255 ? "" : `${title}: ${more && code === 254 ? "≥ " : ""}${((code / 254) * high).toFixed(2)}`;
    };
    const legend = () => [text, "0", `${high}${more ? " and more" : ""}`];
    app.addColoring({ value: kind, title, group: "Row by row", own: !all, worst, codes, legend, tip });
  }
});
