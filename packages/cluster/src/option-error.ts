/** An invalid option of the API or the command line. The message is one sentence for the caller. */
export class OptionError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'OptionError'
  }
}
