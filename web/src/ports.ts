// Ways to motions that go on elsewhere: in a thread beside the page, or in a loop of the machine that it comes from.

import type { PageData, RemoteData } from "./data";
import type { Frame, Message, Port } from "./frames";
import { simulate } from "./loop";
import { names_of_laws } from "./motion";
import { RemoteMotion } from "./remote";

/** The script of the thread as text, put in when the component is built. */
declare const WORKER: string;

const GONE = "the loop that this page shows has ended";

/** The motion of a loop of this machine, through a WebSocket. */
export function connect(data: RemoteData): Promise<RemoteMotion> {
  const url = new URL(data.path + location.search, location.href);
  url.protocol = "ws:";
  const socket = new WebSocket(url);
  const port: Port = {
    asked: false,
    say: (message) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
    },
    listen: (take, end) => {
      socket.onmessage = (event: MessageEvent<string>) => take(JSON.parse(event.data) as Frame);
      socket.onclose = () => end(GONE);
    },
  };
  return RemoteMotion.make(port, { elements: data.elements, mark_names: data.marks, law_names: data.laws, parameters: [] });
}

/** The motion of a page, simulated in a thread of its own; among the tasks of the page where it may have no thread. */
export async function simulate_beside(data: PageData): Promise<RemoteMotion> {
  let thread: Worker | null = null;
  try {
    thread = start_thread();
    return await begin(thread, data);
  } catch {
    thread?.terminate();
    const { port1, port2 } = new MessageChannel();
    simulate(port1);
    return begin(port2, data);
  }
}

function start_thread(): Worker {
  const url = URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" }));
  const thread = new Worker(url);
  thread.addEventListener("message", () => URL.revokeObjectURL(url), { once: true });
  return thread;
}

/** The motion of a page that is simulated at the other end of a port. */
function begin(other: Worker | MessagePort, page: PageData): Promise<RemoteMotion> {
  const live = page.live as NonNullable<PageData["live"]>;
  const port: Port = {
    asked: true,
    say: (message: Message) => other.postMessage(message),
    listen: (take, end) => {
      other.onmessage = (event: MessageEvent<Frame | string>) => {
        if (typeof event.data === "string") end(event.data);
        else take(event.data);
      };
      if ("onerror" in other) other.onerror = (event: ErrorEvent) => end(event.message);
    },
  };
  other.postMessage(page);
  const parameters = page.parameters.map((x) => x.value);
  return RemoteMotion.make(port, { elements: live.elements, mark_names: live.marks, law_names: names_of_laws(live), parameters });
}
