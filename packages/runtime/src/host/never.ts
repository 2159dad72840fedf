/**
 * For a member that is gone. A new promise each time: a shared one would keep everything that
 * awaits it in memory.
 */
export function never<T>(): Promise<T> {
  return new Promise(() => {})
}
