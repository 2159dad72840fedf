/** A caller's mistake, or a server that cannot be used, as one sentence. The command line exits with 2. */
export class OptionError extends Error {
  override readonly name = 'OptionError'
}

/** The first line of an error, as part of a sentence. */
export const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0]!.replace(/\.$/, '')
