/**
 * Adds an observer until the returned function is called.
 * @param removals has this function meanwhile, for the end of the node
 */
export function observeUntilRemoved<T>(observers: Set<T>, observer: T, removals: Set<() => void>): () => void {
  observers.add(observer)
  const remove = () => {
    observers.delete(observer)
    removals.delete(remove)
  }
  removals.add(remove)
  return remove
}
