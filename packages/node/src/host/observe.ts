/**
 * Adds an observer. The returned function removes it.
 * @param removals contains the returned function until it is called. A node that ends calls all of
 *   them.
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
