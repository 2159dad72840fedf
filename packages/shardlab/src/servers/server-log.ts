/** The log of a process: JSON lines, each written at once. Manual: reference/log-messages. */
import { closeSync, existsSync, openSync, renameSync, writeSync } from 'node:fs'
import { ServerStartError, serverExitCodes } from './server-error.js'

export type Severity = 'I' | 'W' | 'E' | 'F'

export interface LogLine {
  readonly component: string
  readonly id: number
  readonly context: string
  readonly message: string
  readonly attributes?: Readonly<Record<string, unknown>>
  /** Default `I`. */
  readonly severity?: Severity
}

export class ServerLog {
  readonly #write: (line: string) => void
  readonly close: () => void

  /** @throws ServerStartError the file cannot be opened */
  constructor({ logPath, logAppend }: { readonly logPath: string | null; readonly logAppend: boolean }) {
    if (logPath === null) {
      this.#write = (line) => void process.stdout.write(line)
      this.close = () => {}
      return
    }
    const file = open(logPath, logAppend)
    this.#write = (line) => void writeSync(file, line)
    this.close = () => closeSync(file)
  }

  add({ component, id, context, message, attributes, severity = 'I' }: LogLine): void {
    const attr = attributes === undefined ? {} : { attr: attributes }
    const time = localTime(new Date())
    this.#write(
      `${JSON.stringify({ t: { $date: time }, s: severity, c: component, id, ctx: context, msg: message, ...attr })}\n`,
    )
  }
}

/** The log of an earlier start gets another name, as the server does without `--logappend`. */
function open(path: string, append: boolean): number {
  try {
    if (!append && existsSync(path))
      renameSync(path, `${path}.${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}`)
    return openSync(path, 'a')
  } catch (error) {
    throw new ServerStartError(
      serverExitCodes.badOptions,
      `Can't initialize rotatable log file :: caused by :: Failed to open ${path}: ${(error as Error).message}`,
    )
  }
}

/** ISO 8601 with the offset of the machine's time zone. */
function localTime(date: Date): string {
  const minutes = -date.getTimezoneOffset()
  const local = new Date(date.getTime() + minutes * 60_000).toISOString().slice(0, -1)
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const distance = Math.abs(minutes)
  return `${local}${minutes < 0 ? '-' : '+'}${two(distance / 60)}:${two(distance % 60)}`
}
