// The search of a site that is opened as files: browsers start no worker there, so a frame does its work.
// The theme knows such a worker by this name.
window.IFrameWorker = class extends EventTarget {
  constructor(url) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    this.frame.receive = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    this.loaded = new Promise((resolve) => { this.frame.onload = resolve; });
    const inside = `postMessage = (data) => frameElement.receive(data);
      importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((resolve) => {
        const script = document.createElement("script");
        Object.assign(script, { src: url, onload: resolve });
        document.body.append(script);
      })), Promise.resolve());`;
    this.frame.srcdoc = `<body><script>${inside}<\/script><script src="${url}"><\/script>`;
    document.body.append(this.frame);
  }
  async postMessage(data) {
    await this.loaded;
    this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
  }
};
if (location.protocol === "file:") window.Worker = window.IFrameWorker;
