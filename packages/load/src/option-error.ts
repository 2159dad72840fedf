/** What a caller got wrong, as one sentence: an option, a workload file, an address. The command line ends with code 2. */
export class OptionError extends Error {
  override readonly name = 'OptionError'
}
