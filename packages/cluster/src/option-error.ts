/** A wrong option of the API or the command line. The message is one sentence for its caller. */
export class OptionError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'OptionError'
  }
}
