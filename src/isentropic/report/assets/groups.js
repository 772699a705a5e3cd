/* Groups that were found in the map at the top, without labels: a list beside the maps. A click selects one. */

const MOST_GROUPS = 6; // that are listed at once

panels.push((app) => {
  if (app.data.shown === null || !app.data.groups) return;
  const map = app.data.maps.find(({ run }) => run === app.data.shown), box = app.section("groups", `Groups in the map of ${map.name}`);
  if (!app.data.groups.length) {
    box.append(element("p", { class: "quiet" }, app.data.group_answer));
    return;
  }
  const list = element("ol", { class: "groups" }), rows = (group) => app.once(`group${group.name}`, () => longs(group.rows));
  app.data.groups.forEach((group, i) => {
    const button = element("button", { type: "button", "aria-pressed": "false" }), item = element("li", i >= MOST_GROUPS ? { hidden: "hidden" } : {});
    button.append(
      element("b", {}, group.name[0].toUpperCase() + group.name.slice(1)), element("span", {}, counted(group.n, "row")),
      element("small", { title: `${percent(group.inside)} of the nearest rows in the data of its rows are in the group too; by chance ${percent(group.chance)}` },
        `${percent(group.stability)} the same in halves of the rows`), element("small", { class: "line" }, group.lines[0] ?? ""));
    button.addEventListener("click", () => app.selectRows(rows(group)));
    item.append(button);
    list.append(item);
  });
  box.append(list);
  if (app.data.groups.length > MOST_GROUPS) {
    const more = element("button", { type: "button", class: "link" }, `Show all ${app.data.groups.length}`);
    more.addEventListener("click", () => { for (const item of list.children) item.hidden = false; more.remove(); });
    box.append(more);
  }
  app.on("select", () => list.querySelectorAll("button").forEach((button, i) => {
    const group = app.data.groups[i], same = app.nSelected === group.n && rows(group).every((row) => app.selected[row]);
    button.setAttribute("aria-pressed", String(same));
  }));
});
