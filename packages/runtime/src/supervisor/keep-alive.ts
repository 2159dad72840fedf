const longMs = 2 ** 30

/** Keeps the process alive during a call. Alarms and idle hosts do not. */
export class KeepAlive {
  #waiting = 0
  #timer: NodeJS.Timeout | null = null

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting++
    this.#timer ??= setInterval(() => {}, longMs)
    try {
      return await work()
    } finally {
      if (--this.#waiting === 0) {
        clearInterval(this.#timer)
        this.#timer = null
      }
    }
  }
}

export async function waitAtMost(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs)
  })
  await Promise.race([work, timeout])
  clearTimeout(timer)
}

/**
 * Waits until all have settled, then throws the first error if there is one.
 * @param isConsequence whether another error is the cause of this one, which is thrown instead
 */
export async function settleAll<T>(
  work: readonly Promise<T>[],
  isConsequence: (error: unknown) => boolean = () => false,
): Promise<T[]> {
  const results = await Promise.allSettled(work)
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
  if (errors.length > 0) throw errors.find((error) => !isConsequence(error)) ?? errors[0]
  return results.map((result) => (result as PromiseFulfilledResult<T>).value)
}
