/** Rejects with the first error. */
export async function eachLimited<T>(
  items: AsyncIterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>()
  let failed = false
  let failure: unknown
  const attempt = async (item: T): Promise<void> => {
    try {
      await work(item)
    } catch (error) {
      if (!failed) failure = error
      failed = true
    }
  }
  for await (const item of items) {
    if (failed) break
    const done = attempt(item).finally(() => running.delete(done))
    running.add(done)
    if (running.size >= limit) await Promise.race(running)
  }
  await Promise.all(running)
  if (failed) throw failure
}
