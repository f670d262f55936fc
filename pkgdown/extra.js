// Contents and search for readers whom the scripts of other hosts don't reach.
(function () {
  function contents() {
    var nav = document.querySelector("#toc");
    if (!nav || nav.querySelector("a")) return;
    var list = document.createElement("ul");
    list.className = "nav flex-column";
    document.querySelectorAll("main h2").forEach(function (heading) {
      var holder = heading.id ? heading : heading.closest("[id]");
      if (!holder || nav.contains(heading) || holder.tagName === "MAIN") return;
      var item = document.createElement("li");
      var link = document.createElement("a");
      link.className = "nav-link py-1";
      link.href = "#" + holder.id;
      link.textContent = heading.textContent.trim();
      item.appendChild(link);
      list.appendChild(item);
    });
    nav.appendChild(list);
  }

  function search() {
    var input = document.querySelector("#search-input");
    if (!input || window.Fuse) return;
    var pages = null;
    var box = document.createElement("div");
    box.className = "list-group position-absolute shadow bg-white";
    box.style.cssText = "z-index: 2000; max-height: 70vh; overflow-y: auto; width: min(32rem, 95vw); right: 0";
    input.parentElement.style.position = "relative";
    input.parentElement.appendChild(box);
    function show() {
      var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      box.textContent = "";
      if (!pages || !words.length) return;
      var root = input.getAttribute("data-search-index").replace(/search\.json$/, "");
      pages.map(function (page) {
        var title = [page.title, page.what, page.id].join(" ").toLowerCase();
        var text = (page.text || "").toLowerCase();
        var score = words.reduce(function (sum, word) {
          if (sum < 0) return sum;
          return title.indexOf(word) >= 0 ? sum + 5 : text.indexOf(word) >= 0 ? sum + 1 : -1;
        }, 0);
        return { page: page, score: score };
      }).filter(function (hit) { return hit.score > 0; }).sort(function (a, b) { return b.score - a.score; }).slice(0, 12)
        .forEach(function (hit) {
          var link = document.createElement("a");
          link.className = "list-group-item list-group-item-action";
          link.href = root + hit.page.path.replace(/^\//, "");
          link.textContent = [hit.page.title, hit.page.what].filter(Boolean).join(" \u203a ");
          box.appendChild(link);
        });
    }
    function load() {
      if (pages) return show();
      fetch(input.getAttribute("data-search-index")).then(function (r) { return r.json(); }).then(function (found) {
        pages = found;
        show();
      }).catch(function () {});
    }
    input.addEventListener("focus", load);
    input.addEventListener("input", load);
    var asked = new URLSearchParams(location.search).get("q");
    if (asked) {
      input.value = asked;
      load();
    }
  }

  window.addEventListener("load", function () {
    contents();
    search();
  });
})();
