/** One sentence about a wrong option or a server that cannot be used. */
export class OptionError extends Error {
  override readonly name = 'OptionError'
}

/** The first line of an error, as part of a sentence. */
export const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0]!.replace(/\.$/, '')
