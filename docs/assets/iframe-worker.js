// A page that was opened from file:// may start no Worker. The search of the site needs one, so
// there its script runs in a hidden frame, in the same thread. (The idea is that of the package
// iframe-worker, which the theme would load from a CDN.)
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.document.open();
      inside.postMessage = (data) =>
        setTimeout(() => this.dispatchEvent(new MessageEvent("message", { data })));
      this.ready = new Promise((resolve) => inside.addEventListener("load", resolve));
      const script = inside.document.createElement("script");
      script.src = url;
      inside.document.write("<!doctype html><body></body>");
      inside.document.body.append(script);
      inside.document.close();
      this.inside = inside;
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
