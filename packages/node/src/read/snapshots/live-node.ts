/** By their node at a past time. */
const liveNodes = new WeakMap<object, object>()

export function linkToLive<T extends object>(past: T, live: T): void {
  liveNodes.set(past, live)
}

/** The node without a past time. */
export function liveNode<T extends object>(node: T): T {
  return (liveNodes.get(node) as T | undefined) ?? node
}
