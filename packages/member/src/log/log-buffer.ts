/** For getLog. Server: logv2/ramlog.cpp. */
import { toExtendedJson } from '@shardlab/bson'

const linesMax = 1024
/** Of all lines; a single longer one is kept. */
const charactersMax = 1_048_576
/**
 * Of the texts in the attributes of one line: maxLogSizeKB. Clients without a user write names
 * here, and long lines remove earlier ones.
 */
const textsMax = 10_240
/** Default of slowOpThresholdMs. */
const slowOperationMs = 100

export class LogBuffer {
  /** Operations that are logged: slower than the threshold, and of those the given fraction. */
  readonly slow = { thresholdMs: slowOperationMs, sampleRate: 1 }
  /** Since a verbosity of 1 for commands. */
  everyCommand = false
  /** Connections are not logged. */
  quiet = false
  readonly #lines: string[] = []
  readonly #fraction: () => number
  #characters = 0
  #total = 0

  /** @param fraction random numbers from 0 to 1 for sampling slow operations */
  constructor(fraction: () => number) {
    this.#fraction = fraction
  }

  wantsSlow(durationMs: number): boolean {
    return (
      this.everyCommand ||
      (durationMs >= this.slow.thresholdMs && (this.slow.sampleRate === 1 || this.#fraction() < this.slow.sampleRate))
    )
  }

  get total(): number {
    return this.#total
  }

  /** Oldest first. */
  get lines(): readonly string[] {
    return this.#lines
  }

  /**
   * In the format of the server, a JSON document.
   * @param attributes a Uint8Array is a document as BSON
   */
  add(
    atMs: number,
    severity: 'I' | 'W' | 'E',
    component: string,
    id: number,
    context: string,
    message: string,
    attributes: Readonly<Record<string, unknown>> = {},
  ): void {
    this.#total++
    const time = new Date(atMs).toISOString().replace('Z', '+00:00')
    const head = JSON.stringify({ t: { $date: time }, s: severity, c: component, id, ctx: context, msg: message })
    const textMax = textMaxOf(Object.values(attributes))
    const texts = Object.entries(attributes).flatMap(([name, value]) =>
      value === undefined ? [] : [`${JSON.stringify(name)}:${textOf(value, textMax)}`],
    )
    this.#push(texts.length === 0 ? head : `${head.slice(0, -1)},"attr":{${texts.join(',')}}}`)
  }

  #push(line: string): void {
    this.#lines.push(line)
    this.#characters += line.length
    while (this.#lines.length > linesMax || (this.#characters > charactersMax && this.#lines.length > 1))
      this.#characters -= this.#lines.shift()!.length
  }
}

/** Texts that are too long together are cut to equal parts. */
function textMaxOf(values: readonly unknown[]): number {
  const texts = values.filter((value) => typeof value === 'string')
  const characters = texts.reduce((sum, text) => sum + text.length, 0)
  return characters > textsMax ? Math.floor(textsMax / texts.length) : textsMax
}

/** An object of JavaScript would reorder the fields of a document. */
function textOf(value: unknown, textMax: number): string {
  if (typeof value === 'string' && value.length > textMax) return JSON.stringify(value.slice(0, textMax))
  return value instanceof Uint8Array ? toExtendedJson(value) : JSON.stringify(value)
}
